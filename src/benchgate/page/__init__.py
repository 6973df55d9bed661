"""Writes pages of HTML that need no network; nothing here decides or computes."""
