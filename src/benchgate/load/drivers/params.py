"""Checks that the parameters of a step are those that its texts use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchgate.errors import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Collection


def check_params(used: Collection[str], given: Collection[str]) -> None:
    """Refuse parameters without a value, and values that are not used.

    Raises:
        ValueError: with a sentence for the author of the scenario.
    """
    for name in sorted(used):
        if name not in given:
            raise ValueError(f":{name} has no value in params{did_you_mean(name, given)}")
    for name in given:
        if name not in used:
            raise ValueError(f"nothing uses the parameter {name!r}: write :{name} where it belongs")
