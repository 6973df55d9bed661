"""Which benchmarks run or read anything that differs between base and head."""

from benchgate.measure.reach.differences import Differences
from benchgate.measure.reach.opened_files import (
    CACHED_CODE,
    CannotWatchError,
    Folders,
    Watch,
    folders_below,
    source_of,
)
from benchgate.measure.reach.reached import OpenedBesides, why_affected, why_hidden, why_opened
from benchgate.measure.reach.reaching import ReachingEngine

__all__ = [
    "CACHED_CODE",
    "CannotWatchError",
    "Differences",
    "Folders",
    "OpenedBesides",
    "ReachingEngine",
    "Watch",
    "folders_below",
    "source_of",
    "why_affected",
    "why_hidden",
    "why_opened",
]
