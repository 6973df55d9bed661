"""What callgrind writes, and which functions of compiled benchmarks it observes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from benchgate.measure.arm import Arm, ArmName
from benchgate.measure.observing.callgrind import call_trees
from benchgate.measure.observing.callgrind_format import read_profile, short_name
from benchgate.model.calls import Edit

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


INLINED = """\
fl=(1) {root}/sample.cc
fn=(1) benchgate_sample
1 1
cfi=(1)
cfn=(2) <shop::Map<u8>>::total
calls=1 3
-1 {own}

fl=(2) /rustc/iter.rs
fn=(2)
7 9
fi=(3) {root}/map.rs
2 {own}
fe=(2)
8 9
fe=(3)
9 50
totals: 400
"""
MAP = """\
fn weigh(n: u8) -> u8 {{
    n {inner}
}}

struct Map<T>(T);
impl<T> Map<T> {{
    #[inline(never)]
    fn total(&self) -> u8 {{
        weigh(self.0){outer}
    }}
}}
"""


@pytest.mark.parametrize(
    ("inner", "outer", "edit", "holds"),
    [
        ("% 3", "", Edit.EDITED, "weigh"),
        ("% 3", " + 1", Edit.EDITED, ""),
        ("* 2", " + 1", Edit.EDITED, ""),
        ("* 2", "", Edit.NONE, ""),
    ],
)
def test_a_function_has_its_own_line_and_holds_what_was_inlined(
    tmp_path: Path, inner: str, outer: str, edit: Edit, holds: str
) -> None:
    folders = []
    for name, texts in ((ArmName.BASE, ("* 2", "")), (ArmName.HEAD, (inner, outer))):
        root = tmp_path / name
        root.mkdir()
        (root / "map.rs").write_text(MAP.format(inner=texts[0], outer=texts[1]))
        (root / "calls").write_text(INLINED.format(root=root, own=100))
        folders.append((Arm(name, root, tmp_path / "env"), root))
    for tree in call_trees(folders, 1).values():
        (total,) = (one for one in tree.functions if one.name.endswith("total"))
        assert total.name == "shop::Map::total"
        assert (total.path, total.line) == ("map.rs", 8)
        assert total.is_own
        assert (total.edit, total.holds) == (edit, holds)


@pytest.mark.parametrize(
    ("name", "short"),
    [
        ("split(std::__cxx11::basic_string<char> const&)", "split"),
        ("std::__cxx11::basic_string<char, A>::_M_append(char const*)", "std::string::_M_append"),
        ("void std::vector<int, B<int> >::grow<int>(int&&)", "std::vector::grow"),
        ("(anonymous namespace)::Parser::next()", "Parser::next"),
        ("words::slug_once::h0123456789abcdef", "words::slug_once"),
        ("<words::Parser<u8>>::parse", "words::Parser::parse"),
        ("<words::Parser as words::Count<u8>>::count", "<Parser as Count>::count"),
        ("<alloc::vec::Vec<u8> as core::ops::Index<fn(u8) -> u8>>::index", "<Vec as Index>::index"),
        ("words::sum::<u64, fn() -> u8>::{closure#0}", "words::sum::{closure#0}"),
        ("<words::Bencher>::iter::<u64, words::one::{closure#0}>", "words::Bencher::iter"),
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
