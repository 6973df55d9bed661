"""Makes a release, all but the upload; CONTRIBUTING.md says how.

    python -m scripts.release prepare 0.1.0
    python -m scripts.release build

The first one writes version, changelog and pages. The second one builds the version whose tag is
checked out in `build/release`: the packages in `dist`, and the notes.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import click
from scripts.released_pages import PAGES

ROOT = Path(__file__).resolve().parents[1]
VERSION_FILE = "src/benchgate/__init__.py"
CHANGELOG = "CHANGELOG.md"
REPOSITORY = "https://github.com/benchgate/benchgate"

_VERSION = re.compile(r'(?<=^__version__ = ").+(?="$)', re.MULTILINE)
_RELEASED = re.compile(r"(?<=^RELEASED = )\w+$", re.MULTILINE)
_NUMBER = re.compile(r"\d+\.\d+\.\d+")
_UNRELEASED = "## [Unreleased]\n"
_SECTION = r"^## \[{}\] - \d{{4}}-\d\d-\d\d\n(.*?)(?=^## |\Z)"
_LINK = re.compile(r"(?<=\]\()(?=[\w./-]+(?:#[\w-]+)?\))")
_WRAPPED = re.compile(r"(?<=\S)\n *(?=[^\s#*-])")


class Refused(click.ClickException):
    """What keeps a version from being released."""


def prepare(root: Path, version: str) -> None:
    """Write version, changelog and pages of a release; nothing is committed."""
    if not _NUMBER.fullmatch(version):
        raise Refused(f"{version} is no version such as 0.1.0")
    changelog = _read(root, CHANGELOG)
    if f"## [{version}]" in changelog:
        raise Refused(f"{CHANGELOG} has a section [{version}] already")
    if not changelog.partition(_UNRELEASED)[2].partition("\n## ")[0].strip():
        raise Refused(f"{CHANGELOG} says nothing under Unreleased")
    heading = f"{_UNRELEASED}\n## [{version}] - {datetime.now(UTC):%Y-%m-%d}\n"
    _write(root, CHANGELOG, changelog.replace(_UNRELEASED, heading, 1))
    code = _VERSION.sub(version, _read(root, VERSION_FILE))
    _write(root, VERSION_FILE, _RELEASED.sub("True", code))
    for page in PAGES:
        _write(root, page, released_page(page, _read(root, page)))


def released_page(page: str, text: str) -> str:
    """What a page says from the first release on."""
    for before, after in PAGES[page]:
        text = text.replace(before, after)
    return text


def notes(changelog: str, version: str) -> str:
    """What the changelog says about a version, for GitHub's page of the release.

    GitHub shows each line of it as a line, and its links do not start in the repository.
    """
    found = re.search(_SECTION.format(re.escape(version)), changelog, re.MULTILINE | re.DOTALL)
    if found is None or not found[1].strip():
        raise Refused(f"{CHANGELOG} has no section [{version}] with a date and a text")
    linked = _LINK.sub(f"{REPOSITORY}/blob/v{version}/", found[1].strip())
    return _WRAPPED.sub(" ", linked) + "\n"


def build(root: Path, folder: Path) -> None:
    """Build the packages of the tag that is checked out twice, check them and write the notes."""
    code = _read(root, VERSION_FILE)
    version = (_VERSION.search(code) or [""])[0]
    tag = f"v{version}"
    if changes := _git(root, "status", "--porcelain"):
        raise Refused(f"these files are not committed:\n{changes}")
    if tag not in (tags := _git(root, "tag", "--points-at", "HEAD").split()):
        raise Refused(
            f"{VERSION_FILE} has the version {version}, but this commit has "
            + (f"the tag {' and '.join(tags)}" if tags else "no tag")
        )
    if not _NUMBER.fullmatch(version) or "RELEASED = True" not in code:
        raise Refused(f"{VERSION_FILE} is not that of a release: `prepare` makes it so")
    said = notes(_read(root, CHANGELOG), version)
    shutil.rmtree(folder, ignore_errors=True)
    with TemporaryDirectory() as scratch:
        first, second = (
            _built(root, tag, Path(scratch, name), umask)
            for name, umask in (("first", 0o022), ("second", 0o077))
        )
        different = [name for name in first | second if first.get(name) != second.get(name)]
        if different:
            raise Refused(f"two builds differ in {', '.join(different)}")
    (folder / "dist").mkdir(parents=True)
    for name, content in first.items():
        (folder / "dist" / name).write_bytes(content)
    (folder / "notes.md").write_text(said, encoding="utf-8")
    packages = map(str, sorted((folder / "dist").iterdir()))
    subprocess.run([sys.executable, "-m", "twine", "check", "--strict", *packages], check=True)


def _built(root: Path, tag: str, folder: Path, umask: int) -> dict[str, bytes]:
    """Build sdist and wheel of a tag in a checkout of its own; the wheel is made from the sdist."""
    checkout, packages = folder / "checkout", folder / "packages"
    _git(
        root, "-c", "advice.detachedHead=false", "clone", "--quiet", "--branch", tag, ".", checkout
    )
    uv = Path(sys.executable).with_name("uv")
    arguments = ("--no-build-isolation", "--no-config", "--no-create-gitignore", "--offline")
    subprocess.run(
        [uv, "build", "--quiet", *arguments, "--python", sys.executable, "--out-dir", packages],
        cwd=checkout,
        env={**os.environ, "SOURCE_DATE_EPOCH": _git(root, "log", "-1", "--format=%ct", tag)},
        umask=umask,
        check=True,
    )
    return {path.name: path.read_bytes() for path in sorted(packages.iterdir())}


def _git(root: Path, *arguments: str | Path) -> str:
    done = subprocess.run(
        ["git", *arguments],  # noqa: S607 - the developer's own git
        cwd=root,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return done.stdout.strip()


def _read(root: Path, name: str) -> str:
    return (root / name).read_text(encoding="utf-8")


def _write(root: Path, name: str, text: str) -> None:
    (root / name).write_text(text, encoding="utf-8")


@click.group(help=__doc__)
def main() -> None:
    """Say what can be done."""


@main.command("prepare")
@click.argument("version")
def _prepare(version: str) -> None:
    """Write version, changelog and pages of a release."""
    prepare(ROOT, version)


@main.command("build")
def _build() -> None:
    """Build and check the version whose tag is checked out."""
    build(ROOT, ROOT / "build" / "release")


if __name__ == "__main__":
    main()
