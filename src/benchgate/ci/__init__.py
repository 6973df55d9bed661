"""What a job of GitHub Actions does: measure, decide, and tell GitHub."""
