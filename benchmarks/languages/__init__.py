"""Measures what only compiled languages have: a layout of the code."""
