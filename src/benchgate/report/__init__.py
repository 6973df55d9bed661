"""Strings out of a verdict or a result: on a terminal, in a comment. Nothing is computed here."""
