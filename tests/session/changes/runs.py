"""Changes of functions that run, in every way in which Python runs one."""

import re

from tests.session.changes.change import Change, edited

_WORK = "def work():\n    return 1\n"
_WORK_2 = "def work():\n    return 2\n"


def _two(name: str, body: str, text: str, why: str = "ROW.py") -> Change:
    """A module in which `@` is another number on each side."""
    one, other = (re.sub("@(?![a-z])", number, text) for number in "12")
    return edited(name, body, one, other, why)


RUNS = (
    edited("work", "import ROW\nROW.work()", _WORK, _WORK_2, "runs `work` of ROW.py, edited"),
    edited(
        "added_twin",
        "from ROW import work\nwork()",
        "from os import getpid as work\n",
        "from os import getpid as work\n" + _WORK,
        "`work`",
    ),
    edited(
        "reordered",
        "import ROW\nROW.work()",
        f"from os import getpid as work\n{_WORK}",
        f"{_WORK}from os import getpid as work\n",
    ),
    edited(
        "moved_in_if",
        "import ROW\nROW.work()",
        f"FAST = 1\n{_WORK}if not FAST:\n    A = 1\n    def work():\n        return 3\n",
        "FAST = 1\nif not FAST:\n    A = 1\n    def work():\n"
        "        return 1\ndef work():\n    return 3\n",
    ),
    edited(
        "other_branch",
        "import ROW\nROW.work()",
        "import os as work\nif 1:\n    def work():\n        return 1\nelse:\n    A = 1\n",
        "import os as work\nif 1:\n    pass\nelse:\n    A = 1\n    def work():\n        return 1\n",
    ),
    edited(
        "decorator",
        "import ROW\nROW.work()",
        f"import functools\n{_WORK}",
        f"import functools\n@functools.cache\n{_WORK}",
    ),
    _two(
        "decorator_argument",
        "import ROW",
        "def d(n):\n    return lambda f: f\n@d(@)\ndef w(): pass\n",
    ),
    _two("default", "import ROW\nROW.w()", "def w(a=@): pass\n"),
    _two("keyword_default", "import ROW", "def w(*, a=@): pass\n"),
    _two("class_attribute", "import ROW", "class A:\n    a = @\n"),
    _two("base_class", "import ROW", "class A1: pass\nclass A2: pass\nclass B(A@): pass\n"),
    _two(
        "subclass_hook",
        "import ROW",
        "class A:\n    def __init_subclass__(cls): cls.n = @\nclass B(A): pass\n",
    ),
    _two(
        "metaclass",
        "import ROW",
        "class M(type):\n    def __new__(m, *a):\n        "
        "return super().__new__(m, *a) if @ else 0\nclass B(metaclass=M): pass\n",
    ),
    _two(
        "metaclass_call",
        "import ROW\nROW.B()",
        "class M(type):\n    def __call__(c):\n        return @\nclass B(metaclass=M): pass\n",
    ),
    _two(
        "set_name",
        "import ROW",
        "class D:\n    def __set_name__(self, o, n): self.n = @\nclass B:\n    d = D()\n",
    ),
    _two("lambda_above", "import ROW", "f = lambda: @\n"),
    _two("lambda_inside", "import ROW\nROW.f()", "def f():\n    return [lambda: @]\n"),
    _two("list_above", "import ROW", "a = [n + @ for n in [1]]\n"),
    _two("list_inside", "import ROW\nROW.f()", "def f():\n    return [n + @ for n in [1]]\n"),
    _two(
        "nested",
        "import ROW\nROW.f()",
        "def f():\n    def g():\n        return @\n    return g()\n",
    ),
    _two("class_inside", "import ROW\nROW.f()", "def f():\n    class A:\n        a = @\n"),
    _two("matched", "import ROW\nROW.f(1)", "def f(a):\n    match a:\n        case @: return 1\n"),
    _two("walrus", "import ROW\nROW.f()", "def f():\n    return (a := @)\n"),
    _two(
        "conditional",
        "import ROW\nROW.f()",
        "import sys\nif sys.version_info > (3,):\n    def f():"
        "\n        return @\nelse:\n    def f():\n        return 0\n",
    ),
    _two("conditional_test", "import ROW", "if 0 < @ < 2:\n    def f(): pass\n"),
    edited(
        "property",
        "import ROW\nROW.A().p",
        "class A:\n    @property\n    def p(self): return 1\n",
        "class A:\n    @property\n    def p(self): return 2\n",
    ),
    _two(
        "descriptor",
        "import ROW\nROW.A().d",
        "class D:\n    def __get__(s, o, c): return @\nclass A:\n    d = D()\n",
    ),
    _two("operator", "import ROW\nROW.A() + 1", "class A:\n    def __add__(s, o): return @\n"),
    _two("hashed", "import ROW\n{ROW.A()}", "class A:\n    def __hash__(s): return @\n"),
    _two("module_getattr", "import ROW\nROW.anything", "def __getattr__(n): return @\n"),
    _two("deleted", "import ROW\nROW.A()", "class A:\n    def __del__(s): return @\n"),
    _two(
        "deleted_in_cycle", "import ROW\na = ROW.A()\na.a = a", "class A:\n    def __del__(s): @\n"
    ),
    _two(
        "weak_callback",
        "import weakref\nimport ROW\na = ROW.A()\nr = weakref.ref(a, ROW.f)\ndel a",
        "class A: pass\ndef f(r): return @\n",
    ),
    _two(
        "finalized",
        "import weakref\nimport ROW\na = ROW.A()\nweakref.finalize(a, ROW.f)\ndel a",
        "class A: pass\ndef f(): return @\n",
    ),
    _two("at_exit", "import ROW", "import atexit\ndef f(): return @\natexit.register(f)\n"),
    _two(
        "context",
        "import ROW\nwith ROW.A(): pass",
        "class A:\n    def __enter__(s): pass\n    def __exit__(s, *a): return @\n",
    ),
    _two("generator", "import ROW\nlist(ROW.f())", "def f():\n    yield @\n"),
    _two(
        "generator_closed",
        "import ROW\na = ROW.f()\nnext(a)",
        "def f():\n    try:\n        yield 0\n    finally:\n        @\n",
    ),
    _two(
        "coroutine", "import asyncio\nimport ROW\nasyncio.run(ROW.f())", "async def f(): return @\n"
    ),
    _two(
        "async_generator",
        "import asyncio\nimport ROW\nasync def g():\n    async for _ in ROW.f():\n"
        "        pass\nasyncio.run(g())",
        "async def f():\n    yield @\n",
    ),
    _two(
        "in_executor",
        "import asyncio\nimport ROW\nasync def g():\n    await asyncio.to_thread(ROW.f)"
        "\nasyncio.run(g())",
        "def f(): return @\n",
    ),
    _two(
        "pool",
        "from concurrent.futures import ThreadPoolExecutor as P\nimport ROW\nwith P(1) as p:\n"
        "    p.submit(ROW.f).result()",
        "def f(): return @\n",
    ),
    _two(
        "thread",
        "import threading\nimport ROW\nt = threading.Thread(target=ROW.f)\nt.start()\nt.join()",
        "def f(): return @\n",
    ),
    _two(
        "raw_thread",
        "import _thread\nimport time\nimport ROW\nl = _thread.allocate_lock()\nl.acquire()\n"
        "def g():\n    ROW.f()\n    l.release()\n_thread.start_new_thread(g, ())\nl.acquire()\n"
        "time.sleep(0.01)",
        "def f(): return @\n",
        "thread",
    ),
    _two(
        "later_thread",
        "import threading, time\nimport ROW\ndef g():\n    time.sleep(60)\n    ROW.f()\n"
        "threading.Thread(target=g, daemon=True).start()",
        "def f(): return @\n",
        "leaves threads",
    ),
    _two(
        "signalled",
        "import signal\nimport ROW\nsignal.signal(signal.SIGUSR1, ROW.f)\n"
        "signal.raise_signal(signal.SIGUSR1)",
        "def f(*a): return @\n",
        "signal",
    ),
    _two("sorted_by", "import ROW\nsorted([1, 2], key=ROW.f)", "def f(a): return a * @\n"),
    _two(
        "dispatched",
        "import ROW\nROW.f(1)",
        "import functools\n@functools.singledispatch\ndef f(a): "
        "pass\n@f.register(int)\ndef _(a): return @\n",
    ),
    edited(
        "registered",
        "import ROW\nROW.f(1)",
        "import functools\n@functools.singledispatch\ndef f(a): pass\n",
        "import functools\n@functools.singledispatch\ndef f(a): pass\n"
        "@f.register(int)\ndef _(a): pass\n",
    ),
    edited(
        "registered_for",
        "import ROW\nROW.f(1)",
        "from __future__ import annotations\nimport "
        "functools\n@functools.singledispatch\ndef f(a): pass\n@f.register\ndef _(a: int): pass\n",
        "from __future__ import annotations\nimport functools\n@functools.singledispatch\n"
        "def f(a): pass\n@f.register\ndef _(a: str): pass\n",
    ),
    _two(
        "cached", "import ROW\nROW.f()", "import functools\n@functools.cache\ndef f(): return @\n"
    ),
    _two(
        "partial", "import functools\nimport ROW\nfunctools.partial(ROW.f)()", "def f(): return @\n"
    ),
    _two(
        "dataclass_default",
        "import ROW",
        "import dataclasses\n@dataclasses.dataclass\nclass A:\n    a: int = @\n",
    ),
    edited(
        "dataclass_kind",
        "import ROW\nROW.A(1)",
        "import dataclasses\nfrom typing import ClassVar\n"
        "@dataclasses.dataclass\nclass A:\n    a: int\n    b: int = 1\n",
        "import dataclasses\nfrom typing import ClassVar\n@dataclasses.dataclass\nclass A:\n"
        "    a: int\n    b: ClassVar[int] = 1\n",
    ),
    edited(
        "type_hints",
        "import typing\nimport ROW\ntyping.get_type_hints(ROW.f)",
        "from __future__ import annotations\ndef f(a: int): pass\n",
        "from __future__ import annotations\ndef f(a: str): pass\n",
        "ROW",
    ),
    edited(
        "own_annotations",
        "import ROW\nROW.f.__annotations__",
        "from __future__ import annotations\ndef f(a: int): pass\n",
        "from __future__ import annotations\ndef f(a: str): pass\n",
        "ROW",
    ),
    edited(
        "signature",
        "import inspect\nimport ROW\ninspect.signature(ROW.f)",
        "from __future__ import annotations\ndef f(a: int): pass\n",
        "from __future__ import annotations\ndef f(a: str): pass\n",
        "ROW",
    ),
    edited("annotated_now", "import ROW", "def f(a: int): pass\n", "def f(a: str): pass\n"),
    edited(
        "own_text",
        "import ROW\nlen(ROW.f.__doc__)",
        "def f():\n    'one'\n",
        "def f():\n    'two'\n",
        "ROW",
    ),
    edited(
        "text_in_module", "import ROW", "'one'\nA = len(__doc__)\n", "'two'\nA = len(__doc__)\n"
    ),
    edited(
        "got_text",
        "import inspect\nimport ROW\ninspect.getdoc(ROW.f)",
        "def f():\n    'one'\n",
        "def f():\n    'two'\n",
        "ROW",
    ),
    Change(
        "text_elsewhere",
        "import ROW_a",
        {"ROW.py": "def f():\n    'one'\n", "ROW_a.py": "import ROW\nA = len(ROW.f.__doc__)\n"},
        {"ROW.py": "def f():\n    'two'\n"},
        "ROW",
    ),
    edited(
        "its_code",
        "import dis\nimport ROW\nlist(dis.get_instructions(ROW.f))",
        "def f(): return 1\n",
        "def f(): return a\n",
        "ROW",
    ),
    _two(
        "named_tuple", "import ROW", "import collections\nA = collections.namedtuple('A', 'a@')\n"
    ),
    _two("enumeration", "import ROW", "import enum\nclass A(enum.Enum):\n    a = @\n"),
    _two("generated", "import ROW\nROW.f()", "exec('def f(): return @')\n"),
    edited(
        "generator_now",
        "import inspect\nimport ROW\ninspect.isgeneratorfunction(ROW.f)",
        "def f():\n    return 1\n",
        "def f():\n    yield 1\n",
    ),
    edited(
        "type_comment",
        "import ROW\nROW.f()",
        "def f():\n    a = 1  # type: int\n",
        "def f():\n    a = 2  # type: int\n",
    ),
    edited(
        "slots",
        "import ROW",
        "class A:\n    __slots__ = ('a',)\n",
        "class A:\n    __slots__ = ('a', 'b')\n",
    ),
    edited(
        "checking_is_on",
        "import ROW",
        "TYPE_CHECKING = True\nif TYPE_CHECKING:\n    A = 1\n",
        "TYPE_CHECKING = True\nif TYPE_CHECKING:\n    A = 2\n",
    ),
    edited(
        "forked",
        "import ROW\npid = os.fork()\nif not pid:\n    ROW.f()\n    os._exit(0)\n"
        "os.waitpid(pid, 0)",
        "def f(): return 1\n",
        "def f(): return 2\n",
        "forks",
    ),
    edited(
        "forked_pool",
        "import multiprocessing as m\nimport ROW\np = m.get_context('fork').Process("
        "target=ROW.f)\np.start()\np.join()",
        "def f(): return 1\n",
        "def f(): return 2\n",
        "forks",
    ),
)
