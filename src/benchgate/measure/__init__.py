"""Measuring: one engine per kind of benchmark, two arms, and the session that joins them."""
