"""Everyday work on text: logs, words, slugs, tables and spelling suggestions."""

from textkit.logs import Entry, parse_log
from textkit.slugs import slugify
from textkit.spelling import closest
from textkit.tables import csv_to_json
from textkit.words import word_counts

__all__ = ["Entry", "closest", "csv_to_json", "parse_log", "slugify", "word_counts"]
