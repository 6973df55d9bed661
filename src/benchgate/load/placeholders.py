"""Placeholders and variables in the texts of a scenario."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from benchgate.errors import did_you_mean
from benchgate.tables.fields import PLACEHOLDERS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence


SCRATCH: Final = "scratch"
PORT: Final = "port"

OWN_PLACEHOLDERS: Final = frozenset({SCRATCH, "root", "env"})
"""They stand for folders that the launches of the other arm do not use."""

# `$${` is a literal `${`. As in the configuration, {{word}} is no placeholder.
_TOKEN = re.compile(
    r"(?P<escaped>\$\$\{)|\$\{(?P<variable>[^{}]*)(?P<end>\}?)"
    r"|(?<!\{)\{(?P<placeholder>[A-Za-z_]\w*)\}(?!\})"
)
_VARIABLE = re.compile(r"[A-Za-z_]\w*", re.ASCII)


class UnsetVariableError(ValueError):
    """A text names a variable that is not set."""


def port_of(service: str) -> str:
    return f"{service}_{PORT}"


def known_placeholders(services: Sequence[str], *, own: bool = False) -> tuple[str, ...]:
    """The placeholders that a text may have.

    Args:
        services: the names of all services.
        own: whether the text belongs to a service, which `{port}` is that of.
    """
    only = (PORT,) if own or len(services) == 1 else ()
    return (*PLACEHOLDERS, SCRATCH, *only, *map(port_of, services))


def wrong_in(
    text: str, known: Sequence[str], *, variables: bool = True
) -> Iterator[tuple[str, str]]:
    """Find wrong placeholders and variables in a text; yield what is wrong, and what to do.

    Args:
        variables: whether variables are replaced in it.
    """
    if "\0" in text:
        yield "contains a NUL character, which no program can be given", "delete it"
    for token in _TOKEN.finditer(text):
        name, variable = token["placeholder"], token["variable"]
        if name is not None and name not in known:
            yield _unknown(name, known)
        if variables and variable is not None:
            if not token["end"]:
                yield f"${{{variable} has no }} at its end", "write ${NAME}, or $${ for the text ${"
            elif not _VARIABLE.fullmatch(variable):
                yield (
                    f"${{{variable}}} is not the name of a variable",
                    "write ${NAME}, or $${ for the text ${",
                )


def variables_in(text: str) -> tuple[str, ...]:
    return tuple(
        token["variable"] for token in _TOKEN.finditer(text) if token["variable"] is not None
    )


def placeholders_in(text: str) -> tuple[str, ...]:
    return tuple(
        token["placeholder"] for token in _TOKEN.finditer(text) if token["placeholder"] is not None
    )


def expanded(
    text: str, placeholders: Mapping[str, str], environ: Mapping[str, str] | None = None
) -> str:
    """Replace placeholders and variables; what they stand for is not expanded again.

    Args:
        environ: the variables; None leaves them as they are.

    Raises:
        UnsetVariableError: a variable is not set; the message names it.
    """

    def value(token: re.Match[str]) -> str:
        if token["placeholder"] is not None:
            return placeholders.get(token["placeholder"], token[0])
        if environ is None:
            return token[0]
        if token["escaped"]:
            return "${"
        found = environ.get(token["variable"])
        if found is None:
            raise UnsetVariableError(f"the variable {token['variable']} is not set")
        return found

    return _TOKEN.sub(value, text)


def each_expanded(text: str, expand: Callable[[str], str]) -> str:
    """Replace each placeholder and variable by what `expand` makes of it."""
    return _TOKEN.sub(lambda token: expand(token[0]), text)


def _unknown(name: str, known: Sequence[str]) -> tuple[str, str]:
    allowed = ", ".join(f"{{{one}}}" for one in known)
    if name == PORT:
        ports = [f"{{{one}}}" for one in known if one.endswith(f"_{PORT}")]
        if ports:
            return f"{{port}} is ambiguous: write {' or '.join(ports)}", f"there are {allowed}"
        return "{port} needs a [[service]], whose port it is", "add one, or write the port"
    swapped = [one for one in known if sorted(one) == sorted(name)]
    meant = did_you_mean(name, swapped or known)
    hint = f"there are {allowed}; where the braces are meant literally, write {{ {name} }}"
    return f"there is no placeholder {{{name}}}{meant}", hint
