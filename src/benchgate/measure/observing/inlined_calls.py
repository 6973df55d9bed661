"""Which calls of compiled code say nothing of its source, because compilers inline functions."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from benchgate.measure.observing.changed_lines import last_word
from benchgate.model.calls import Edit

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchgate.measure.arm import Arm
    from benchgate.measure.observing.changed_lines import FunctionKey, Ran
    from benchgate.model.calls import CallTree


def inlined(sides: Sequence[tuple[Arm, Ran, CallTree]]) -> frozenset[FunctionKey]:
    """The functions that an edited one calls more or less often, though its text does not.

    Args:
        sides: base and head.
    """
    base, head = ({**_calls(tree)} for _, _, tree in sides)
    edited = {
        (one.path, one.name)
        for _, _, tree in sides
        for one in tree.functions
        if one.edit is Edit.EDITED
    }
    texts = {caller: [_text(arm, ran, caller) for arm, ran, _ in sides] for caller in edited}
    return frozenset(
        callee
        for caller, callee in base.keys() | head.keys()
        if caller in edited
        and base.get((caller, callee)) != head.get((caller, callee))
        and _calls_alike(callee[1], texts[caller])
    )


def _calls(tree: CallTree) -> Mapping[tuple[FunctionKey, FunctionKey], float]:
    """How often one call of a function calls another one."""
    keys = [(one.path, one.name) for one in tree.functions]
    ran: Counter[FunctionKey] = Counter()
    found: Counter[tuple[FunctionKey, FunctionKey]] = Counter()
    for parent, function, calls in tree.nodes:
        ran[keys[function]] += calls
        if parent >= 0:
            found[keys[tree.nodes[parent][1]], keys[function]] += calls
    return {pair: calls / max(1, ran[pair[0]]) for pair, calls in found.items()}


def _text(arm: Arm, ran: Ran, function: FunctionKey) -> str:
    """The lines of a function that ran, without comments."""
    file = arm.root / function[0]
    lines = file.read_text("utf-8", "replace").splitlines() if file.is_file() else []
    numbers = (line for path, line in ran.get(function, ()) if path == function[0])
    return "\n".join(
        lines[one - 1].partition("//")[0] for one in sorted(numbers) if one <= len(lines)
    )


def _calls_alike(name: str, texts: Sequence[str]) -> bool:
    """Whether both texts call a function, and equally often."""
    word = re.escape(last_word(name))
    call = re.compile(rf"\b{word}\b\s*(?:(?:::)?<[^;(){{}}]*>)?\s*\(")
    base, head = (len(call.findall(text)) for text in texts)
    return base == head > 0
