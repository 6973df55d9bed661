"""Commands that read or write files and measure nothing: init, validate, schema."""

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


@pytest.fixture
def package(repo: Git) -> Path:
    """A repository that holds a package and nothing else."""
    source = repo.root / "src/toy"
    source.mkdir(parents=True)
    (source / "__init__.py").write_text("def work():\n    return sum(range(1000))\n")
    return repo.root


def test_init_writes_what_validate_accepts(call: Call, package: Path) -> None:
    shown = call(package, "init", "--dry-run")
    shown.check(0)
    assert not (package / "benchgate.toml").exists()
    done = call(package, "init")
    done.check(0)
    assert done.out.splitlines()[:3] == [
        "Found the Python package toy (in src).",
        "wrote benchgate.toml",
        "wrote benchmarks/bench_toy.py",
    ]
    for name in ("benchgate.toml", "benchmarks/bench_toy.py"):
        assert (package / name).read_text().strip() in shown.out
    done = call(package, "validate")
    done.check(0)
    assert "benchmarks/bench_toy.py: bench_" in done.out


def test_init_overwrites_nothing(call: Call, package: Path) -> None:
    (package / "benchgate.toml").write_text("# mine\n")
    call(package, "init").check(2, "exists already", "hint:")
    assert (package / "benchgate.toml").read_text() == "# mine\n"


def test_init_where_there_is_nothing_to_measure(call: Call, tmp_path: Path) -> None:
    call(tmp_path, "init").check(2, "no project that benchgate knows", "[[benchmark]]")
    assert list(tmp_path.iterdir()) == []


def test_validate_names_every_problem_with_its_place(call: Call, package: Path) -> None:
    folder = package / "benchmarks"
    folder.mkdir()
    (folder / "bench_good.py").write_text("def bench_one():\n    pass\n")
    (folder / "bench_torn.py").write_text("def bench_two(:\n    pass\n")
    (folder / "bench_empty.py").write_text("def other():\n    pass\n")
    done = call(package, "validate")
    done.check(2, "benchmarks/bench_torn.py:1:", "benchmarks/bench_empty.py: no function")
    assert "benchmarks/bench_good.py: bench_one" in done.out


def test_validate_without_benchmarks(call: Call, package: Path) -> None:
    call(package, "validate").check(2, "no benchmarks")


def test_validate_runs_nothing(call: Call, package: Path) -> None:
    folder = package / "benchmarks"
    folder.mkdir()
    (folder / "bench_a.py").write_text(
        "open('was-run', 'w')\n\n\ndef bench_one():\n    raise SystemExit\n"
    )
    call(package, "validate").check(0)
    assert not (package / "was-run").exists()


@pytest.mark.parametrize("kind", ["config", "scenario", "result", "verdict", "statistics"])
def test_schemas_are_schemas(call: Call, tmp_path: Path, kind: str) -> None:
    done = call(tmp_path, "schema", kind)
    done.check(0)
    schema = json.loads(done.out)
    jsonschema.Draft202012Validator.check_schema(schema)


def test_the_configuration_of_init_validates(call: Call, package: Path) -> None:
    call(package, "init").check(0)
    schema = json.loads(call(package, "schema", "config").out)
    jsonschema.validate(tomllib.loads((package / "benchgate.toml").read_text()), schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"gate": {"margni": "2%"}}, schema)
