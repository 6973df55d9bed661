from __future__ import annotations

import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchgate.load.drivers.mysql import DIALECT as MYSQL
from benchgate.load.drivers.postgresql import DIALECT as POSTGRESQL
from benchgate.load.drivers.sql_text import Dialect, ParamStyle, names_in, pieces, split, translated
from benchgate.load.drivers.sqlite import DIALECT as SQLITE

ALL = pytest.mark.parametrize("dialect", [SQLITE, POSTGRESQL, MYSQL])


@pytest.mark.parametrize(
    ("style", "text"),
    [
        ("named", "SELECT :a, :b, :a, '%'"),
        ("pyformat", "SELECT %(a)s, %(b)s, %(a)s, '%%'"),
    ],
)
def test_each_style_of_parameters(style: ParamStyle, text: str) -> None:
    assert translated("SELECT :a, :b, :a, '%'", style, SQLITE) == (text, True)


def test_a_text_without_parameters_is_left_alone() -> None:
    text = "SELECT 1 % 2 -- 100 %"
    assert translated(text, "pyformat", POSTGRESQL) == (text, False)


@ALL
@pytest.mark.parametrize(
    "text",
    [
        "SELECT ':a'",
        "SELECT 'it''s :a'",
        'SELECT ":a"',
        "SELECT `:a`",
        "SELECT 1 -- :a\n",
        "SELECT /* :a */ 1",
        "SELECT 1 -- :a",
        "SELECT /* :a",
        "SELECT ':a",
        "SELECT '12:30'",
        "SELECT x::text",
        "SELECT (x)::numeric(3)",
        "SELECT @n := 1",
        "SELECT arr[1:2]",
        "SELECT arr[x:y]",
    ],
)
def test_what_is_no_parameter(text: str, dialect: Dialect) -> None:
    assert names_in(text, dialect) == frozenset()
    assert translated(text, "pyformat", dialect) == (text, False)


@ALL
@pytest.mark.parametrize(
    "text",
    [
        "SELECT :a",
        ":a",
        "SELECT ':b' || :a",
        "SELECT(:a)",
        "x=:a;",
        "SELECT :a::int",
        "SELECT 'x'::text, :a",
        "SELECT 'it''s' , :a -- :b",
        "SELECT 'a'/* :b */, :a",
        "SELECT 'a' -- it's :b\n, :a",
    ],
)
def test_what_is_a_parameter(text: str, dialect: Dialect) -> None:
    assert names_in(text, dialect) == {"a"}


@pytest.mark.parametrize(
    ("dialect", "text", "names"),
    [
        (POSTGRESQL, "SELECT $$ :b $$, :a", {"a"}),
        (POSTGRESQL, "SELECT $x$ $$ :b $x$, :a", {"a"}),
        (POSTGRESQL, "SELECT $1, '$', :a", {"a"}),
        (POSTGRESQL, "/* /* :b */ :c */ SELECT :a", {"a"}),
        (POSTGRESQL, r"SELECT 'C:\', :a", {"a"}),
        (POSTGRESQL, r"SELECT E'\' :b', :a", {"a"}),
        (POSTGRESQL, "SELECT '{}'::jsonb #> :a", {"a"}),
        (MYSQL, r"SELECT 'it\'s :b', :a", {"a"}),
        (MYSQL, "SELECT 1 # :b\n, :a", {"a"}),
        (MYSQL, "/* /* :b */ SELECT :a", {"a"}),
        (SQLITE, r"SELECT 'C:\', :a", {"a"}),
    ],
)
def test_dialects(dialect: Dialect, text: str, names: set[str]) -> None:
    assert names_in(text, dialect) == names


@ALL
def test_statements_are_split(dialect: Dialect) -> None:
    text = """
    -- tables; all of them
    CREATE TABLE a (x TEXT DEFAULT ';');
    ; /* nothing; here */ ;
    INSERT INTO a VALUES ('1;2'), ("3;4")
    ;
    SELECT 1 -- the end;
    """
    first, second, third = split(text, dialect)
    assert first.endswith("CREATE TABLE a (x TEXT DEFAULT ';')")
    assert second.endswith("""VALUES ('1;2'), ("3;4")""")
    assert third.startswith("SELECT 1")


@ALL
@pytest.mark.parametrize("text", ["", ";", " ;\n; ", "-- nothing", "/* nothing */;"])
def test_there_may_be_no_statement(text: str, dialect: Dialect) -> None:
    assert split(text, dialect) == ()


def test_a_trigger_of_sqlite_is_one_statement() -> None:
    trigger = "CREATE TRIGGER t AFTER INSERT ON a BEGIN DELETE FROM b; DELETE FROM c; END"
    found = split(f"CREATE TABLE a (x); {trigger}; SELECT 1", SQLITE)
    assert found == ("CREATE TABLE a (x)", trigger, "SELECT 1")


def test_a_function_of_postgresql_is_one_statement() -> None:
    function = (
        "CREATE FUNCTION f() RETURNS int AS $body$ BEGIN; RETURN 1; END $body$ LANGUAGE plpgsql"
    )
    assert split(f"{function};\nSELECT f()", POSTGRESQL) == (function, "SELECT f()")


def test_a_procedure_of_mysql_has_a_delimiter() -> None:
    procedure = "CREATE PROCEDURE p() BEGIN SELECT 1; SELECT '//'; END"
    text = f"SELECT 1;\nDELIMITER //\n{procedure} //\nSELECT 2//\ndelimiter ;\nSELECT 3;"
    assert split(text, MYSQL) == ("SELECT 1", procedure, "SELECT 2", "SELECT 3")


TEXTS = st.lists(
    st.sampled_from(
        ["'", '"', "`", "--", "/*", "*/", "\n", ";", ":a", "::", "$$", "$x$", "\\", "#", "%", " b "]
    ),
    max_size=25,
).map("".join)


@given(TEXTS, st.sampled_from([SQLITE, POSTGRESQL, MYSQL]))
def test_the_pieces_are_the_text(text: str, dialect: Dialect) -> None:
    assert "".join(piece.text for piece in pieces(text, dialect)) == text


# $x is a parameter of SQLite, too; and :a:: is one with that name, for Tcl.
@given(TEXTS.filter(lambda text: "$" not in text and ":a::" not in text))
def test_sqlite_finds_the_same_parameters(text: str) -> None:
    """SQLite itself says how many parameters there are."""
    database = sqlite3.connect(":memory:")
    names = names_in(f"SELECT 1 {text}", SQLITE)
    try:
        database.execute(f"EXPLAIN SELECT 1 {text}", dict.fromkeys(names, 1))
    except sqlite3.OperationalError:
        return  # it is not SQL
    except sqlite3.ProgrammingError as error:
        if "supply a value" in str(error):
            raise
    finally:
        database.close()
