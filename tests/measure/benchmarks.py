"""Benchmarks as the configuration gives them, without a file."""

from __future__ import annotations

from typing import Any

from benchgate.config import CommandBenchmark, PythonBenchmark


def program(
    name: str,
    words: tuple[str, ...],
    *,
    pin: bool = True,
    **fields: Any,  # noqa: ANN401 - of any type
) -> CommandBenchmark:
    """A command, pinned if nothing else is said."""
    return CommandBenchmark.model_construct(name=name, command=words, pin=pin, **fields)


def functions(*paths: str, **fields: Any) -> PythonBenchmark:  # noqa: ANN401 - of any type
    """Python functions in these files or folders."""
    return PythonBenchmark.model_construct(paths=paths, **fields)
