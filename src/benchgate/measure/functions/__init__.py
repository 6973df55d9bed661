"""Measures functions, in workers of any language."""

from benchgate.measure.functions.asv_matrix import CONFIGURATIONS, packages_of, without_comments
from benchgate.measure.functions.canary_engine import canary_engine
from benchgate.measure.functions.discovery import Entry
from benchgate.measure.functions.engine import FunctionEngine
from benchgate.measure.functions.interpreter import (
    default_interpreter,
    has_own_interpreter,
    interpreter_of,
    with_environment,
)
from benchgate.measure.functions.sample_plan import STRETCH, SamplePlan
from benchgate.measure.functions.starting import Workers

__all__ = [
    "CONFIGURATIONS",
    "STRETCH",
    "Entry",
    "FunctionEngine",
    "SamplePlan",
    "Workers",
    "canary_engine",
    "default_interpreter",
    "has_own_interpreter",
    "interpreter_of",
    "packages_of",
    "with_environment",
    "without_comments",
]
