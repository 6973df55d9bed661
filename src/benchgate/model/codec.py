"""Results as versioned JSON: with shards that were joined, and without secrets."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from benchgate.errors import FormatError, UsageError
from benchgate.model.document import REWRITE
from benchgate.model.result import RESULT, join

if TYPE_CHECKING:
    from benchgate.json_object import Redact
    from benchgate.model.result import Result
    from benchgate.model.run import Run


def encode_result(result: Result, redact: Redact) -> bytes:
    """The result as a JSON document, uncompressed.

    Args:
        result: every number in it must be finite, every array one-dimensional.
        redact: removes the secrets from a text; applied to every text of the file.
    """
    first, *others = result.shards or (result,)
    stored = replace(first, shards=tuple(others), screening=result.screening, policy=result.policy)
    return RESULT.write(_told_apart(stored, redact), redact)


def decode_result(data: bytes, name: str) -> Result:
    """The result in a file; if the file holds joined shards, the result of the whole suite.

    Raises:
        FormatError: names the file and the place in it.
    """
    stored = RESULT.read(data, name)
    if not stored.shards:
        return stored
    first = replace(stored, shards=(), screening=None, policy=None)
    others = [(f"shards[{i}]", other) for i, other in enumerate(stored.shards)]
    try:
        joined = join([("the file itself", first), *others])
    except UsageError as error:
        raise FormatError(f"{name}: {error.message}", hint=REWRITE) from None
    return replace(joined, screening=stored.screening, policy=stored.policy)


def _told_apart(result: Result, redact: Redact) -> Result:
    """Number the ids of a run that differ only in a secret, so that they stay different."""

    def each(run: Run | None) -> Run | None:
        return run and _run_told_apart(run, redact)

    screening = result.screening
    return replace(
        result,
        head=_run_told_apart(result.head, redact),
        base=each(result.base),
        shards=tuple(_told_apart(one, redact) for one in result.shards),
        screening=screening
        and replace(
            screening,
            head=each(screening.head),
            earlier=tuple(
                replace(one, run=_run_told_apart(one.run, redact)) for one in screening.earlier
            ),
        ),
    )


def _run_told_apart(run: Run, redact: Redact) -> Run:
    told: dict[str | None, str] = {}
    taken: dict[str, None] = {}
    for benchmark in run.benchmarks:
        plain = id_ = redact(benchmark.id)
        copy = 1
        while id_ in taken:
            copy += 1
            id_ = f"{plain} ({copy})"
        taken[id_] = None
        told.setdefault(benchmark.id, id_)
    benchmarks = (
        replace(one, id=id_, new_version_of=told.get(of := one.new_version_of, of))
        for one, id_ in zip(run.benchmarks, taken, strict=True)
    )
    return replace(run, benchmarks=tuple(benchmarks))
