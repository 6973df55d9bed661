"""The verdicts of the other renderers' tests."""

from __future__ import annotations

from tests.report.conftest import samples

__all__ = ["samples"]
