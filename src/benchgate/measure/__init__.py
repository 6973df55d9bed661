"""Measuring: an engine for each kind of benchmark, two arms, and the session that joins them."""
