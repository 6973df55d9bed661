"""Builds an arm, or puts back what the same build left before."""

from benchgate.measure.builds.arm_build import ArmBuild, are_alike
from benchgate.measure.builds.kept_builds import MOST_BUILDS, BuildCache, KeptBuild, builds_folder

__all__ = ["MOST_BUILDS", "ArmBuild", "BuildCache", "KeptBuild", "are_alike", "builds_folder"]
