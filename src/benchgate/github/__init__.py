"""Reads what GitHub says about a job, and reports back to GitHub."""
