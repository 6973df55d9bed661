"""What callgrind writes, and which functions of compiled benchmarks it observes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from benchgate.measure.callgrind import call_trees, read_profile, short_name
from benchgate.measure.engine import Arm, ArmName

if TYPE_CHECKING:
    from pathlib import Path

# `split` calls `lower` five times; a part of it comes from another file, which is inlined.
WRITTEN = """\
# callgrind format
positions: line
events: Ir
summary: 400

ob=(1) /bench
fl=(1) /src/text.cc
fn=(1) split(std::string const&)'benchgate_sample
12 40
+3 7
fi=(2) /src/text.h
4 20
fe=(1)
* 3
cfi=(1)
cfn=(2) lower(std::string)'split(std::string const&)'benchgate_sample
calls=5 7
-1 330

fl=(3) ???
fn=(3) memcpy'lower(std::string)
0 60

fn=(2)
7 270
totals: 400
"""


def test_a_profile_is_read(tmp_path: Path) -> None:
    file = tmp_path / "calls"
    file.write_text(WRITTEN)
    profile = read_profile(file)
    split, lower = (
        "split(std::string const&)'benchgate_sample",
        ("lower(std::string)'split(std::string const&)'benchgate_sample"),
    )
    assert profile.lines[split] == {
        ("/src/text.cc", 12): 40,
        ("/src/text.cc", 15): 7,
        ("/src/text.h", 4): 20,
        ("/src/text.cc", 4): 3,
    }
    assert profile.calls == {split: {lower: 5}}
    assert profile.files[split] == "/src/text.cc"
    assert profile.files["memcpy'lower(std::string)"] == ""


def test_what_was_not_written_is_empty(tmp_path: Path) -> None:
    assert read_profile(tmp_path / "missing").calls == {}


COMPILED = """\
fl=(1) {root}/text.cc
fn=(1) benchgate_sample
1 1
cfi=(1)
cfn=(2) Text::format(int)
calls=1 3
-1 {total}

fn=(2)
3 5
4 {own}
5 5
cfi=(1)
cfn=(3) pad(int)
calls={calls} 7
4 100

fn=(3)
7 10
8 10
totals: 400
"""
TEXT = """\
// The sample is elsewhere.

void Text::format(int n) {{
    {body} // pad(1)
}}

void pad(int n) {{
    put(n);
}}
"""


@pytest.mark.parametrize(
    ("before", "after", "is_counted"),
    [
        ("pad(n); pad(n);", "pad(2 * n); pad(n);", False),
        ("pad(n); pad(n);", "pad(2 * n); pad(n); pad(n);", True),
        ("a::pad<int>(n); pad (n);", "pad(2 * n); pad(n);", False),
        ("pads(n);", "pads(n); pads(n);", True),  # nothing in the text calls it by its name
        ("pad(n); pad(n);", "pad(n); pad(n);", True),  # the data differ
    ],
)
def test_calls_that_a_compiler_inlined_are_no_calls_of_the_source(
    tmp_path: Path,
    before: str,
    after: str,
    is_counted: bool,  # noqa: FBT001 - a parameter
) -> None:
    folders = []
    for name, body, calls in ((ArmName.BASE, before, 2), (ArmName.HEAD, after, 3)):
        root = tmp_path / name
        root.mkdir()
        (root / "text.cc").write_text(TEXT.format(body=body))
        written = COMPILED.format(root=root, calls=calls, own=50 * calls, total=100 * calls)
        (root / "calls").write_text(written)
        folders.append((Arm(name, root, tmp_path / "env"), root))
    trees = call_trees(folders, 1)
    found = {
        arm: {one.name: one.is_counted for one in tree.functions} for arm, tree in trees.items()
    }
    assert [one["pad"] for one in found.values()] == [is_counted] * 2
    assert [one["Text::format"] for one in found.values()] == [True] * 2


@pytest.mark.parametrize(
    ("name", "short"),
    [
        ("split(std::__cxx11::basic_string<char> const&)", "split"),
        ("std::__cxx11::basic_string<char, A>::_M_append(char const*)", "std::string::_M_append"),
        ("void std::vector<int, B<int> >::grow<int>(int&&)", "std::vector::grow"),
        ("(anonymous namespace)::Parser::next()", "Parser::next"),
        ("words::slug_once::h0123456789abcdef", "words::slug_once"),
        ("operator new(unsigned long)", "operator new"),
        ("bool Less::operator()(int, int) const", "Less::operator"),
        ("clock_gettime@@GLIBC_2.17", "clock_gettime"),
        ("void f() [clone .isra.0]", "f"),
        ("benchgate::Worker::benchgate_sample[abi:cxx11]()", "benchgate::Worker::benchgate_sample"),
        ("main", "main"),
        ("0x000000000001ab70", "0x000000000001ab70"),
    ],
)
def test_names_are_shortened(name: str, short: str) -> None:
    assert short_name(name) == short
