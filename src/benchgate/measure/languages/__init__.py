"""The languages of benchmarks: how their programs are found, built and started."""

from benchgate.measure.languages.cpp import build_variables, compiled_by_build
from benchgate.measure.languages.go import benchmarks_in
from benchgate.measure.languages.language import (
    ADAPTERS,
    NAMED_FOR_TESTS,
    NotBuiltError,
    WorkerProgram,
)
from benchgate.measure.languages.node import is_file_of_vitest
from benchgate.measure.languages.programs import LANGUAGES, Programs, files_of, find, parts

__all__ = [
    "ADAPTERS",
    "LANGUAGES",
    "NAMED_FOR_TESTS",
    "NotBuiltError",
    "Programs",
    "WorkerProgram",
    "benchmarks_in",
    "build_variables",
    "compiled_by_build",
    "files_of",
    "find",
    "is_file_of_vitest",
    "parts",
]
