from __future__ import annotations

from pathlib import Path

import pytest

from benchgate.config import load, loads, loads_folder
from benchgate.errors import ConfigError

OWN = '[gate]\nmargin = "3%"\n'
SHARED = '[project]\nname = "x"\n\n[tool.benchgate.gate]\nmargin = "4%"\n'
FOREIGN = '[project]\nname = "x"\n'


def _write(folder: Path, name: str, text: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_without_a_file_the_defaults_hold(tmp_path: Path) -> None:
    config = load(tmp_path, tmp_path)
    assert config.source is None
    assert (config.gate.margin, config.gate.tail_margin, config.gate.alpha) == (0.02, 0.05, 0.01)
    assert config.gate.statistics == ("p25", "p95")
    assert config.gate.metrics == ("time",)
    assert config.gate.fail_on == ("regressed", "failed")
    assert config.gate.min_compared is None
    assert (config.measure.budget_s, config.measure.launch_time_s) == (600, 0.015)
    assert (config.measure.screen_rounds, config.measure.confirm_rounds) == (5, 12)
    assert (config.measure.warmup, config.measure.samples) == (3, 45)
    assert (config.build.commands, config.build.timeout_s) == ((), 600)
    assert (config.baseline.source, config.baseline.required) == ("auto", False)
    assert (config.benchmarks, config.rules, dict(config.aliases)) == ((), (), {})
    assert config.where("gate.margin") == "gate.margin (default)"


@pytest.mark.parametrize(
    ("name", "text", "margin", "place"),
    [
        ("benchgate.toml", OWN, 0.03, "benchgate.toml:2: gate.margin"),
        ("pyproject.toml", SHARED, 0.04, "pyproject.toml:5: tool.benchgate.gate.margin"),
    ],
)
def test_either_file(tmp_path: Path, name: str, text: str, margin: float, place: str) -> None:
    path = _write(tmp_path, name, text)
    config = load(tmp_path, tmp_path)
    assert config.gate.margin == margin
    assert config.source == path
    assert config.where("gate.margin") == place


def test_both_in_one_folder_is_an_error_that_says_which_to_delete(tmp_path: Path) -> None:
    _write(tmp_path, "benchgate.toml", OWN)
    _write(tmp_path, "pyproject.toml", SHARED)
    with pytest.raises(ConfigError, match=r"both benchgate\.toml and .* pyproject\.toml") as caught:
        load(tmp_path, tmp_path)
    assert "delete" in caught.value.hint


def test_a_pyproject_that_does_not_speak_of_benchgate_is_no_configuration(tmp_path: Path) -> None:
    own = _write(tmp_path, "benchgate.toml", OWN)
    _write(tmp_path, "pyproject.toml", FOREIGN + 'dependencies = ["benchgate"]\n')
    assert load(tmp_path, tmp_path).source == own
    _write(tmp_path, "pyproject.toml", "this is not TOML")
    assert load(tmp_path, tmp_path).source == own


def test_the_search_goes_up_to_the_root_of_the_repository(tmp_path: Path) -> None:
    outside = _write(tmp_path, "benchgate.toml", OWN)
    root = tmp_path / "repo"
    _write(root / "a", "pyproject.toml", FOREIGN)
    start = root / "a" / "b"
    start.mkdir()
    assert load(start, root).source is None
    assert load(start, tmp_path).source == outside
    inside = _write(root, "benchgate.toml", '[gate]\nmargin = "5%"\n')
    assert load(start, root).source == inside
    nearest = _write(root / "a", "pyproject.toml", SHARED)
    assert load(start, root).source == nearest


def test_outside_of_a_repository_only_the_folder_itself_is_searched(tmp_path: Path) -> None:
    _write(tmp_path, "benchgate.toml", OWN)
    start = tmp_path / "a"
    start.mkdir()
    assert load(start, None).source is None
    assert load(start, tmp_path / "elsewhere").source is None
    assert load(tmp_path, None).gate.margin == 0.03


def test_messages_name_a_file_as_seen_from_the_start(tmp_path: Path) -> None:
    _write(tmp_path, "benchgate.toml", "[gate]\nmargin = 2\n")
    start = tmp_path / "a" / "b"
    start.mkdir(parents=True)
    with pytest.raises(ConfigError) as caught:
        load(start, tmp_path)
    assert caught.value.message.startswith(f"{Path('..', '..', 'benchgate.toml')}:2: gate.margin")


def test_an_explicit_file_wins_whatever_its_name(tmp_path: Path) -> None:
    _write(tmp_path, "benchgate.toml", OWN)
    other = _write(tmp_path, "nightly.toml", '[gate]\nmargin = "9%"\n')
    config = load(tmp_path, tmp_path, other)
    assert (config.gate.margin, config.source) == (0.09, other)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "cannot be read: no such file"),
        (b"[gate]\nmargin = \xff\n", "is not UTF-8 text (byte 16)"),
        (b"[gate\n", ":1:6: is not valid TOML"),
        (b"[gate]\nmargin = 2%\n", ":2:11: is not valid TOML"),
        (b"x = [", "is not valid TOML: invalid value at the end of the file"),
        (b"a = " + b"9" * 5000, "is not valid TOML: exceeds the limit"),
        (b"a = " + b"[" * 5000, ":1: is nested too deeply"),
        (b"\n[" + b"a." * 1500 + b"a]", ":2: is nested too deeply"),
        (b"\n\n" + b"a.'b'." * 1500 + b"a = 1", ":3: is nested too deeply"),
    ],
)
def test_files_that_cannot_be_read(tmp_path: Path, content: bytes | None, message: str) -> None:
    path = tmp_path / "benchgate.toml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, tmp_path, path)
    assert str(path) in caught.value.message
    assert message in caught.value.message
    assert caught.value.hint


