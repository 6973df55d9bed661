"""The trees that are measured, and what may change in them."""

from benchgate.measure.trees.build_key import build_key
from benchgate.measure.trees.checkouts import Trees, one_arm, same_arms, sweep, two_arms
from benchgate.measure.trees.file_state import FileState, content_digest
from benchgate.measure.trees.ground import Ground
from benchgate.measure.trees.kept_builds import (
    MOST_BUILDS,
    About,
    BuildCache,
    KeptBuild,
    NotKeptError,
    builds_folder,
    snapshot,
)
from benchgate.measure.trees.laying import Laying
from benchgate.measure.trees.moving import is_in_use
from benchgate.measure.trees.scratch import Scratch

__all__ = [
    "MOST_BUILDS",
    "About",
    "BuildCache",
    "FileState",
    "Ground",
    "KeptBuild",
    "Laying",
    "NotKeptError",
    "Scratch",
    "Trees",
    "build_key",
    "builds_folder",
    "content_digest",
    "is_in_use",
    "one_arm",
    "same_arms",
    "snapshot",
    "sweep",
    "two_arms",
]
