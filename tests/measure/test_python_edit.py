"""What is said of two texts of a Python file."""

from __future__ import annotations

import pytest

from benchgate.measure.reach.python_edit import PythonEdit

LAZY = "from __future__ import annotations\n"
WORK = "def work():\n    return 1\n"
REST = "def rest():\n    return 1\n"
CLASS = "class A:\n    def work(self):\n        return 1\n"


def between(base: str | bytes, head: str | bytes) -> PythonEdit:
    return PythonEdit.between(
        *(text if isinstance(text, bytes) else text.encode() for text in (base, head))
    )


@pytest.mark.parametrize(
    ("base", "head"),
    [
        pytest.param(WORK, f"# More.\n\n{WORK}", id="comment"),
        pytest.param("a = [1,\n 2]\n", "a = [1, 2]\n", id="format"),
        pytest.param("a = 'x'\n", 'a = "x"\n', id="quotes"),
        pytest.param("a = 1  # type: int\n", "a = 1  # type: str\n", id="type comment"),
        pytest.param("a = 1\n", "\ufeffa = 1\n", id="byte order mark"),
        pytest.param("a = 1\r\n", "a = 1\n", id="line ends"),
        pytest.param("a = 1\n", "# coding: latin-1\na = 1\n", id="encoding of ASCII"),
        pytest.param(
            "if TYPE_CHECKING:\n    import a\n", "if TYPE_CHECKING:\n    import b\n", id="types"
        ),
        pytest.param(
            "if typing.TYPE_CHECKING:\n    import a\n",
            "if typing.TYPE_CHECKING:\n    pass\n",
            id="types of a module",
        ),
        pytest.param(
            "TYPE_CHECKING = False\nif TYPE_CHECKING:\n    import a\n",
            "TYPE_CHECKING = False\nif TYPE_CHECKING:\n    import b\n",
            id="types of its own",
        ),
        pytest.param(
            "def work():\n    a: int = 1\n", "def work():\n    a: str = 1\n", id="local annotation"
        ),
    ],
)
def test_no_difference(base: str, head: str) -> None:
    assert between(base, head) == PythonEdit(
        at_top=False, functions=({}, {}), names=(frozenset(), frozenset())
    )


@pytest.mark.parametrize(
    ("base", "head"),
    [
        pytest.param("a = 1\n", "a = 2\n", id="value"),
        pytest.param("a = 1\n", "a = 1.0\n", id="type of a value"),
        pytest.param("a = lambda: 1\n", "a = lambda: 2\n", id="lambda"),
        pytest.param(WORK, WORK.replace("()", "(a=1)"), id="argument"),
        pytest.param("def a(b=1): 1\n", "def a(b=2): 1\n", id="default"),
        pytest.param(WORK, f"async {WORK}", id="coroutine"),
        pytest.param(WORK, "def work():\n    yield 1\n", id="generator"),
        pytest.param(WORK, f"@some\n{WORK}", id="decorator"),
        pytest.param("def a(b: int): 1\n", "def a(b: str): 1\n", id="annotation"),
        pytest.param(WORK, f"{LAZY}{WORK}", id="annotations are lazy"),
        pytest.param("class A:\n    a: int\n", "class A:\n    a: str\n", id="attribute"),
        pytest.param("class A: 1\n", "class A(B): 1\n", id="base"),
        pytest.param(f"a = work = 1\n{WORK}", f"{WORK}a = work = 1\n", id="order"),
        pytest.param(f"{WORK}{REST}", f"{REST}{WORK}", id="order of functions"),
        pytest.param(
            f"if a:\n    {WORK.replace('    ', '     ')}else:\n    b\n",
            f"if a:\n    pass\nelse:\n    b\n    {WORK.replace('    ', '     ')}",
            id="branch",
        ),
        pytest.param(WORK, f"{WORK}def __getattr__(a): 1\n", id="special function"),
        pytest.param(CLASS, f"{CLASS}    def __len__(self): 1\n", id="special method"),
        pytest.param(WORK, f"{WORK}@some\n{REST}", id="decorated function"),
        pytest.param(
            f"@some\n{CLASS}", f"@some\n{CLASS}    def rest(self): 1\n", id="decorated class"
        ),
        pytest.param(WORK, f"{WORK}{WORK}", id="the same name twice"),
        pytest.param(WORK, f"{WORK}def rest(a=b()): 1\n", id="call in a default"),
        pytest.param(WORK, f"{WORK}def rest(a=(b := 1)): 1\n", id="assignment in a default"),
        pytest.param(WORK, f"{WORK}def rest(a: b()): 1\n", id="call in an annotation"),
        pytest.param("'a'\nb = __doc__\n", "'b'\nb = __doc__\n", id="own docstring is read"),
        pytest.param(
            "TYPE_CHECKING = True\nif TYPE_CHECKING:\n    a\n",
            "TYPE_CHECKING = True\nif TYPE_CHECKING:\n    b\n",
            id="types are checked",
        ),
        pytest.param("if not TYPE_CHECKING: a\n", "if not TYPE_CHECKING: b\n", id="not for types"),
        pytest.param("if TYPE_CHECKING: 1\nelse: a\n", "if TYPE_CHECKING: 1\nelse: b\n", id="else"),
        pytest.param("a = (\n", "a = ((\n", id="no Python"),
        pytest.param("a = 1\n", b"a = 1\0\n", id="zero byte"),
        pytest.param("a = 1\n", b"a = '\xff'\n", id="no UTF-8"),
        pytest.param("a = 1\n", f"a = {'-' * 5000}1\n", id="nested deeply"),
        pytest.param(
            b"# coding: latin-1\na = '\xe9'\n", b"# coding: cp1251\na = '\xe9'\n", id="encoding"
        ),
    ],
)
def test_whoever_imports_it_is_affected(base: str, head: str) -> None:
    assert between(base, head).at_top


