"""Measures functions, in workers of any language."""

from benchgate.measure.functions.asv_matrix import CONFIGURATIONS, packages_of, without_comments
from benchgate.measure.functions.canary_engine import canary_engine
from benchgate.measure.functions.engine import FunctionEngine
from benchgate.measure.functions.interpreter import (
    default_interpreter,
    with_environment,
)
from benchgate.measure.functions.sample_plan import STRETCH

__all__ = [
    "CONFIGURATIONS",
    "STRETCH",
    "FunctionEngine",
    "canary_engine",
    "default_interpreter",
    "packages_of",
    "with_environment",
    "without_comments",
]
