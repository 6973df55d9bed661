"""The trees that are measured, and what may change in them."""

from benchgate.measure.trees.checkouts import Trees, one_arm, same_arms, sweep, two_arms
from benchgate.measure.trees.file_state import FileState, content, content_digest, entries_below
from benchgate.measure.trees.ground import Ground
from benchgate.measure.trees.laying import Laying
from benchgate.measure.trees.moving import is_in_use
from benchgate.measure.trees.scratch import Scratch

__all__ = [
    "FileState",
    "Ground",
    "Laying",
    "Scratch",
    "Trees",
    "content",
    "content_digest",
    "entries_below",
    "is_in_use",
    "one_arm",
    "same_arms",
    "sweep",
    "two_arms",
]
