"""Changes that add or remove functions, for which code that runs may look."""

from tests.session.changes.change import Change, edited

_IDLE = "def idle():\n    return 1\n"
_CLASS = "class A:\n    def idle(self):\n        return 1\n"


def _function(name: str, body: str, new: str = "new_ROW", why: str = "ROW") -> Change:
    """A benchmark that may look for a new function."""
    return edited(name, body, _IDLE, f"{_IDLE}def {new}():\n    return 1\n", why)


def _method(
    name: str, body: str, new: str = "new_ROW", start: str = _CLASS, why: str = "ROW"
) -> Change:
    """A benchmark that may look for a new method."""
    start, body = start.replace("class A", "class A_ROW"), body.replace("ROW.A", "ROW.A_ROW")
    return edited(name, body, start, f"{start}    def {new}(self, *a):\n        return 1\n", why)


NAMES = (
    _function("has", "import ROW\nhasattr(ROW, 'new_ROW')"),
    _function("get", "import ROW\ngetattr(ROW, 'new_ROW', None)"),
    _function("composed", "import ROW\ngetattr(ROW, 'new_' + __name__[:0] + 'ROW', None)"),
    _function("formatted", "import ROW\na = 'ROW'\ngetattr(ROW, f'new_{a}', None)"),
    _function(
        "short_prefix",
        "import ROW\ngetattr(ROW, 'n' + ROW.__name__[:0] + 'ew' + '_' + ROW.__name__, None)",
    ),
    _function("infix", "import ROW\na = 'n'\ngetattr(ROW, f'{a}ew_r_in{a[:0]}fix', None)"),
    _function("uppercase", "import ROW\ngetattr(ROW, 'NEW_ROW'.lower(), None)"),
    Change(
        "from_data",
        "import ROW\nhasattr(ROW, open(TOP + '/ROW.txt').read())",
        {"ROW.py": _IDLE, "ROW.txt": "fresh"},
        {"ROW.py": f"{_IDLE}def fresh(): pass\n"},
        "fresh",
    ),
    Change(
        "in_globals",
        "import ROW\nROW.idle(open(TOP + '/ROW.txt').read())",
        {"ROW.py": "def idle(a):\n    return globals().get(a)\n", "ROW.txt": "fresh_g"},
        {"ROW.py": "def idle(a):\n    return globals().get(a)\ndef fresh_g(): pass\n"},
        "fresh_g",
    ),
    _function("dir_of", "import ROW\ndir(ROW)"),
    _function("vars_of", "import ROW\nvars(ROW)"),
    _function("members", "import inspect\nimport ROW\ninspect.getmembers(ROW)"),
    _function("dict_of", "import ROW\nlen(ROW.__dict__)"),
    Change(
        "star_names",
        "import ROW_a\nROW_a.count()",
        {
            "ROW.py": _IDLE,
            "ROW_a.py": "from ROW import *\ndef count():\n    return len(globals())\n",
        },
        {"ROW.py": f"{_IDLE}def new_ROW(): pass\n"},
        "new_ROW",
    ),
    _function("imported_name", "try:\n    from ROW import new_ROW\nexcept ImportError:\n    pass"),
    _function(
        "attrgetter",
        "import operator\nimport ROW\ntry:\n    operator.attrgetter('NEW_ROW'.lower())"
        "(ROW)\nexcept AttributeError:\n    pass",
    ),
    _method("has_method", "import ROW\nhasattr(ROW.A(), 'new_ROW')"),
    _method("tried", "import ROW\ntry:\n    ROW.A().new_ROW()\nexcept AttributeError:\n    pass"),
    _method("dir_class", "import ROW\ndir(ROW.A())"),
    _method("dict_of_class", "import ROW\nlen(ROW.A.__dict__)"),
    _method("mock", "from unittest.mock import MagicMock\nimport ROW\nMagicMock(spec=ROW.A)"),
    _method(
        "attribute_by_type",
        "import ROW\ngetattr(ROW.A(), type(ROW.A()).__name__.lower() + 'z', 0)",
        "a_ROWz",
    ),
    _method("equal", "import ROW\nROW.A() == 1", "__eq__"),
    _method("hash", "import ROW\nhash(ROW.A())", "__hash__"),
    _method("length", "import ROW\nbool(ROW.A())", "__len__"),
    _method("bool", "import ROW\nbool(ROW.A())", "__bool__"),
    _method("any_attribute", "import ROW\nhasattr(ROW.A(), 'x')", "__getattr__"),
    _method(
        "visitor",
        "import ast\nimport ROW\nROW.A().visit(ast.parse('a'))",
        "visit_Name",
        "import ast\nclass A(ast.NodeVisitor):\n    a = 1\n",
    ),
    _method(
        "encoder",
        "import json\nimport ROW\ntry:\n    json.dumps({1}, cls=ROW.A)\n"
        "except TypeError:\n    pass",
        "default",
        "import json\nclass A(json.JSONEncoder):\n    a = 1\n",
    ),
    _method(
        "thread_run",
        "import ROW\na = ROW.A()\na.start()\na.join()",
        "run",
        "import threading\nclass A(threading.Thread):\n    a = 1\n",
    ),
    _method(
        "handler",
        "import logging\nimport ROW\nROW.A().handle(logging.makeLogRecord({}))",
        "emit",
        "import logging\nclass A(logging.NullHandler):\n    a = 1\n",
    ),
    _method("missing_key", "import ROW\nROW.A().get(1)", "get", "class A(dict):\n    a = 1\n"),
    _method("keys", "import ROW\ntry:\n    dict(ROW.A())\nexcept TypeError:\n    pass", "keys"),
    _method(
        "copied_file",
        "import shutil\nimport ROW\ntry:\n    shutil.copyfileobj(ROW.A(), None)\n"
        "except AttributeError:\n    pass",
        "read",
    ),
    _method(
        "overrides",
        "import ROW\nROW.A().work()",
        "work",
        "class B:\n    def work(self): return 2\nclass A(B):\n    a = 1\n",
    ),
    _method(
        "protocol",
        "import ROW\nisinstance(ROW.A(), ROW.P)",
        "close_it",
        "from typing import Protocol, runtime_checkable\n@runtime_checkable\nclass P(Protocol):\n"
        "    def close_it(self): ...\nclass A:\n    a = 1\n",
    ),
    _method(
        "of_metaclass",
        "import ROW",
        "new_ROW",
        "class M(type):\n    def __new__(m, n, b, d):\n"
        "        return super().__new__(m, n, b, {k: d[k] for k in d})\nclass A(metaclass=M):\n"
        "    a = 1\n",
    ),
    _method(
        "of_subclass_hook",
        "import ROW",
        "new_ROW",
        "class B:\n    def __init_subclass__(c):\n"
        "        c.n = len(c.__dict__)\nclass A(B):\n    a = 1\n",
    ),
    _method(
        "decorated_class",
        "import ROW",
        "new_ROW",
        "def d(c):\n    c.n = len(vars(c))\n    return c\n@d\nclass A:\n    a = 1\n",
    ),
    _method(
        "enum_member", "import ROW", "new_ROW", "import enum\nclass A(enum.Enum):\n    a = 1\n"
    ),
    edited(
        "removed_name",
        "import ROW\nhasattr(ROW, 'gone_ROW')",
        f"{_IDLE}def gone_ROW(): pass\n",
        _IDLE,
        "gone_ROW",
    ),
    edited(
        "removed_method",
        "import ROW\nROW.A().work()",
        "class B:\n    def work(self): return 2\n"
        "class A(B):\n    a = 1\n    def work(self): return 1\n",
        "class B:\n    def work(self): return 2\nclass A(B):\n    a = 1\n",
    ),
    edited("call_in_default", "import ROW", _IDLE, f"{_IDLE}def fresh_d(a=print()): pass\n"),
    edited("walrus_in_default", "import ROW", _IDLE, f"{_IDLE}def fresh_w(a=(idle := 1)): pass\n"),
    edited("call_in_annotation", "import ROW", _IDLE, f"{_IDLE}def fresh_a(a: print()): pass\n"),
)
