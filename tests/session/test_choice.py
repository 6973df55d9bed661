from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from benchgate.errors import UsageError
from benchgate.measure.arm import ArmName
from benchgate.measure.contract.found import DiscoveryFailure
from benchgate.session.choice import Choice, leave_out_unwanted

if TYPE_CHECKING:
    from tests.world import World

    from benchgate.session.session import Session


@pytest.mark.parametrize(
    ("globs", "tags", "wanted"),
    [
        ((), (), True),
        (("parse/*",), (), True),
        (("parse/large[n=10]",), (), True),  # brackets are no character class
        (("write/*",), (), False),
        (("write/*", "parse/*"), (), True),
        ((), ("slow",), True),
        ((), ("quick", "slow"), True),
        ((), ("quick",), False),
        (("parse/*",), ("quick",), False),
        (("write/*",), ("slow",), False),
    ],
)
def test_a_benchmark_must_match_one_of_each(
    globs: tuple[str, ...], tags: tuple[str, ...], *, wanted: bool
) -> None:
    assert Choice(globs, tags).wants("parse/large[n=10]", ["slow", "io"]) is wanted


def test_only_what_is_wanted_stays(world: World) -> None:
    session, _ = world.open({"a/x": world.fake(), "b/x": world.fake(base_s=None)})
    leave_out_unwanted(Choice(("b/*",)), session)
    assert session.ids == ("b/x",)
    assert all("a/x" not in {b.id for b in results} for results in session.results().values())


def test_an_unknown_filter_names_what_there_is(world: World) -> None:
    session, _ = world.open({"parse/large": world.fake(), "parse/small": world.fake()})
    with pytest.raises(UsageError) as caught:
        leave_out_unwanted(Choice(("parse/lrage",)), session)
    assert caught.value.message == "no benchmark matches parse/lrage; did you mean 'parse/large'?"
    assert "Available: parse/large, parse/small." in caught.value.hint


@pytest.mark.parametrize("glob", ["shop/[prs]*", "shop/[ps]arse"])
def test_a_choice_of_letters_is_none(world: World, glob: str) -> None:
    session, _ = world.open({"shop/parse": world.fake(), "shape": world.fake()})
    with pytest.raises(UsageError) as caught:
        leave_out_unwanted(Choice((glob,)), session)
    assert caught.value.message == f"no benchmark matches {glob}; `[` stands for itself"


def test_a_mistyped_parameter_is_a_typo(world: World) -> None:
    session, _ = world.open({"parse[n=10]": world.fake()})
    with pytest.raises(UsageError, match=r"did you mean 'parse\[n=10\]'"):
        leave_out_unwanted(Choice(("parse[n=11]",)), session)


def test_an_unknown_tag_names_the_tags(world: World) -> None:
    session, _ = world.open({"a": world.fake(tags=("slow",)), "b": world.fake()})
    with pytest.raises(UsageError) as caught:
        leave_out_unwanted(Choice(tags=("slwo",)), session)
    assert caught.value.message == "no benchmark matches --tag slwo; did you mean 'slow'?"
    assert "Tags: slow." in caught.value.hint


def test_many_benchmarks_are_not_all_listed(world: World) -> None:
    session, _ = world.open({f"b{i:02}": world.fake() for i in range(40)})
    with pytest.raises(UsageError) as caught:
        leave_out_unwanted(Choice(("zzz",)), session)
    assert "b08, b09 and 30 more." in caught.value.hint


def test_nothing_found_is_not_the_fault_of_the_choice(world: World) -> None:
    session, _ = world.open({})
    leave_out_unwanted(Choice(("a",)), session)


@pytest.mark.parametrize(
    ("glob", "asked_for"),
    [
        *(("words", True), ("words/count", True), ("words/*", True), ("*/count", True)),
        *(("w*", True), ("words[n=1]", True), ("word", False), ("wordsmith/*", False)),
        ("other/*", False),
    ],
)
def test_what_could_not_be_read_may_have_been_asked_for(glob: str, *, asked_for: bool) -> None:
    assert Choice((glob,)).may_want_of("words") is asked_for


def test_what_could_not_be_read_is_why_nothing_matches(world: World) -> None:
    def session_of(unread: str) -> Session:
        failure = DiscoveryFailure(ArmName.HEAD, unread, "ImportError: no numpy\nmore")
        session, _ = world.open({"parse/large": world.fake()}, failures=(failure,))
        return session

    session = session_of("words")
    leave_out_unwanted(Choice(("words/count",)), session)
    assert session.ids == ()
    assert [failure.id for failure in session.failures] == ["words"]
    with pytest.raises(UsageError) as caught:
        leave_out_unwanted(Choice(("words/count",)), session_of("text"))
    assert caught.value.details == "could not be read: text: ImportError: no numpy"
    session = session_of("text")
    leave_out_unwanted(Choice(("parse/*",)), session)
    assert session.failures == ()


@pytest.mark.parametrize(
    ("choice", "group", "may"),
    [
        (Choice(), "unit", True),
        (Choice(), None, True),
        (Choice(("unit/*",)), "unit", True),
        (Choice(("u*",)), "unit", True),
        (Choice(("unit/parse",)), "unit", True),
        (Choice(("units/parse",)), "unit", False),
        (Choice(("parse/*",)), "unit", False),
        (Choice(("parse/*",)), None, True),
        (Choice(tags=("slow",)), None, True),
        (Choice(tags=("quick",)), None, False),
        (Choice(ids=frozenset({"unit/parse"})), "unit", True),
        (Choice(ids=frozenset({"other"})), "unit", False),
        (Choice(ids=frozenset({"other"})), None, True),
    ],
)
def test_a_suite_is_left_out_only_if_it_cannot_have_what_is_wanted(
    choice: Choice, group: str | None, *, may: bool
) -> None:
    assert choice.may_want_of_suite(group, ["slow"]) is may


def test_suites_that_did_not_run_are_named(world: World) -> None:
    session, _ = world.open({})
    with pytest.raises(UsageError, match="no benchmark matches other") as caught:
        leave_out_unwanted(Choice(("other",)), session, {"unit": ()})
    assert "Available: unit." in caught.value.hint
