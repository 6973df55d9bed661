"""Measures suites of other tools."""

from benchgate.measure.suites.engine import SuiteEngine
from benchgate.measure.suites.output import why_no_format
from benchgate.measure.suites.tool_filter import why_no_filter

__all__ = ["SuiteEngine", "why_no_filter", "why_no_format"]