@pytest.mark.parametrize(
    ("base", "head", "edited"),
    [
        pytest.param(WORK, WORK.replace("1", "2"), {"work"}, id="value"),
        pytest.param(f"async {WORK}", f"async {WORK.replace('1', '2')}", {"work"}, id="coroutine"),
        pytest.param(CLASS, CLASS.replace("1", "2"), {"A.work"}, id="method"),
        pytest.param(
            "if a:\n  def b(): 1\nelse:\n  def b(): 2\n",
            "if a:\n  def b(): 1\nelse:\n  def b(): 3\n",
            {"b#2"},
            id="second of a name",
        ),
        pytest.param(
            "def a():\n  def b(): 1\n", "def a():\n  def b(): 2\n", {"a"}, id="inner function"
        ),
        pytest.param(
            "def a():\n  class B: c: 1\n", "def a():\n  class B: c: 2\n", {"a"}, id="inner class"
        ),
        pytest.param(
            "def a(): return lambda: 1\n", "def a(): return lambda: 2\n", {"a"}, id="inner lambda"
        ),
        pytest.param(
            "def a():\n  b.c: int = 1\n",
            "def a():\n  b.c: str = 1\n",
            {"a"},
            id="annotation of an attribute",
        ),
        pytest.param("@b\ndef a(): 1\n", "@b\ndef a(): 2\n", {"a"}, id="decorated"),
    ],
)
def test_only_functions_are_edited(base: str, head: str, edited: set[str]) -> None:
    edit = between(base, head)
    assert (edit.at_top, edit.only, edit.unlike) == (False, ((), ()), ("co_code",))
    assert [set(side) for side in edit.functions] == [edited, edited]


@pytest.mark.parametrize(
    ("base", "head", "added", "owner"),
    [
        pytest.param(WORK, f"{WORK}{REST}", "rest", "", id="last"),
        pytest.param(WORK, f"{REST}{WORK}", "rest", "", id="first"),
        pytest.param(CLASS, f"{CLASS}    def rest(self): 1\n", "rest", "A", id="method"),
        pytest.param(
            CLASS, f"{CLASS}    @property\n    def rest(self): 1\n", "rest", "A", id="property"
        ),
        pytest.param(
            f"{LAZY}{WORK}", f"{LAZY}{WORK}def rest(a: b()): 1\n", "rest", "", id="lazy annotation"
        ),
        pytest.param(
            f"@dataclass(slots=True)\n{CLASS}",
            f"@dataclass(slots=True)\n{CLASS}    def rest(self): 1\n",
            "rest",
            "A",
            id="dataclass",
        ),
    ],
)
def test_a_function_that_one_side_has(base: str, head: str, added: str, owner: str) -> None:
    one, other = between(base, head), between(head, base)
    for edit, side in ((one, 0), (other, 1)):
        assert not edit.at_top
        assert [(each.name, each.owner) for each in edit.only[side]] == [(added, owner)]
        assert edit.only[1 - side] == ()
        assert edit.functions[side] == {}


@pytest.mark.parametrize(
    ("base", "head", "unlike"),
    [
        pytest.param("def a():\n  'b'\n", "def a():\n  'c'\n", "__doc__", id="docstring"),
        pytest.param("'a'\n", "'b'\n", "__doc__", id="docstring of a module"),
        pytest.param(
            f"{LAZY}def a(b: int): 1\n",
            f"{LAZY}def a(b: str): 1\n",
            "__annotations__",
            id="lazy annotation",
        ),
        pytest.param(
            f"{LAZY}def a(): 1\n", f"{LAZY}def a() -> str: 1\n", "__annotations__", id="lazy result"
        ),
    ],
)
def test_what_matters_only_to_code_that_reads_it(base: str, head: str, unlike: str) -> None:
    edit = between(base, head)
    assert (edit.at_top, edit.functions, edit.unlike) == (False, ({}, {}), (unlike,))


def test_which_function_a_line_is_in() -> None:
    edit = between(
        "def kept(): 1\n\n@b\ndef work():\n    def a():\n        1\n\ndef gone(): 1\n",
        "def new(): 1\n\ndef kept(): 1\n\n@b\ndef work():\n    def a():\n        2\n",
    )
    assert [edit.ran(0, line) for line in range(1, 9)] == [
        *(None, None),
        *[("work", "edited")] * 4,
        *(None, ("gone", "removed")),
    ]
    assert [edit.ran(1, line) for line in range(1, 9)] == [
        *(("new", "added"), None, None, None),
        *[("work", "edited")] * 4,
    ]
