"""`benchgate validate` and `benchgate schema` know scenario files."""

from __future__ import annotations

import json
import tomllib
from typing import TYPE_CHECKING

import jsonschema
import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Call

    from benchgate.git.repository import Git

ORDERS = """\
name = "orders"
[[target]]
dsn = "{scratch}/orders.db"
[setup]
files = ["load/schema.sql"]
[[step]]
name = "lookup"
query = "SELECT 1"
[[step]]
name = "report"
query = "SELECT 2"
"""


@pytest.fixture(name="project")
def _project(repo: Git) -> Path:
    folder = repo.root / "load"
    folder.mkdir()
    (folder / "orders.toml").write_text(ORDERS)
    (folder / "schema.sql").write_text("CREATE TABLE orders (id);")
    (repo.root / "benchgate.toml").write_text('[[benchmark]]\nscenario = "load/orders.toml"\n')
    return repo.root


def test_the_ids_are_listed(call: Call, project: Path) -> None:
    done = call(project, "validate")
    done.check(0)
    assert "load/orders.toml: orders/lookup, orders/report\n" in done.out
    assert done.err == ""


def test_every_problem_is_told_with_its_place(call: Call, project: Path) -> None:
    path = project / "load" / "orders.toml"
    path.write_text(ORDERS.replace("query", "qurey").replace("files", "fils"))
    done = call(project, "validate")
    done.check(2, "load/orders.toml:5: setup.fils: unknown key; did you mean 'files'?")
    assert "load/orders.toml:8: step[0].qurey: unknown key; did you mean 'query'?" in done.err


def test_what_to_do_is_told(call: Call, project: Path) -> None:
    (project / "load" / "orders.toml").write_text(ORDERS.replace('"orders"', "orders"))
    call(project, "validate").check(
        2, "load/orders.toml:1:8: is not valid TOML", "hint: text needs"
    )


@pytest.mark.parametrize(
    ("before", "after", "problem"),
    [
        (
            '"load/schema.sql"',
            '"load/scheme.sql"',
            "load/orders.toml: there is no file load/scheme.sql, which it names",
        ),
        (
            '[setup]\nfiles = ["load/schema.sql"]\n',
            "",
            "load/orders.toml: nothing in it depends on the side, so base and head would load",
        ),
    ],
)
def test_what_could_not_be_measured(
    call: Call, project: Path, before: str, after: str, problem: str
) -> None:
    (project / "load" / "orders.toml").write_text(ORDERS.replace(before, after))
    call(project, "validate").check(2, problem)


def test_the_user_may_want_the_same_target(call: Call, project: Path) -> None:
    (project / "load" / "orders.toml").write_text(ORDERS.replace('"load/schema.sql"', ""))
    call(project, "validate").check(2, "nothing in it depends on the side")
    with (project / "benchgate.toml").open("a") as file:
        file.write("allow_foreign = true\n")
    call(project, "validate").check(0)


def test_a_build_may_create_files(call: Call, project: Path) -> None:
    (project / "load" / "schema.sql").unlink()
    with (project / "benchgate.toml").open("a") as file:
        file.write('[build]\ncommand = "make schema"\n')
    call(project, "validate").check(0)


def test_the_words_of_a_command_need_not_be_files(call: Call, project: Path) -> None:
    (project / "load" / "orders.toml").write_text(
        'name = "a"\n[[target]]\ndriver = "command"\ncommand = "python3 load/worker.py api/v1"\n'
        '[[step]]\nname = "b"\n'
    )
    call(project, "validate").check(0)


def test_files_of_other_names(call: Call, project: Path) -> None:
    other = project / "load" / "other.json"
    other.write_text(json.dumps(tomllib.loads(ORDERS)))
    with (project / "benchgate.toml").open("a") as file:
        file.write(
            '[[benchmark]]\nscenario = "load/other.json"\n'
            '[[benchmark]]\nscenario = "load/gone.toml"\n'
        )
    done = call(project, "validate")
    done.check(2, 'benchgate.toml:6: benchmark[2].scenario = "load/gone.toml": there is no such')
    assert "load/other.json: load/orders.toml has a benchmark orders/lookup, too" in done.err


def test_files_that_git_ignores(call: Call, project: Path) -> None:
    (project / ".gitignore").write_text("*.sql\n")
    call(project, "validate").check(2, "load/schema.sql: git ignores it, so the base does not")


def test_the_schema_is_that_of_the_files(call: Call, project: Path) -> None:
    done = call(project, "schema", "scenario")
    done.check(0)
    check = jsonschema.Draft202012Validator(json.loads(done.out))
    check.validate(tomllib.loads(ORDERS))
    assert list(check.iter_errors(tomllib.loads(ORDERS.replace("query", "qurey"))))
