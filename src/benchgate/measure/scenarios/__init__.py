"""Measures services under load."""

from benchgate.measure.scenarios.engine import ScenarioEngine

__all__ = ["ScenarioEngine"]
