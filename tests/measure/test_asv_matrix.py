from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from benchgate.config.live_benchmarks import AsvBenchmark
from benchgate.measure.arm import Arm, ArmName
from benchgate.measure.functions.asv_matrix import with_matrix

if TYPE_CHECKING:
    from pathlib import Path


def read(
    tmp_path: Path, conf: str, env: dict[str, str] | None = None, *, builds: bool = True
) -> tuple[dict[str, str], tuple[str, ...]]:
    (tmp_path / "tree/perf/benchmarks").mkdir(parents=True)
    (tmp_path / "tree/perf/asv.conf.json").write_text(conf)
    if builds:
        (tmp_path / "env").mkdir()
    arm = Arm(ArmName.HEAD, tmp_path / "tree", tmp_path / "env", "abc")
    table = {"asv": "perf/benchmarks", "env": env or {}}
    found, warnings = with_matrix(arm, AsvBenchmark.model_validate(table))
    return dict(found.env), warnings


def test_variables_of_one_value_are_set_and_the_table_comes_first(tmp_path: Path) -> None:
    conf = """{ // a comment
        "pythons": ["3.11"],
        "matrix": {"env": {"A": ["1"], "B": ["2"]}, "env_nobuild": {"C": "3"},},
    }"""
    assert read(tmp_path, conf, {"B": "own"}) == ({"A": "1", "B": "own", "C": "3"}, ())


@pytest.mark.parametrize(
    ("conf", "left_out"),
    [
        ('{"matrix": {"env": {"A": ["1", null]}}}', "the variable A (1, not set): name one"),
        ('{"matrix": {"env_nobuild": {"A": [null]}}}', "the variable A (not set): name one"),
        ('{"matrix": {"req": {"numpy": ["1", "2"]}}}', "numpy (1, 2): what `[build]` installs"),
        ('{"matrix": {"numpy": ["1", "2"]}}', "numpy (1, 2): what `[build]` installs is measured"),
        ('{"pythons": ["3.11", "3.12"]}', "Python (3.11, 3.12): what `[build]` installs"),
        ('{"exclude": [{"python": "3.12"}]}', "`exclude`"),
    ],
)
def test_what_is_left_out_is_said(tmp_path: Path, conf: str, left_out: str) -> None:
    env, (warning,) = read(tmp_path, conf)
    assert env == {}
    assert warning.startswith(
        "benchgate measures one environment, and leaves out of the matrix in perf/asv.conf.json: "
        + left_out
    )


def test_packages_of_one_version_are_left_out_if_nothing_is_built(tmp_path: Path) -> None:
    conf = '{"matrix": {"req": {"numpy": ["1.26"], "six": []}}}'
    _, (warning,) = read(tmp_path, conf, builds=False)
    assert "numpy (1.26), six (any): what `[build]` installs is measured" in warning


def test_packages_of_one_version_are_those_of_the_build(tmp_path: Path) -> None:
    assert read(tmp_path, '{"matrix": {"req": {"numpy": ["1.26"]}}}') == ({}, ())


@pytest.mark.parametrize(
    "conf", ["{", "[]", '{"matrix": 5}', '{"matrix": {"env": ["A"]}}', "[" * 9999]
)
def test_a_damaged_configuration_is_said(tmp_path: Path, conf: str) -> None:
    assert read(tmp_path, conf) == (
        {},
        ("perf/asv.conf.json cannot be read, so its matrix is left out",),
    )
