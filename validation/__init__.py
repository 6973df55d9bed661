"""The statistics held against references and simulated truths: what docs/validation.md shows.

`python -m validation` writes the page, `python -m validation --check` fails where a statistic no
longer does what the page says. Nothing here is part of the package that users install.
"""
