"""Tells where this machine gets packages from, and nothing else of what pip is configured to do.

Call it with a file. It writes options into the file, in the form of a requirements file, which both
pip and uv read, and it prints variables for both, one a line. It reads the variables of pip and
pip's files for the whole machine, which `pip help config` names, but not the user's own file.
"""

from __future__ import annotations

import os
import sys
from configparser import Error, RawConfigParser
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

# A later one overrides an earlier one, as in pip.
FILES = (
    "/etc/xdg/pip/pip.conf",
    "/etc/pip.conf",
    "/Library/Application Support/pip/pip.conf",
    f"{sys.prefix}/pip.conf",
)
SECTIONS = ("global", "install")
PREFIX = "PIP_"
OPTIONS = ("index-url", "extra-index-url", "find-links")
VARIABLES = {
    "cert": ("PIP_CERT", "SSL_CERT_FILE"),
    "client-cert": ("PIP_CLIENT_CERT", "SSL_CLIENT_CERT"),
    "trusted-host": ("PIP_TRUSTED_HOST", "UV_INSECURE_HOST"),
    "proxy": ("HTTP_PROXY", "HTTPS_PROXY"),
    "default-timeout": ("PIP_TIMEOUT", "UV_HTTP_TIMEOUT"),
    "timeout": ("PIP_TIMEOUT", "UV_HTTP_TIMEOUT"),
    "keyring-provider": ("PIP_KEYRING_PROVIDER", "UV_KEYRING_PROVIDER"),
}
YES = frozenset({"1", "true", "yes", "on"})


def read_settings(files: Iterable[str], environ: Mapping[str, str]) -> dict[str, str]:
    """What pip would use, by the names of its options.

    Raises:
        configparser.Error: a file is damaged.
    """
    parser = RawConfigParser()
    parser.read(files, encoding="utf-8")
    found = {
        name.replace("_", "-"): value
        for section in SECTIONS
        if parser.has_section(section)
        for name, value in parser.items(section)
    }
    of_job = {
        name.removeprefix(PREFIX).lower().replace("_", "-"): value
        for name, value in environ.items()
        if name.startswith(PREFIX) and value
    }
    return found | of_job


def options_of(settings: Mapping[str, str]) -> list[str]:
    """The lines of a requirements file."""
    lines = [f"--{name} {each}" for name in OPTIONS for each in settings.get(name, "").split()]
    return lines + ["--no-index"] * (settings.get("no-index", "").lower() in YES)


def variables_of(settings: Mapping[str, str]) -> dict[str, str]:
    """Variables of both programs."""
    return {
        variable: " ".join(settings[name].split())
        for name, variables in VARIABLES.items()
        if settings.get(name)
        for variable in variables
    }


def main() -> None:
    """Write the file, and print the variables."""
    try:
        settings = read_settings(FILES, os.environ)
    except (Error, UnicodeDecodeError) as error:
        sys.exit(f"::error title=benchgate::pip cannot read its own configuration: {error}")
    lines = (f"{line}\n" for line in options_of(settings))
    Path(sys.argv[1]).write_text("".join(lines), encoding="utf-8")
    sys.stdout.writelines(f"{name}={value}\n" for name, value in variables_of(settings).items())


if __name__ == "__main__":
    main()
