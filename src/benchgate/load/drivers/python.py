"""The driver `python`: functions in the interpreter of the project, a process for each worker.

A step calls its function with its parameters as keyword arguments. What the function returns is
ignored; an exception is a failed operation. benchgate imports the file once in each process, so a
module can open its own connection to what it loads. Its folder is the first one on `sys.path`.

The processes run `_python_program.py`, which speaks the protocol of the driver `command`.
"""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from pydantic import AfterValidator, Field

from benchgate.load.drivers import _python_program
from benchgate.load.drivers.child import ChildDriver, ChildTarget
from benchgate.load.drivers.driver import OperationError, TargetError
from benchgate.load.scenario import Script, Step
from benchgate.tables import fields

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchgate.load.drivers.driver import LaunchPlace

_PROGRAM = Path(_python_program.__file__)
_FUNCTION = re.compile(r"(?P<file>[^:]+\.py):(?P<name>[^\W\d]\w*)")


def _function(text: str) -> str:
    found = _FUNCTION.fullmatch(text)
    if found is None:
        raise ValueError('must be a file and a function in it: write "load/orders.py:lookup"')
    fields.relative(found["file"])
    return text


def _interpreter(text: str) -> str:
    fields.words(text)
    return text


Function = Annotated[str, AfterValidator(_function)]


def _files(*functions: str | None) -> tuple[str, ...]:
    named = (function.partition(":")[0] for function in functions if function is not None)
    return tuple(dict.fromkeys(named))


class PythonTarget(ChildTarget):
    """Functions of the project."""

    function: Function | None = Field(
        default=None,
        description="The function that carries out the operations, such as"
        " `load/orders.py:lookup`.",
    )
    interpreter: Annotated[fields.Text, AfterValidator(_interpreter)] = Field(
        default="python3",
        description="The Python that runs them, CPython 3.8 or newer.",
    )

    def texts(self) -> tuple[str, ...]:
        """All its texts in which placeholders are replaced."""
        return (self.interpreter, *self.env.values())

    def own_files(self) -> tuple[str, ...]:
        """Files of the arm that it runs, relative to the configuration: code under test."""
        return _files(self.function)


class PythonStep(Step):
    """A call of a function."""

    function: Function | None = Field(
        default=None, description="The function of this step, if it is not that of the target."
    )

    def own_files(self) -> tuple[str, ...]:
        """Files of the arm that it reads, relative to the configuration: code under test."""
        return _files(self.function)


class PythonScript(Script):
    """A call of a function without arguments, in a process of its own."""

    function: Function | None = Field(
        default=None, description="The function, such as `load/orders.py:create_tables`."
    )

    def own_files(self) -> tuple[str, ...]:
        """Files of the arm that it reads, relative to the configuration: code under test."""
        return _files(self.function)


class PythonDriver(ChildDriver[PythonTarget, PythonStep, PythonScript]):
    """Loads whatever the functions use."""

    NAME = "python"
    TARGET = PythonTarget
    STEP = PythonStep
    SCRIPT = PythonScript

    def __init__(
        self, target: PythonTarget, steps: Sequence[PythonStep], place: LaunchPlace
    ) -> None:
        super().__init__(target, steps, place)
        self._functions: dict[str, str] = {}
        for step in steps:
            function = step.function or target.function
            if function is None:
                raise TargetError(
                    f"step {step.name!r} names no function, and neither does [[target]]"
                )
            self._functions[step.name] = function

    def argv(self) -> Sequence[str]:
        """Return the interpreter and its program."""
        return self._calling(self._functions)

    def run(self, script: PythonScript) -> None:
        """Call the function, if there is one.

        Raises:
            TargetError: it cannot be imported, or raised an exception.
        """
        if script.function is None:
            return
        connection = self.connected(self._calling({"": script.function}))
        try:
            connection.ask({"step": "", "params": {}})
        except OperationError as error:
            raise TargetError(f"{script.function}: {error}") from None
        finally:
            connection.close()

    def _calling(self, functions: Mapping[str, str]) -> Sequence[str]:
        words = [self.place.expand(word) for word in shlex.split(self.target.interpreter)]
        return [*words, str(_PROGRAM), json.dumps(functions)]
