"""The driver `command`: a program in any language, which carries out the operations.

benchgate starts the program once for each worker, in the folder of the configuration file. They
talk in lines of JSON in UTF-8:

1. When the program is ready, it writes a line with an object, such as `{"ready": true}`.
2. For each operation, benchgate writes a line to the program's standard input:
   `{"step": "lookup", "params": {"id": 7}}`. It waits for the answer before it writes another one.
3. The program carries out the operation, writes one line with an object to its standard output, and
   flushes it. `{}` says that the operation went well; `{"error": "no such order"}` says that it
   failed. benchgate ignores any other keys.
4. At the end, benchgate closes the program's standard input. The program then exits; if it still
   runs after 5 s, benchgate ends it.

An operation also fails if the program exits, answers anything else, or does not answer within
`timeout`. benchgate then starts it again. The end of what the program has written to its standard
error is in the message. `requests` of [setup] and [teardown] go to a process of their own, as they
are written.

The time of an operation begins before the request is written, and ends when the answer was read.

This is a whole program for the shell:

    echo '{"ready": true}'
    while read -r request; do
        curl --silent --fail http://127.0.0.1:8000/ >/dev/null && echo '{}' ||
            echo '{"error": "curl failed"}'
    done
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

from pydantic import AfterValidator, BeforeValidator, Field

from benchgate.load.drivers.child import ChildDriver, ChildTarget
from benchgate.load.drivers.driver import OperationError, PlainJson, TargetError
from benchgate.load.scenario import Script, Step
from benchgate.tables import fields

if TYPE_CHECKING:
    from collections.abc import Sequence

_PLACEHOLDER = re.compile(r"\$?\{\w+\}")


def _command(text: str) -> str:
    # Which placeholders there are depends on the services, so only the words are checked here.
    fields.argv(_PLACEHOLDER.sub("_", text), in_shell=False)
    return text


class CommandTarget(ChildTarget):
    """A program that carries out the operations."""

    command: Annotated[fields.Text, AfterValidator(_command)] = Field(
        description="The program and its arguments, without a shell."
    )

    def texts(self) -> tuple[str, ...]:
        """All its texts in which placeholders are replaced."""
        return (self.command, *self.env.values())

    def own_files(self) -> tuple[str, ...]:
        """Files that the command names with a slash: code under test."""
        words = shlex.split(self.command)
        return tuple(word for word in words if re.match(r"(?![-/]|.*[{:])[^\s]*/", word))


class CommandStep(Step):
    """An operation, which the program knows by the name of the step."""


class CommandScript(Script):
    """Requests to a process of its own."""

    requests: Annotated[tuple[Mapping[str, PlainJson], ...], BeforeValidator(fields.as_tuple)] = (
        Field(
            default=(),
            description="Objects that are sent to the program; each must be answered without an"
            " error.",
        )
    )


class CommandDriver(ChildDriver[CommandTarget, CommandStep, CommandScript]):
    """Loads whatever the program uses."""

    NAME = "command"
    TARGET = CommandTarget
    STEP = CommandStep
    SCRIPT = CommandScript

    def argv(self) -> Sequence[str]:
        """Return the words of the command."""
        # Word by word, so that a folder's name with a space in it stays one word.
        return [self.place.expand(word) for word in shlex.split(self.target.command)]

    def run(self, script: CommandScript) -> None:
        """Send requests, one after the other.

        Raises:
            TargetError: the program did not start, or did not carry out one of them.
        """
        connection = self.connect(0)
        try:
            for number, request in enumerate(script.requests, 1):
                try:
                    connection.ask(request)
                except OperationError as error:
                    raise TargetError(f"requests[{number}]: {error}") from None
        finally:
            connection.close()
