"""Changes that reach no benchmark."""

from tests.session.changes.change import Change, edited

_CALL = "import ROW\nROW.work()"
_WORK = "def work():\n    return 1\n"
_OTHER = "def other():\n    return 1\n"
_CLASS = "class A:\n    def work(self):\n        return 1\n    def other(self):\n        return 1\n"


def _file(name: str, path: str, body: str = _CALL) -> Change:
    return Change(
        name, body, {"ROW.py": _WORK, f"{path}.old": "a"}, {f"{path}.old": "b", path: "c"}
    )


def _edit(name: str, base: str, head: str, body: str = _CALL) -> Change:
    return edited(name, body, base, head, "")


FILES = (
    _file("documents", "docs/ROW.md"),
    _file("workflow", ".github/ROW.yml"),
    _file("test_beside", "tests/test_ROW.py"),
    _file("log", "ROW_CHANGELOG.md"),
    _file("not_imported", "ROW_other.py"),
    _file("in_package", "ROW_package/module.py"),
    _file("not_opened", "ROW_data/data.json"),
    _file("broken_elsewhere", "ROW_broken.py"),
    Change("removed", _CALL, {"ROW.py": _WORK, "ROW_gone/a.py": ""}, {"ROW_gone/a.py": None}),
    Change(
        "data_beside",
        f"{_CALL}\nopen(TOP + '/ROW_d/a').read()",
        {"ROW.py": _WORK, "ROW_d/a": "", "ROW_d/b": "1"},
        {"ROW_d/b": "2"},
    ),
    Change("listed_names", "os.listdir(TOP + '/ROW_d')", {"ROW_d/b": "1"}, {"ROW_d/b": "2"}),
    Change(
        "plain_import", "import json\njson.dumps([1])", {"ROW.py": _WORK}, {"ROW.py": "A = 2\n"}
    ),
)
EDITS = (
    _edit("comment", _WORK, f"# A comment.\n{_WORK}"),
    _edit("comment_inside", _WORK, "def work():\n    # A comment.\n    return 1\n"),
    _edit("docstring", _WORK, "def work():\n    'Text.'\n    return 1\n"),
    _edit("docstring_changed", f"'One.'\n{_WORK}", f"'Two.'\n{_WORK}"),
    _edit("class_docstring", f"class A:\n    'One.'\n{_WORK}", f"class A:\n    'Two.'\n{_WORK}"),
    _edit("format", "A = [1,\n  2]\n" + _WORK, "A = [1, 2]\n\n\n" + _WORK),
    _edit("quotes", f"A = 'a'\n{_WORK}", f'A = "a"\n{_WORK}'),
    _edit(
        "types_only",
        f"from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import a\n{_WORK}",
        f"from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import b\n{_WORK}",
    ),
    _edit(
        "lazy_annotation",
        f"from __future__ import annotations\n{_WORK}",
        "from __future__ import annotations\ndef work() -> int:\n    return 1\n",
    ),
    _edit(
        "local_annotation",
        "def work():\n    a = 1\n    b: int = 2\n",
        "def work():\n    a = 1\n    b: str = 2\n",
    ),
    _edit("other_function", _WORK + _OTHER, _WORK + _OTHER.replace("1", "2")),
    _edit("other_method", _CLASS, _CLASS[:-2] + "2\n", "import ROW\nROW.A().work()"),
    _edit(
        "other_property",
        _CLASS.replace("    def other", "    @property\n    def other"),
        _CLASS[:-2].replace("    def other", "    @property\n    def other") + "2\n",
        "import ROW\nROW.A().work()",
    ),
    _edit("new_function", _WORK, f"{_WORK}def help_ROW():\n    return 1\n"),
    _edit("new_first", _WORK, f"def help_ROW():\n    return 1\n{_WORK}"),
    _edit(
        "new_method",
        _CLASS,
        f"{_CLASS}    def help_ROW(self):\n        return 1\n",
        "import ROW\nROW.A().work()",
    ),
    _edit(
        "new_in_abstract",
        f"import abc\n{_CLASS.replace('A:', 'A(abc.ABC):')}",
        f"import abc\n{_CLASS.replace('A:', 'A(abc.ABC):')}    def help_ROW(self): pass\n",
        "import ROW\nROW.A()",
    ),
    _edit(
        "new_in_generic",
        "from typing import *\nT = TypeVar('T')\nclass A(Generic[T]):\n    a = 1\n",
        "from typing import *\nT = TypeVar('T')\nclass A(Generic[T]):\n    a = 1\n"
        "    def help_ROW(self): pass\n",
        "import ROW\nROW.A()",
    ),
    _edit(
        "new_in_dataclass",
        "import dataclasses\n@dataclasses.dataclass\nclass A:\n    a: int = 1\n",
        "import dataclasses\n@dataclasses.dataclass\nclass A:\n    a: int = 1\n"
        "    def help_ROW(self): pass\n",
        "import ROW\nROW.A()",
    ),
    _edit(
        "new_in_error",
        "class A(ValueError):\n    a = 1\n",
        "class A(ValueError):\n    a = 1\n    def help_ROW(self): pass\n",
        "import ROW\nROW.A()",
    ),
    _edit("removed_function", f"{_WORK}def help_ROW(): pass\n", _WORK),
    _edit(
        "in_thread",
        _WORK + _OTHER,
        _WORK + _OTHER.replace("1", "2"),
        "import threading\nimport ROW\nt = threading.Thread(target=ROW.work)\nt.start()\nt.join()",
    ),
    _edit(
        "nested_idle",
        _WORK + "def other():\n    def a():\n        return 1\n",
        _WORK + "def other():\n    def a():\n        return 2\n",
    ),
    _edit(
        "resolved_path",
        f"from pathlib import Path\nTOP = Path(__file__).resolve().parent\n{_WORK}{_OTHER}",
        f"from pathlib import Path\nTOP = Path(__file__).resolve().parent\n{_WORK}"
        f"{_OTHER.replace('1', '2')}",
    ),
    _edit(
        "generator_idle",
        _WORK + "def other():\n    yield 1\n",
        _WORK + "def other():\n    yield 2\n",
    ),
    _edit(
        "wrapped",
        f"import functools\n{_OTHER}@functools.wraps(len)\n{_WORK}",
        f"import functools\n{_OTHER.replace('1', '2')}@functools.wraps(len)\n{_WORK}",
    ),
)
