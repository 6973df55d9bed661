"""docs/github.md against action.yml, the workflows that `init` writes, and what the program says.

    python tests/docs/test_github.py

writes tables and workflows into the page.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from ruamel.yaml import YAML

from benchgate.cli.init import workflow_texts
from benchgate.git.repository import Git

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "github.md"
TEXT = PAGE.read_text(encoding="utf-8")

_TABLE = re.compile(r"(<!-- (inputs|outputs) -->\n).*?(<!-- end -->)", re.DOTALL)
_FILE = re.compile(r"(<!-- file: (\S+) -->\n).*?(<!-- end -->)", re.DOTALL)
_EXAMPLE = re.compile(r"^```yaml\n(.*?)^```$", re.MULTILINE | re.DOTALL)
EXAMPLES = [
    *_EXAMPLE.findall((ROOT / "README.md").read_text(encoding="utf-8")),
    *_EXAMPLE.findall(TEXT),
]
_WRAPPED = {"name": "example", "on": "pull_request"}


_RELEASE = "benchgate/benchgate@v1"
"""The release that the examples name."""


def read_yaml(text: str) -> Any:  # noqa: ANN401 - whatever the file holds
    return YAML(typ="safe").load(text)


ACTION = read_yaml((ROOT / "action.yml").read_text(encoding="utf-8"))


def table(kind: str) -> str:
    """The inputs or outputs of the action, in Markdown."""
    lines = ["| input | default | meaning |", "|---|---|---|"]
    if kind == "outputs":
        lines = ["| output | meaning |", "|---|---|"]
    for name, entry in ACTION[kind].items():
        default = [f"`{entry['default']}`" if entry["default"] else ""] if kind == "inputs" else []
        lines.append(f"| {' | '.join([f'`{name}`', *default, entry['description']])} |")
    return "\n".join(lines) + "\n"


@cache
def workflows() -> dict[str, str]:
    """What `benchgate init` writes in a repository whose default branch is main."""
    with tempfile.TemporaryDirectory() as folder:
        git = Git(Path(folder))
        git.run("init", "--quiet")
        return workflow_texts(git, _RELEASE)


def updated(text: str) -> str:
    """The page with tables and workflows made from these."""
    text = _TABLE.sub(lambda block: block[1] + table(block[2]) + block[3], text)
    return _FILE.sub(
        lambda block: f"{block[1]}```yaml\n{workflows()[block[2]]}```\n{block[3]}", text
    )


def test_the_page_is_up_to_date() -> None:
    assert {block[2] for block in _TABLE.finditer(TEXT)} == {"inputs", "outputs"}
    assert {block[2] for block in _FILE.finditer(TEXT)} == workflows().keys()
    assert updated(TEXT) == TEXT, "run: python tests/docs/test_github.py"


def whole(example: str) -> dict[str, Any]:
    """An example as a workflow: what stands around steps and jobs is added."""
    content = read_yaml(example)
    if isinstance(content, list):
        content = {"jobs": {"example": {"runs-on": "ubuntu-latest", "steps": content}}}
    return {**_WRAPPED, **content}


@pytest.mark.parametrize("example", EXAMPLES)
def test_examples_use_what_the_action_has(example: str) -> None:
    steps = [step for job in whole(example)["jobs"].values() for step in job["steps"]]
    given = {
        name
        for step in steps
        if step.get("uses", "").startswith(_RELEASE)
        for name in step.get("with", {})
    }
    assert given <= ACTION["inputs"].keys()
    used = re.findall(r"steps\.benchgate\.outputs\.([\w-]+)", example)
    assert set(used) <= ACTION["outputs"].keys()


def test_examples_are_workflows(tmp_path: Path) -> None:
    paths: list[Path] = []
    for number, example in enumerate(EXAMPLES):
        paths.append(tmp_path / f"{number}.yml")
        with paths[-1].open("w", encoding="utf-8") as file:
            YAML(typ="safe").dump(whole(example), file)
    check = Path(sys.executable).with_name("check-jsonschema")
    command = [str(check), "--builtin-schema", "vendor.github-workflows", *map(str, paths)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@cache
def said() -> str:
    """Every text that the program, and what sets it up, can print, one a line."""
    texts = [(ROOT / "scripts" / "action-setup.sh").read_text(encoding="utf-8")]
    for path in sorted((ROOT / "src").rglob("*.py")):
        texts += _constants(ast.parse(path.read_text(encoding="utf-8")))
    return "\n".join(texts)


def _constants(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def messages() -> list[str]:
    rows = TEXT.split("| message |")[1].split("\n\n")[0]
    return re.findall(r"^\| `([^`]+)` \|", rows, re.MULTILINE)


@pytest.mark.parametrize("message", messages())
def test_a_message_that_is_explained_is_one_that_is_printed(message: str) -> None:
    parts = map(str.strip, message.split("…"))
    assert [part for part in parts if part not in said()] == []


@cache
def asserted() -> dict[str, str]:
    """The texts of each file of tests, one a line, except those about pages."""
    found = {}
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        if path.parent.name != "docs":
            texts = _constants(ast.parse(path.read_text(encoding="utf-8")))
            found[str(path.relative_to(ROOT))] = "\n".join(texts)
    return found


@pytest.mark.parametrize("message", messages())
def test_a_message_that_is_explained_is_one_that_a_test_has_provoked(message: str) -> None:
    parts = [part.strip(" :,") for part in message.split("…")]
    assert [name for name, texts in asserted().items() if all(part in texts for part in parts)]


if __name__ == "__main__":
    PAGE.write_text(updated(TEXT), encoding="utf-8")
