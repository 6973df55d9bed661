"""Computes the statistics that describe what was measured. Nothing here decides."""
