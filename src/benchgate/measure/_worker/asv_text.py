"""The text of a module of a suite of asv, without what is compared by value."""

from __future__ import annotations

import ast

from .file_text import SuiteText
from .names import FUNCTIONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import Any

PARAMS = ("params", "param_names")
# What is compared by value, and what says how asv measures: benchgate decides that itself.
SETTINGS = (
    *PARAMS,
    *("number", "version", "unit", "type", "timeout", "pretty_name", "pretty_source", "parallel"),
    *("repeat", "rounds", "processes", "min_run_count", "timer", "skip_params"),
    *("sample_time", "warmup_time", "goal_time", "max_time"),
)
DECORATORS = (
    *("parameterize", "parameterize_class_with", "parameterize_func_with", "benchmark"),
    *("timeout_at", "timeout_class_at", "timeout_func_at"),
    *("skip_for_params", "skip_params_if", "skip_benchmark_if"),
)


class AsvText(SuiteText):
    """Knows the benchmarks in a module, and leaves out their settings.

    Args:
        names, others, also: see `SuiteText`.
        opaque: names of classes and functions whose params show too little of their values: they
            count as they are written.
        bare: names of benchmarks whose decorators have only set attributes.
    """

    def __init__(
        self,
        names: Collection[str],
        others: Collection[str],
        also: Collection[str],
        opaque: Collection[str],
        bare: Collection[str],
    ) -> None:
        super().__init__(names, others, also, SETTINGS)
        self.opaque = opaque
        self.bare = bare
        self.read: set[str] = set()

    def apart(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        """See `SuiteText`."""
        # What the code itself reads is work, whatever asv does with it.
        self.read = {
            each.attr
            for one in statements
            for each in ast.walk(one)
            if isinstance(each, ast.Attribute) and isinstance(each.ctx, ast.Load)
        }
        kept = []
        for each in statements:
            if isinstance(each, (*FUNCTIONS, ast.ClassDef)) and each.name not in self.opaque:
                self.without_decorators(each)
            owner = owner_of(each)
            if not (owner and self.is_benchmark(owner) and self.is_setting(each, owner)):
                kept.append(each)
        return super().apart(kept)

    def without_decorators(self, node: Any) -> None:
        found = [(node.name, node)]
        if isinstance(node, ast.ClassDef):
            inner = (each for each in node.body if isinstance(each, FUNCTIONS))
            found += [(f"{node.name}.{each.name}", each) for each in inner]
        for name, each in found:
            kept = () if name in self.bare else each.decorator_list
            each.decorator_list = [one for one in kept if not is_setting(one)]

    def taken_out(self, node: ast.ClassDef) -> list[ast.stmt]:
        """See `SuiteText`."""
        self.settings = self.settings_of(node.name)
        return super().taken_out(node)

    def settings_of(self, name: str) -> Collection[str]:
        return [
            each
            for each in SETTINGS
            if each not in self.read and (name not in self.opaque or each not in PARAMS)
        ]

    def is_setting(self, node: Any, owner: str) -> bool:
        return all(target.attr in self.settings_of(owner) for target in node.targets)


def owner_of(node: ast.stmt) -> str:
    """Return the name whose attributes a statement sets, if it does nothing else; else ""."""
    targets = node.targets if isinstance(node, ast.Assign) else []
    names = {
        target.value.id
        if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name)
        else ""
        for target in targets
    }
    return names.pop() if len(names) == 1 else ""


def is_setting(decorator: ast.expr) -> bool:
    """Tell whether a decorator of asv_runner sets what is compared by value."""
    made = decorator.func if isinstance(decorator, ast.Call) else None
    name = getattr(made, "attr", getattr(made, "id", ""))
    return name in DECORATORS
