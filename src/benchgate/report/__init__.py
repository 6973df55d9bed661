"""Turns a verdict or a result into text, for a terminal or a comment. Nothing is computed here."""
