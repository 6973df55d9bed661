"""The least address space that benchgate needs."""

from __future__ import annotations

import resource

from benchgate.errors import UsageError

_LEAST_ADDRESS_BYTES = 384 << 20


def require_address_space() -> None:
    """Refuse a limit on address space within which libraries wait forever for their threads."""
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit != resource.RLIM_INFINITY and limit < _LEAST_ADDRESS_BYTES:
        raise UsageError(
            f"this process may use {limit >> 20} MiB of address space, and benchgate needs at "
            f"least {_LEAST_ADDRESS_BYTES >> 20} MiB",
            hint="Raise the limit (`ulimit -v`), and try again.",
        )