def test_a_folder_is_not_a_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="is a directory"):
        load(tmp_path, tmp_path, tmp_path)


def test_a_byte_order_mark_is_no_matter(tmp_path: Path) -> None:
    path = tmp_path / "benchgate.toml"
    path.write_bytes(b"\xef\xbb\xbf" + OWN.encode())
    assert load(tmp_path, tmp_path).gate.margin == 0.03


def test_an_explicit_pyproject_must_have_the_table(tmp_path: Path) -> None:
    path = _write(tmp_path, "pyproject.toml", FOREIGN)
    with pytest.raises(ConfigError, match=r"has no \[tool\.benchgate\] table"):
        load(tmp_path, tmp_path, path)


@pytest.mark.parametrize("text", ["tool = 3 # benchgate", "[tool]\nbenchgate = 3"])
def test_our_table_must_be_one(text: str) -> None:
    with pytest.raises(ConfigError, match="must be a table"):
        loads(text, "pyproject.toml")


def test_text_of_another_commit() -> None:
    config = loads(OWN, "benchgate.toml at 1a2b3c4")
    assert config.gate.margin == 0.03
    assert config.source is None
    assert config.where("gate.margin") == "benchgate.toml at 1a2b3c4:2: gate.margin"
    assert loads(SHARED, "main:pyproject.toml").gate.margin == 0.04
    assert loads(FOREIGN, "main:pyproject.toml").gate.margin == 0.02


@pytest.mark.parametrize(
    ("files", "margin"),
    [
        ({}, None),
        ({"main:pyproject.toml": FOREIGN}, None),
        ({"main:benchgate.toml": ""}, 0.02),
        ({"main:benchgate.toml": OWN, "main:pyproject.toml": FOREIGN}, 0.03),
        ({"main:sub/pyproject.toml": SHARED}, 0.04),
    ],
)
def test_the_files_of_a_folder_elsewhere(files: dict[str, str], margin: float | None) -> None:
    config = loads_folder(files)
    assert (config and config.gate.margin) == margin


def test_two_files_of_a_folder_elsewhere_are_one_too_many() -> None:
    with pytest.raises(ConfigError, match=r"both main:benchgate\.toml and .* main:pyproject"):
        loads_folder({"main:benchgate.toml": OWN, "main:pyproject.toml": SHARED})
