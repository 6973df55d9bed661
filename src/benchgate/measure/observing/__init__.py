"""Which functions ran, how often and how long, and which of them were edited."""

from benchgate.measure.observing.callgrind import call_trees, observe_compiled, under_callgrind
from benchgate.measure.observing.count_ledger import CountLedger, folder_for_counts
from benchgate.measure.observing.observed import Observed, compared, observe

__all__ = [
    "CountLedger",
    "Observed",
    "call_trees",
    "compared",
    "folder_for_counts",
    "observe",
    "observe_compiled",
    "under_callgrind",
]
