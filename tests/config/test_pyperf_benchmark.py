from __future__ import annotations

import pytest
from pydantic import ValidationError

from benchgate.config.live_benchmarks import PyperfBenchmark, PytestBenchmark


def test_scripts_have_processes_of_their_own_unless_the_table_says_no() -> None:
    assert PyperfBenchmark.model_validate({"pyperf": "a.py"}).isolate
    assert not PyperfBenchmark.model_validate({"pyperf": "a.py", "isolate": False}).isolate


def test_files_may_have_any_name() -> None:
    assert PyperfBenchmark.model_validate({"pyperf": ["a.py", "b/run"]}).paths == ("a.py", "b/run")
    assert PytestBenchmark.model_validate({"pytest": "tests/test_a.py"}).paths == (
        "tests/test_a.py",
    )


@pytest.mark.parametrize("table", [PyperfBenchmark, PytestBenchmark])
def test_arguments_are_words(table: type[PyperfBenchmark | PytestBenchmark]) -> None:
    given = {table.KIND: "a.py", "arguments": "-k 'a or b' --x=1"}
    assert table.model_validate(given).tool_arguments == ("-k", "a or b", "--x=1")


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--fast"], "arguments are one string"),
        ("'", "cannot be split into words: no closing quotation"),
    ],
)
def test_what_are_no_arguments_is_refused(arguments: object, problem: str) -> None:
    with pytest.raises(ValidationError, match=problem):
        PyperfBenchmark.model_validate({"pyperf": "a.py", "arguments": arguments})
