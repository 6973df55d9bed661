"""Compares the load generator with others, on one server."""
