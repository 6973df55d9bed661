"""Where the baseline comes from, and why."""
