"""Reads what other benchmark tools write.

A format is a `ForeignFormat`; `registry` lists them. A benchmark that cannot be read is a failed
row, and the others are kept.
"""
