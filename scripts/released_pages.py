"""What pages say before the first release, and from then on; it can go after the release.

`RELEASED` in `benchgate` says which of the two holds.
"""

from __future__ import annotations

PAGES = {
    "README.md": [
        (
            """
[![Python 3.11 or newer](https://img.shields.io/badge/python-3.11%2B-blue)](pyproject.toml)
""",
            """
[![PyPI](https://img.shields.io/pypi/v/benchgate)](https://github.com/benchgate/benchgate/releases)
[![Python versions](https://img.shields.io/pypi/pyversions/benchgate)](pyproject.toml)
""",
        ),
        (
            """
The action has no release yet. Until it has one, name your copy of this repository instead of
`benchgate/benchgate@v1`.
""",
            "",
        ),
        (
            """
benchgate is not on PyPI yet. Install it from a checkout of this repository:

```console
$ pipx install .
```
""",
            """
```console
$ pipx install benchgate
```
""",
        ),
        (
            """
`benchgate init --action OWNER/NAME@REF` writes two workflows for GitHub, which are safer than the
one above: the workflow that runs the code of the pull request has a read-only token.
""",
            """
`benchgate init --workflows` writes two workflows for GitHub, which are safer than the one above:
the workflow that runs the code of the pull request has a read-only token.
""",
        ),
    ],
    "SECURITY.md": [
        (
            "benchgate has no release yet. Fixes go to the default branch.",
            "Fixes go into a new release. Older releases get none.",
        ),
    ],
    "docs/getting-started.md": [
        (
            """
benchgate is not on PyPI yet. Install it from a checkout, outside the environment of the project
that you measure:

```console
$ pipx install .
```

`uv tool install .` works as well, and so does `pip install .` in a separate virtual environment.
""",
            """
Install benchgate outside the environment of the project that you measure:

```console
$ pipx install benchgate
```

`uv tool install benchgate` works as well, and so does `pip install benchgate` in a separate virtual
environment.
""",
        ),
        (
            "$ benchgate init --action octo-org/benchgate@v1\n",
            "$ benchgate init --workflows\n",
        ),
        (
            """
Until the action has a release, `--action OWNER/NAME@REF` names your copy of this repository. The
workflows use the commit that `REF` stands for today.
""",
            """
The workflows use the newest commit of `benchgate/benchgate@v1`, and keep to it. Dependabot proposes
newer ones.
""",
        ),
    ],
    "docs/history.md": [
        (
            """It fails no build. It needs `pipx install ".[history]"` in a
checkout of benchgate.
""",
            """It fails no build. It needs `pipx install "benchgate[history]"`.
""",
        ),
    ],
    "docs/site.md": [
        (
            """It needs
`pipx install ".[history,report]"` in a checkout of benchgate.
""",
            """It needs
`pipx install "benchgate[history,report]"`.
""",
        ),
    ],
}
