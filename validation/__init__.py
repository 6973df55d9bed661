"""Checks the statistics against references and simulated data, and writes docs/validation.md.

`python -m validation` writes the page. `python -m validation --check` fails if a statistic no
longer does what the page says. Nothing here is part of the package that users install.
"""
