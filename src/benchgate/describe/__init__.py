"""From what was measured to the statistics that describe it. Nothing here decides."""
