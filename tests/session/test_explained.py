from __future__ import annotations

from pathlib import Path

import pytest

from benchgate.measure.arm import Arm, ArmName
from benchgate.measure.contract.found import Definition, Discovery, DiscoveryFailure
from benchgate.measure.contract.observation import Observation
from benchgate.model.run import Tier
from benchgate.session.explainer import Explainer

BASE, HEAD = ArmName.BASE, ArmName.HEAD
PLACE = Path("/var/t/benchgate-abcdefgh")
ARMS = [
    Arm(BASE, PLACE / "00000000" / "project", PLACE / "00000000-env"),
    Arm(HEAD, PLACE / "11111111" / "project", PLACE / "11111111-env"),
]
WARNING = "WARNING: attrs 25.4.0 does not provide the extra 'benchmark'"
WARNED = f"\n[build] warned:\n{WARNING}"
EXPLAINER = Explainer(ARMS, {BASE: (), HEAD: (WARNING,)})


def observed(error: str, arm: ArmName = HEAD, *, skipped: bool = False) -> str:
    one = Observation(arm, "b", 0, error=error, skipped=skipped)
    return EXPLAINER.observation(one).error or ""


def unread(*failures: DiscoveryFailure) -> list[str]:
    return [one.error for one in EXPLAINER.discovery(Discovery({}, failures)).failures]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("{place}/11111111/project/a is odd", "{root}/a is odd"),
        ("'{place}/11111111/project'", "'{root}'"),
        ("-I{place}/11111111-env/include", "-I{env}/include"),
        ("from {place}/00000000/project/a.py", "from {root of the base}/a.py"),
        ("from {place}/00000000-env/a.py", "from {env of the base}/a.py"),
        ("{place}/11111111/project-2", "{place}/11111111/project-2"),
    ],
)
def test_a_folder_of_a_side_has_the_name_that_the_configuration_gives_it(
    text: str, shown: str
) -> None:
    text, shown = (each.replace("{place}", str(PLACE)) for each in (text, shown))
    assert observed(text) == shown
    assert unread(DiscoveryFailure(HEAD, "b", text)) == [shown + WARNED]
    about = Definition("b", "hash", Tier.LOCKSTEP, notes=(text,))
    (found,) = EXPLAINER.discovery(Discovery({HEAD: (about,)})).found[HEAD]
    assert found.notes == EXPLAINER.observation(Observation(HEAD, "b", 0, notes=(text,))).notes
    assert found.notes == (shown,)


@pytest.mark.parametrize(
    "error",
    [
        "ModuleNotFoundError: No module named 'zope'\nTraceback",
        "exited with 1 (allowed: 0)\nfixture 'benchmark' not found",
        "exited with 127 (allowed: 0)",
        "exited with 1 (allowed: 0)\nthe framework could not be found",
        "pytest is not installed for {env}/bin/python",
        "cannot run '{env}/bin/tool': No such file or directory",
        "exited with 1 (allowed: 0)\nError: Cannot find module 'tinybench'",
    ],
)
def test_what_the_build_warned_of_is_shown_with_what_is_missing(error: str) -> None:
    assert observed(error) == error + WARNED
    assert observed(error, BASE) == error
    assert observed(error, skipped=True) == error


def test_what_a_benchmark_itself_raises_has_nothing_to_do_with_the_build() -> None:
    assert observed("ValueError: no luck") == "ValueError: no luck"


def test_of_a_suite_only_its_first_benchmark_has_the_details() -> None:
    failures = [DiscoveryFailure(HEAD, id_, id_, suite="suite") for id_ in ("a", "b")]
    assert unread(*failures) == ["a" + WARNED, "b"]
    files = [DiscoveryFailure(HEAD, id_, id_) for id_ in ("a", "b")]
    assert unread(*files) == ["a" + WARNED, "b" + WARNED]
