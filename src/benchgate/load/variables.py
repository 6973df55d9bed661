"""The variables of the environment that a scenario uses, and the secrets in its texts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from benchgate.load.contradictions import place_of
from benchgate.load.drivers.concealing import Concealer, passwords_in
from benchgate.load.substitution import UnsetVariableError, expanded, variables_in
from benchgate.model.redact import Redactor
from benchgate.tables.document import Document, Problem, config_error

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from pydantic import BaseModel

    from benchgate.load.scenario import Scenario
    from benchgate.load.tables import Target
    from benchgate.tables.document import KeyPath

# password=word or password='two words', as in a connection string of PostgreSQL.
_KEY_AND_PASSWORD: Final = re.compile(
    r"passw(?:or)?d\s*=\s*(?:'((?:[^'\\]|\\.)*)'|([^\s&;]+))", re.IGNORECASE
)


def check_variables(scenario: Scenario, target: Target, environ: Mapping[str, str]) -> None:
    """Make sure that all variables are set that a scenario uses for one of its targets.

    Those of its services are looked up when they are started.

    Raises:
        ConfigError: one is not; the message lists all of them, with file, line and key.
    """
    problems = [
        Problem(
            path,
            f"the variable {name} is not set",
            f"set it in the environment of benchgate: {name}=... benchgate check",
        )
        for path, text in _texts(scenario, target)
        for name in dict.fromkeys(variables_in(text))
        if name not in environ
    ]
    if problems:
        document = Document(scenario.file, {}, scenario.lines)
        raise config_error(problems, document.place, scenario.file)


def concealer(
    scenario: Scenario, target: Target, environ: Mapping[str, str]
) -> Callable[[str], str]:
    """Make a function that makes a text one line, and removes secrets from it.

    They are `secrets_of` the scenario, and what `model.redact` knows.
    """
    conceal, redact = Concealer(secrets_of(scenario, target, environ)), Redactor(environ)
    return lambda text: redact(conceal(text))


def secrets_of(scenario: Scenario, target: Target, environ: Mapping[str, str]) -> frozenset[str]:
    """The values of the variables that a scenario uses, and passwords in its addresses."""
    secrets: set[str] = set()
    of_services = (text for one in scenario.services for text in one.env.values())
    for text in (*(text for _, text in _texts(scenario, target)), *of_services):
        secrets.update(environ[name] for name in variables_in(text) if name in environ)
        try:
            address = expanded(text, {}, environ)
        except UnsetVariableError:
            continue
        secrets |= passwords_in(address)
        for found in _KEY_AND_PASSWORD.finditer(address):
            secrets.add(found[2] or re.sub(r"\\(.)", r"\1", found[1]))
    return frozenset(secrets)


def _texts(scenario: Scenario, target: Target) -> Iterator[tuple[KeyPath, str]]:
    """The texts in which variables are replaced, with their places."""
    tables: list[tuple[KeyPath, BaseModel | None, tuple[str, ...]]] = [
        (("target", scenario.targets.index(target)), target, target.texts()),
        *((("step", i), one, one.texts()) for i, one in enumerate(scenario.steps)),
    ]
    for key, script in (("setup", scenario.setup), ("teardown", scenario.teardown)):
        tables.append(((key,), script, script.texts() if script else ()))
    for path, table, texts in tables:
        dumped = table.model_dump(mode="json", by_alias=True) if table else None
        for text in dict.fromkeys(texts):
            yield (*path, *place_of(dumped, text)), text
