"""Frozen data: what was measured, where, and what was decided. No input or output."""
