"""The base's configuration, out of real commits."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import pytest

from benchgate.baselines.base_config import (
    BASE_HAS_NONE,
    base_config,
    judged_by_base,
    measured_by_base,
    require_few,
)
from benchgate.config import load, loads
from benchgate.config.origin import Origin
from benchgate.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from benchgate.config import Config
    from benchgate.git.repository import Git

# Files of the base, files of the head, where to start, the base's margin, and its file.
Case: TypeAlias = "tuple[Mapping[str, str], Mapping[str, str | None], str, float | None, str]"
FOREIGN = '[project]\nname = "x"\n'


def own(margin: str) -> str:
    return f'[gate]\nmargin = "{margin}"\n'


def shared(margin: str) -> str:
    return f'{FOREIGN}[tool.benchgate.gate]\nmargin = "{margin}"\n'


def require_introduced(git: Git, sha: str, head: Config) -> None:
    """The change brings benchgate: it judges itself, and nothing is measured in the base."""
    config, warnings = judged_by_base(git, sha, head, git.root)
    assert warnings == (BASE_HAS_NONE,)
    assert BASE_HAS_NONE == "the base has no configuration, so the change was judged by its own"
    assert config.base is not None
    assert config.base.is_empty
    assert not config.base.searches
    assert replace(config, base=None) == head


@pytest.mark.parametrize(
    "case",
    [
        ({"benchgate.toml": own("3%")}, {"benchgate.toml": own("9%")}, "", 0.03, "benchgate.toml"),
        ({"pyproject.toml": shared("3%")}, {"x": ""}, "", 0.03, "pyproject.toml"),
        # The head moved it from one file to the other.
        (
            {"pyproject.toml": shared("3%")},
            {"pyproject.toml": FOREIGN, "benchgate.toml": own("9%")},
            "",
            0.03,
            "pyproject.toml",
        ),
        # The head deleted it.
        ({"benchgate.toml": own("3%")}, {"benchgate.toml": None}, "", 0.03, "benchgate.toml"),
        # As the head's is found, upwards from the folder.
        (
            {"a/benchgate.toml": own("3%"), "benchgate.toml": own("4%")},
            {"a/benchgate.toml": own("9%")},
            "a/b",
            0.03,
            "a/benchgate.toml",
        ),
        (
            {"benchgate.toml": own("4%")},
            {"a/benchgate.toml": own("9%")},
            "a/b",
            0.04,
            "benchgate.toml",
        ),
        ({"a/benchgate.toml": "\ufeff" + own("3%")}, {}, "a/b", 0.03, "a/benchgate.toml"),
        # There is none.
        ({"pyproject.toml": FOREIGN}, {"benchgate.toml": own("9%")}, "", None, ""),
        ({"a/benchgate.toml": own("3%")}, {"benchgate.toml": own("9%")}, "", None, ""),
        # The head moved it upwards, out of the folder, or below it.
        (
            {"a/benchgate.toml": own("3%")},
            {"a/benchgate.toml": None, "benchgate.toml": own("9%")},
            "a",
            0.03,
            "a/benchgate.toml",
        ),
        (
            {"a/benchgate.toml": own("3%"), "benchgate.toml": own("4%")},
            {"a/benchgate.toml": None},
            "a",
            0.03,
            "a/benchgate.toml",
        ),
    ],
)
def test_it_is_found_wherever_the_head_has_its_own(
    repo: Git, commit: Callable[..., str], case: Case
) -> None:
    base, head, folder, margin, name = case
    sha = commit(repo, {"a/b/keep": "", **base})
    for path, text in head.items():
        if text is None:
            (repo.root / path).unlink()
        else:
            (repo.root / path).write_text(text)
    start = repo.root / folder
    found = base_config(repo, sha, load(start, repo.root), start)
    assert (found and found.gate.margin) == margin
    if found:
        assert found.where("gate.margin").startswith(f"{sha[:7]}:{name}:")
        assert found.source is None


def test_a_file_of_another_name_is_looked_for_under_that_name(
    repo: Git, commit: Callable[..., str]
) -> None:
    sha = commit(repo, {"ci/quick.toml": own("3%"), "benchgate.toml": own("4%")})
    quick, new = repo.root / "ci/quick.toml", repo.root / "ci/new.toml"
    new.write_text(own("9%"))
    for named in (quick, Path("../ci/quick.toml")):
        head = replace(load(repo.root, explicit=quick), origin=Origin(path=named, named=True))
        found = base_config(repo, sha, head, repo.root / "ci")
        assert found is not None
        assert found.gate.margin == 0.03
    head = load(repo.root, explicit=new)
    assert base_config(repo, sha, head, repo.root) is None
    require_introduced(repo, sha, head)


def test_a_named_file_is_not_searched_for_elsewhere(repo: Git, commit: Callable[..., str]) -> None:
    sha = commit(repo, {"benchgate.toml": own("3%")})
    (repo.root / "a").mkdir()
    named = repo.root / "a/benchgate.toml"
    named.write_text(own("9%"))
    head = load(repo.root, explicit=named)
    require_introduced(repo, sha, head)


def test_a_folder_that_became_a_link_is_looked_for_by_its_name(
    repo: Git, commit: Callable[..., str]
) -> None:
    sha = commit(repo, {"bench/benchgate.toml": own("3%"), "other/benchgate.toml": own("8%")})
    (repo.root / "bench").rename(repo.root / "gone")
    (repo.root / "bench").symlink_to("other")
    start = repo.root / "bench"
    head = load(start, repo.root)
    assert head.gate.margin == 0.08
    config, warnings = judged_by_base(repo, sha, head, start)
    assert (config.gate.margin, warnings) == (0.03, ())


def test_links_of_the_base_and_to_the_repository_are_followed(
    repo: Git, commit: Callable[..., str], tmp_path: Path
) -> None:
    (repo.root / "bench").symlink_to("real/deep")
    sha = commit(repo, {"real/benchgate.toml": own("3%"), "real/deep/keep": ""})
    (tmp_path / "link").symlink_to(repo.root)
    (tmp_path / "into").symlink_to(repo.root / "real")
    for start in (repo.root / "bench", tmp_path / "link/bench", tmp_path / "into"):
        found = base_config(repo, sha, load(start, repo.root), start)
        assert found is not None
        assert found.gate.margin == 0.03


def test_a_base_without_one_is_told(repo: Git, commit: Callable[..., str]) -> None:
    sha = commit(repo, {"a/benchgate.toml": own("3%")})
    assert judged_by_base(repo, sha, load(repo.root, repo.root), repo.root)[1] == ()
    (repo.root / "benchgate.toml").write_text(own("9%"))
    head = load(repo.root, repo.root)
    require_introduced(repo, sha, head)


def test_a_file_outside_of_the_repository_is_no_part_of_the_change(
    repo: Git, commit: Callable[..., str]
) -> None:
    sha = commit(repo, {"benchgate.toml": own("3%")})
    elsewhere = repo.root.parent / "benchgate.toml"
    elsewhere.write_text(own("9%"))
    head = load(repo.root, explicit=elsewhere)
    assert base_config(repo, sha, head, repo.root) is None
    config, warnings = judged_by_base(repo, sha, head, repo.root)
    assert (config, warnings) == (head, ())


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (b'[gate]\nmargn = "2%"', "benchgate.toml:2: gate.margn: unknown key"),
        (b"[gate]\nmargin = 2\nalpha = 2", "2 problems in the configuration: "),
        (b"# \xff\xfe", "benchgate.toml: is not UTF-8 text"),
    ],
)
def test_one_that_cannot_be_read_gives_way_to_the_heads_with_a_warning(
    repo: Git, commit: Callable[..., str], text: bytes, why: str
) -> None:
    (repo.root / "benchgate.toml").write_bytes(text)
    sha = commit(repo, {})
    (repo.root / "benchgate.toml").write_text(own("9%"))
    head = load(repo.root, repo.root)
    with pytest.raises(ConfigError):
        base_config(repo, sha, head, repo.root)
    config, (warning,) = judged_by_base(repo, sha, head, repo.root)
    assert config is head
    why_own = "judged by the change's own configuration, because the base's is not valid: "
    assert warning.startswith(why_own)
    assert why in warning
    assert "\n" not in warning


def test_a_change_is_judged_by_its_base(repo: Git, commit: Callable[..., str]) -> None:
    sha = commit(repo, {"benchgate.toml": own("3%")})
    (repo.root / "benchgate.toml").write_text(own("9%") + '[build]\ncommand = "make"\n')
    config, warnings = judged_by_base(repo, sha, load(repo.root, repo.root), repo.root)
    assert (config.gate.margin, warnings) == (0.03, ())
    assert config.base is not None
    assert (config.build.commands, config.base.build.commands) == ((("make",),), ())


@pytest.mark.parametrize(
    ("files", "is_measured"),
    [
        ({"perf/bench_it.py": ""}, True),
        ({"perf/it.py": "", ".hidden/bench_it.py": "", "node_modules/bench_it.py": ""}, False),
        # What is found without a configuration is measured by that of another folder.
        ({"perf/bench_it.py": "", "perf/benchgate.toml": own("3%")}, False),
        ({"perf/bench_it.py": "", "perf/pyproject.toml": shared("3%")}, False),
        ({"perf/bench_it.py": "", "perf/pyproject.toml": FOREIGN}, True),
    ],
)
def test_a_base_without_one_that_has_benchmarks_is_configured_by_the_defaults(
    repo: Git, commit: Callable[..., str], files: Mapping[str, str], *, is_measured: bool
) -> None:
    sha = commit(repo, files)
    (repo.root / "benchgate.toml").write_text(own("9%"))
    head = load(repo.root, repo.root)
    if not is_measured:
        require_introduced(repo, sha, head)
        return
    config, warnings = judged_by_base(repo, sha, head, repo.root)
    assert (config.gate.margin, warnings) == (0.02, ())
    assert config.base is not None
    assert config.base.searches


def test_on_a_laptop_the_base_says_only_what_is_measured_in_it(
    repo: Git, commit: Callable[..., str]
) -> None:
    old = commit(repo, {"keep": ""})
    sha = commit(repo, {"benchgate.toml": own("3%")})
    broken = commit(repo, {"benchgate.toml": "[gate]\nmargn = 1\n"})
    (repo.root / "benchgate.toml").write_text(own("9%"))
    head = load(repo.root, repo.root)
    config, warnings = measured_by_base(repo, sha, head, repo.root)
    assert (config.gate.margin, config.sides, warnings) == (0.09, None, ())
    assert config.base is not None
    assert config.base.gate.margin == 0.03
    assert measured_by_base(repo, old, head, repo.root) == (head, ())
    config, (warning,) = measured_by_base(repo, broken, head, repo.root)
    assert config is head
    assert warning.startswith(
        "the base is measured with this configuration, because its own is not"
    )


def test_how_large_a_configuration_may_be(repo: Git, commit: Callable[..., str]) -> None:
    sha = commit(repo, {"benchgate.toml": own("3%") + "#" * 200_000})
    head = load(repo.root, repo.root)
    with pytest.raises(ConfigError, match=r"\.toml: is larger than the limit of 100000 bytes"):
        base_config(repo, sha, head, repo.root)
    (repo.root / "benchgate.toml").unlink()
    sha = commit(repo, {"pyproject.toml": shared("3%") + "#" * 200_000})
    found = base_config(repo, sha, head, repo.root)
    assert found is not None
    assert found.gate.margin == 0.03


@pytest.mark.parametrize(
    ("table", "entry"),
    [
        ("[[rule]]\n", "benchmark = '*'\nmargin = '3%'"),
        ("[[waive]]\n", "benchmark = '*'\nceiling = '3%'\nuntil = 2030-01-01\nreason = 'x'"),
        ("[[benchmark]]\n", "name = 'x{n}'\ncommand = 'true'"),
        ("[aliases]\n", "old{n} = 'new{n}'"),
    ],
)
def test_a_stranger_writes_no_thousand_entries(table: str, entry: str) -> None:
    def having(count: int) -> Config:
        once = table if table == "[aliases]\n" else ""
        entries = ("" if once else table) + entry + "\n"
        return loads(once + "".join(entries.format(n=n) for n in range(count)), "benchgate.toml")

    require_few(having(300))
    with pytest.raises(ConfigError) as caught:
        require_few(having(301))
    assert caught.value.message.startswith(f"benchgate.toml: has 301 {table.strip()}, but at most")
