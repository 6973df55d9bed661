"""Properties are checked however slow the machine is."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("any speed", deadline=None)
settings.load_profile("any speed")
