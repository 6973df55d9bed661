"""Profiles in the format of pprof, as Go writes them."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

import pytest

from benchgate.measure.observing.pprof import PROFILED, read_profile

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

# The innermost function first; each is on a line.
Stack = list[tuple[str, int]]

SOURCE = """\
package text

func Slug(title string) string {
	return strings.Map(func(r rune) rune {
		return r
	}, title)
}

func One() int { return 1 }
"""


def number(value: int) -> bytes:
    found = bytearray()
    while value > 127:
        found.append(value & 127 | 128)
        value >>= 7
    return bytes([*found, value])


def message(*fields: tuple[int, int | bytes]) -> bytes:
    parts = []
    for key, value in fields:
        if isinstance(value, int):
            parts += [number(key << 3), number(value)]
        else:
            parts += [number(key << 3 | 2), number(len(value)), value]
    return b"".join(parts)


def profile(
    stacks: Sequence[tuple[Stack, int]],
    file: Path,
    begins: dict[str, int] | None = None,
    *,
    labels: Sequence[str | None] = (),
    inlined: Mapping[str, str] | None = None,
    more: Mapping[str, Path] | None = None,
) -> bytes:
    """Write a profile of samples that are 4 ms apart; some functions are inlined into others.

    Args:
        more: the files of functions that are not in `file`.
    """
    into, elsewhere = inlined or {}, more or {}
    begins = begins or {}
    said = [one for one in labels if one is not None]
    names = list(dict.fromkeys(name for stack, _ in stacks for name, _ in stack))
    places = list(dict.fromkeys(one for stack, _ in stacks for one in stack))
    parts = [
        *((6, text.encode()) for text in ("", str(file), *names, "benchgate", *said)),
        *((6, str(one).encode()) for one in elsewhere.values()),
        *(
            (
                5,
                message(
                    (1, at + 1),
                    (2, at + 2),
                    (4, len(names) + 3 + len(said) + [*elsewhere].index(name))
                    if name in elsewhere
                    else (4, 1),
                    (5, begins.get(name, 0)),
                ),
            )
            for at, name in enumerate(names)
        ),
        *(
            (
                4,
                message(
                    (1, at + 1),
                    *(
                        (4, message((1, names.index(each) + 1), (2, line)))
                        for each in (name, into.get(name))
                        if each
                    ),
                ),
            )
            for at, (name, line) in enumerate(places)
        ),
        *(
            (
                2,
                message(
                    (1, b"".join(number(places.index(one) + 1) for one in stack)),
                    (2, number(samples) + number(samples * 4_000_000)),
                    *(
                        (3, message((1, len(names) + 2), (2, len(names) + 3 + said.index(label))))
                        for label in labels[at : at + 1]
                        if label is not None
                    ),
                ),
            )
            for at, (stack, samples) in enumerate(stacks)
        ),
    ]
    return gzip.compress(message(*parts))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "text.go"
    path.write_text(SOURCE)
    return path


RUN: Stack = [("testing.(*B).runN", 200), ("testing.(*B).launch", 300)]
SLUG = ("example.com/shop/text.Slug", 4)
INNER = ("example.com/shop/text.Slug.func1", 5)


def test_functions_have_their_places_lines_and_times(file: Path) -> None:
    found = read_profile(
        profile([([INNER, ("strings.Map", 500), SLUG, *RUN], 3), ([SLUG, *RUN], 1)], file)
    )
    assert found["functions"][0] == [str(file), 3, "text.Slug", 4_000_000, 7, False]
    assert found["functions"][2][2:4] == ["text.Slug.<function>", 12_000_000]
    assert found["nodes"] == [[-1, 0, 1], [0, 1, 0], [1, 2, 3]]


def test_a_profile_may_say_where_functions_begin(file: Path) -> None:
    begins = {INNER[0]: 4, "text.One": 9}
    found = read_profile(profile([([INNER, SLUG], 1), ([("text.One", 9)], 1)], file, begins))
    assert [one[1:3] + one[4:5] for one in found["functions"]] == [
        [3, "text.Slug", 7],
        [4, "text.Slug.<function>", 6],
        [9, "text.One", 9],
    ]


def test_what_is_not_of_the_benchmark_is_left_out(file: Path) -> None:
    clock: Stack = [("runtime.ReadMemStats", 1), ("testing.(*B).StartTimer", 1)]
    found = read_profile(
        profile(
            [
                ([*clock, ("text.BenchmarkSlug", 1), *RUN], 5),
                ([("runtime.gcBgMarkWorker", 1)], 5),
                ([("runtime.memmove", 1), ("runtime.growslice", 1), SLUG, *RUN], 2),
                ([("work", 1), ("testing.(*B).RunParallel.func1", 1)], 1),
            ],
            file,
        )
    )
    assert [one[2] for one in found["functions"]] == ["text.Slug", "runtime.growslice", "work"]
    assert found["nodes"] == [[-1, 0, 0], [0, 1, 2], [-1, 2, 1]]


def test_what_is_not_timed_does_not_count(file: Path) -> None:
    server: Stack = [("http.serve", 1)]
    data = profile(
        [
            ([(name, 1), *RUN], 1)
            for name in ("text.Early", "text.Timed", "text.Stopped", "text.Own")
        ]
        + [(server, 2)],
        file,
        labels=["1", "2", "", None, "1"],
    )
    found = read_profile(data, label="2")
    # A function may have set labels of its own, and a server was started before the reset.
    assert [one[2] for one in found["functions"]] == ["text.Timed", "text.Own", "http.serve"]
    assert len(read_profile(data)["functions"]) == 5
    with pytest.raises(ValueError, match="its profiler has seen nothing"):
        read_profile(profile([([SLUG, *RUN], 9)], file, labels=[""]), label="2")


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("example.com/shop/store.Sum[...]", "store.Sum[...]"),
        ("example.com/shop/store.(*Map[go.shape.int_0]).Get", "store.(*Map[int]).Get"),
        (
            "a.com/store.(*Map[go.shape.struct { a.com/x.y struct { z int } },go.shape.int]).Get",
            "store.(*Map[struct {...},int]).Get",
        ),
        (
            "a.com/f.Each[a.com/x/y.T,go.shape.[4]*uint8].func2.1",
            "f.Each[y.T,[4]*uint8].<function>",
        ),
        ("gopkg.in/yaml%2ev3.Parse", "yaml.v3.Parse"),
        ("text.Words-range1", "text.Words.<function>"),
        ("text.init.0", "text.init.<function>"),
    ],
)
def test_names_with_type_arguments_are_whole(file: Path, name: str, shown: str) -> None:
    found = read_profile(profile([([(name, 4)], 1)], file))
    assert [one[2] for one in found["functions"]] == [shown]


def test_what_runs_in_the_runtime_of_go_alone_does_not_count(file: Path) -> None:
    lock: Stack = [("internal/runtime/atomic.(*Int32).Add", 1), ("runtime.mcall", 1)]
    table: Stack = [("internal/runtime/maps.match", 1), ("runtime.mapaccess1", 1)]
    found = read_profile(profile([(lock, 3), ([*table, SLUG, *RUN], 2)], file))
    assert [one[2:4] for one in found["functions"]] == [
        ["text.Slug", 0],
        ["runtime.mapaccess1", 8_000_000],
    ]


def test_a_function_is_in_the_file_that_defines_it(file: Path) -> None:
    search = file.with_name("search.go")
    search.write_text("package sort\n\n\n\nfunc Search() {\n}\n\n// 8\n// func One() is not here\n")
    names = ["example.com/text.One", "sort.Search", "example.com/text.Slug"]
    data = profile(
        [([(name, 9)], 1) for name in names],
        file,
        dict(zip(names, (9, 5, 3), strict=True)),
        more=dict.fromkeys(names[:2], search),
    )
    found = read_profile(data)["functions"]
    assert [one[0] for one in found] == [str(file), str(search), str(file)]


def test_what_was_inlined_is_known(file: Path) -> None:
    own: Stack = [("text.Slug", 4), *RUN]
    data = profile(
        [(own, 2), ([("text.One", 9), *RUN], 3)], file, inlined={"text.One": "text.Slug"}
    )
    found = read_profile(data)
    assert [one[2] for one in found["functions"]] == ["text.Slug", "text.One"]
    assert found["nodes"] == [[-1, 0, 2], [0, 1, 3]]
    assert found["inlined"] == [[0, 1]]


def test_what_was_allocated_before_does_not_count(file: Path) -> None:
    before = profile([([SLUG], 3), ([INNER, SLUG], 2)], file)
    after = profile([([SLUG], 3), ([INNER, SLUG], 4), ([("other", 1)], 1)], file)
    found = read_profile(after, PROFILED["alloc_blocks"], before)
    assert [one[2:4] for one in found["functions"]] == [
        ["text.Slug", 0],
        ["text.Slug.<function>", 2],
        ["other", 1],
    ]
    assert read_profile(after, PROFILED["alloc_peak"], after)["functions"] == []


def test_recursion_is_folded(file: Path) -> None:
    found = read_profile(profile([([("a", 1), ("b", 1), ("a", 1)], 2)], file))
    assert found["nodes"] == [[-1, 0, 2], [0, 1, 0]]


@pytest.mark.parametrize(
    "data",
    [
        b"text",
        b"\x1f\x8b",
        gzip.compress(b"a" * 99)[:-9],
        gzip.compress(b"\x12\x85"),
        gzip.compress(b"\xff\x01"),
    ],
    ids=["text", "header", "cut", "message", "field"],  # a compressed text has the time in it
)
def test_anything_else_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match="it is no profile of pprof"):
        read_profile(data)


def test_an_empty_profile_is_refused(file: Path) -> None:
    with pytest.raises(ValueError, match="its profiler has seen nothing"):
        read_profile(profile([([("runtime.gcBgMarkWorker", 1)], 5)], file))
