"""Removes every text from looser keys that only an untrusted configuration has."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, get_args

from benchgate.model.metrics import OWN
from benchgate.model.policy import Outcome
from benchgate.model.run import CANARY_IDS
from benchgate.tables.fields import Statistic

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from benchgate.config import Config
    from benchgate.model.policy import PolicyChange


OTHER_VALUE: Final = "another text"
OTHER_NAMES: Final = "benchmarks that the base does not name"
_VOCABULARY: Final = frozenset(
    {
        *(outcome.value for outcome in Outcome),
        *OWN,
        *get_args(Statistic),
        *("artifact", "auto", "classical", "directory", "file", "git", "launch", "sample"),
        *("all", "false", "left", "measured", "none", "out", "to", "true", "until", "up"),
    }
)
_KEY = re.compile(r"[a-z_]+(?:\[[0-9]+\])?(?:\.[a-z_]+)?")
_QUANTITY = re.compile(r"[0-9][0-9.:-]{0,20}(?:%|[a-zµ]{1,3})?|%")
_APART = re.compile(r", | \(|\)$| and [0-9]+ more")


def cleaned_loosening(
    changes: Iterable[PolicyChange], base: Config, ids: Collection[str]
) -> tuple[PolicyChange, ...]:
    """Remove from these changes every text that only the untrusted configuration has.

    Args:
        base: the configuration whose words may be shown.
        ids: of benchmarks that may be shown.
    """
    known = {*_texts(base.origin.document), *ids, *OWN, *CANARY_IDS}
    return tuple(_cleaned(change, known) for change in changes)


def _cleaned(change: PolicyChange, known: Collection[str]) -> PolicyChange:
    named = [name for name in _APART.split(change.about) if name]
    return replace(
        change,
        key=change.key if _KEY.fullmatch(change.key) else re.split(r"[.\[]", change.key)[0],
        about=change.about if all(name in known for name in named) else OTHER_NAMES,
        after=change.after if _is_harmless(change.after, known) else OTHER_VALUE,
    )


def _is_harmless(text: str, known: Collection[str]) -> bool:
    return text in known or all(
        word in _VOCABULARY or _QUANTITY.fullmatch(word) for word in re.split(r",? ", text)
    )


def _texts(value: Any) -> Iterator[str]:  # noqa: ANN401 - a TOML document, or any part of it
    """Every text and every key of a document."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item)
    elif hasattr(value, "items"):
        parts: Mapping[str, Any] = value
        for key, item in parts.items():
            yield key
            yield from _texts(item)
