"""In other languages, too, editing the benchmarks does not hide that the code got slower."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest
from tests.e2e.conftest import DECISIVE

from benchgate.model.policy import Outcome
from benchgate.session.benchmark_sets import EDITED

if TYPE_CHECKING:
    from tests.e2e.conftest import Project

pytestmark = pytest.mark.slow


@dataclass(frozen=True)
class Language:
    """A project in a language; WORK and TIMES stand for how much it does.

    Attributes:
        tool: what it needs.
        table: names the benchmarks.
        code: the file that gets slower.
        file: the file that is edited; its benchmark is there.
        helper: a file beside it, which the head edits, too.
        one: the id of its benchmark.
        files: what is in them, and in others.
    """

    tool: str
    table: str
    code: str
    file: str
    helper: str
    one: str
    files: dict[str, str]


LANGUAGES = {
    "node": Language(
        "node",
        'node = "bench/run.mjs"',
        "work.mjs",
        "bench/run.mjs",
        "bench/help.mjs",
        "run/one",
        {
            "work.mjs": "export const work = () => { let s = 0; "
            "for (let i = 0; i < WORK; i++) s = (s * 31 + i) % 65521; return s; };\n",
            "bench/run.mjs": 'import { Bench } from "tinybench";\n'
            'import { work } from "../work.mjs";\nimport { MORE } from "./help.mjs";\n'
            "const bench = new Bench();\n"
            'bench.add("one", () => { for (let i = 0; i < TIMES * MORE; i++) work(); });\n'
            "await bench.run();\n",
            "bench/help.mjs": "export const MORE = TIMES;\n",
        },
    ),
    "go": Language(
        "go",
        'go = "./..."',
        "text/work.go",
        "text/work_test.go",
        "text/help_test.go",
        "text/One",
        {
            "go.mod": "module example.com/text\n\ngo 1.18\n",
            "text/work.go": "package text\n\nfunc work() int {\n\ts := 0\n"
            "\tfor i := 0; i < WORK; i++ {\n\t\ts = (s*31 + i) % 65521\n\t}\n\treturn s\n}\n",
            "text/work_test.go": 'package text\n\nimport "testing"\n\nvar kept int\n\n'
            "func BenchmarkOne(b *testing.B) {\n\tfor i := 0; i < b.N; i++ {\n"
            "\t\tfor j := 0; j < TIMES*more; j++ {\n\t\t\tkept += work()\n\t\t}\n\t}\n}\n",
            "text/help_test.go": "package text\n\nconst more = TIMES\n",
        },
    ),
    "rust": Language(
        "cargo",
        'rust = "speed"\nenv = { RUSTC_BOOTSTRAP = "1", CARGO_NET_OFFLINE = "true" }',
        "src/lib.rs",
        "benches/speed.rs",
        "benches/common/mod.rs",
        "speed/one",
        {
            "Cargo.toml": '[package]\nname = "text"\nversion = "0.1.0"\nedition = "2018"\n',
            "src/lib.rs": "pub fn work() -> u64 {\n"
            "    (0..WORK).fold(0, |s, i| std::hint::black_box((s * 31 + i) % 65521))\n}\n",
            "benches/speed.rs": "#![feature(test)]\nextern crate test;\nmod common;\n\n#[bench]\n"
            "fn one(b: &mut test::Bencher) {\n"
            "    b.iter(|| (0..TIMES * common::MORE).map(|_| text::work()).sum::<u64>())\n}\n",
            "benches/common/mod.rs": "pub const MORE: u64 = TIMES;\n",
        },
    ),
}


@pytest.mark.parametrize("name", LANGUAGES)
def test_the_bases_version_finds_what_the_edited_one_hides(toy: Project, name: str) -> None:
    language = LANGUAGES[name]
    if shutil.which(language.tool) is None:
        pytest.skip(f"{language.tool}: not installed")

    def filled(name: str, *, work: int, times: int) -> dict[str, str]:
        text = language.files[name].replace("WORK", str(work)).replace("TIMES", str(times))
        return {name: text}

    toy.git.run("rm", "--quiet", "-r", ".")
    for each in language.files:
        toy.write(filled(each, work=300, times=4))
    toy.write({"benchgate.toml": f"{DECISIVE}\n[[benchmark]]\n{language.table}\n"})
    toy.commit()
    toy.write(filled(language.code, work=3000, times=0))
    for each in (language.file, language.helper):
        toy.write(filled(each, work=0, times=1))
    verdict = toy.checked()
    found = {row.benchmark: row.outcome for row in verdict.rows}
    assert found == {language.one: Outcome.REGRESSED}, verdict.rows
    (row,) = verdict.rows
    assert row.ratio is not None
    assert row.ratio > 5
    assert EDITED in row.notes
    assert any(note.startswith("its new version: ") for note in row.notes)
