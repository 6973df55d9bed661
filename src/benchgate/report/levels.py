"""The characters that show levels, from low to high. Every command imports this: it stays small."""

from __future__ import annotations

from typing import Final

BLOCKS: Final = "▁▂▃▄▅▆▇█"
ASCII: Final = "_.-~=+*#"
