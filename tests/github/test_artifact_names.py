from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchgate.github.artifact_names import (
    MAX_NAME_CHARACTERS,
    ArtifactKind,
    Leg,
    artifact_name,
    artifact_prefix,
    leg_in,
)

# What GitHub refuses in names: " : < > | * ? CR LF \ /
SAFE = re.compile(r"[a-z0-9._~-]+")
PARTS = st.text(max_size=80) | st.sampled_from(["default", "Default", "a.b", "a-b", "a b", "ß", ""])
SHARDS = st.none() | st.tuples(st.integers(1, 10**6), st.integers(1, 10**6))
ARGUMENTS = st.tuples(st.sampled_from(ArtifactKind), PARTS, PARTS, SHARDS)


def name_of(arguments: tuple[ArtifactKind, str, str, tuple[int, int] | None]) -> str:
    kind, suite, environment, shard = arguments
    return artifact_name(kind, suite=suite, environment=environment, shard=shard)


@pytest.mark.parametrize(
    ("suite", "environment", "shard", "name"),
    [
        ("default", "linux-x86_64", None, "benchgate-baseline.default.linux-x86_64"),
        ("default", "linux-x86_64", (2, 8), "benchgate-baseline.default.linux-x86_64.2of8"),
        ("Core", "a/b", None, "benchgate-baseline.core~0ad84ca8.a-b~c14cddc0"),
        ("", "..", None, "benchgate-baseline.~e3b0c442.-~8d2a09cd"),
    ],
)
def test_names(suite: str, environment: str, shard: tuple[int, int] | None, name: str) -> None:
    arguments = (ArtifactKind.BASELINE, suite, environment, shard)
    assert re.sub(r"~\w{8}", "~", name_of(arguments)) == re.sub(r"~\w{8}", "~", name)


def test_the_kind_is_told_by_the_prefix() -> None:
    assert artifact_prefix(ArtifactKind.BASELINE) == "benchgate-baseline."
    assert artifact_prefix(ArtifactKind.RESULT) == "benchgate-result."


@given(ARGUMENTS)
def test_names_are_safe_bounded_and_begin_with_their_kind(
    arguments: tuple[ArtifactKind, str, str, tuple[int, int] | None],
) -> None:
    name = name_of(arguments)
    assert SAFE.fullmatch(name)
    assert len(name) <= MAX_NAME_CHARACTERS
    assert [kind for kind in ArtifactKind if name.startswith(artifact_prefix(kind))] == [
        arguments[0]
    ]


@given(ARGUMENTS, ARGUMENTS)
def test_different_arguments_have_different_names(
    one: tuple[ArtifactKind, str, str, tuple[int, int] | None],
    other: tuple[ArtifactKind, str, str, tuple[int, int] | None],
) -> None:
    assert (name_of(one).casefold() == name_of(other).casefold()) == (one == other)


def test_long_texts_that_begin_alike_have_different_names() -> None:
    names = {
        artifact_name(ArtifactKind.BASELINE, suite="x" * 100 + tail, environment="e")
        for tail in ("", "a", "b")
    }
    assert len(names) == 3


@given(ARGUMENTS)
def test_a_name_tells_its_leg_unless_it_is_a_part_of_a_suite(
    arguments: tuple[ArtifactKind, str, str, tuple[int, int] | None],
) -> None:
    kind, suite, environment, shard = arguments
    leg = leg_in(kind, name_of(arguments))
    assert leg == (None if shard else Leg.of(suite, environment))
    for other in set(ArtifactKind) - {kind}:
        assert leg_in(other, name_of(arguments)) is None


@pytest.mark.parametrize("name", ["", "dist", "benchgate-result.a", "benchgate-result.a.b.c"])
def test_other_names_tell_none(name: str) -> None:
    assert leg_in(ArtifactKind.RESULT, name) is None
    assert leg_in(ArtifactKind.RESULT, f"benchgate-result.{'a' * 160}.b") is None
