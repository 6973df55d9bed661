"""Who reads the verdict of a job, and how each is told."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from benchgate.baselines.base_config import BASE_HAS_NONE
from benchgate.github.plan import MERGE_COMMIT
from benchgate.model.policy import Outcome
from benchgate.model.verdict import Reason
from benchgate.report.links import Links
from benchgate.report.view import named, view_verdict, without_secrets
from benchgate.units import counted

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchgate.model.verdict import Verdict
    from benchgate.report.view import VerdictView


_WELCOME: Final = (
    "This change adds benchgate. Its {benchmarks} ran, and the next change is compared with them"
)


@dataclass(frozen=True, slots=True)
class Readers:
    """What the readers of a verdict know.

    Attributes:
        repository_url: the repository's page.
        head: the commit that its author pushed, which need not be the one that was measured.
        target: the branch that a pull request is for; "" without a pull request.
        run_url: the run that measured.
        name: tells the verdict from others; "" if it is the usual one.
        redact: removes the secrets from a text.
        page_url: the report as a page of HTML; "" if there is none.
    """

    repository_url: str
    head: str
    target: str
    run_url: str
    name: str
    redact: Callable[[str], str]
    page_url: str = ""

    def view(self, verdict: Verdict) -> VerdictView:
        """The verdict as strings, without secrets."""
        verdict = self.as_known(verdict)
        view = _welcomed(without_secrets(view_verdict(verdict), self.redact), verdict)
        return replace(named(view, self.name), links=self.links(verdict))

    def as_known(self, verdict: Verdict) -> Verdict:
        """Name the commit of the author, not GitHub's merge commit that nobody has seen."""
        if not verdict.base.why.startswith(MERGE_COMMIT):
            return verdict
        head = replace(verdict.head, sha=self.head, why=f"merged into {self.target}")
        base = replace(verdict.base, why=f"the target branch {self.target}")
        return replace(verdict, head=head, base=base)

    def links(self, verdict: Verdict) -> Links:
        """Addresses for readers of the verdict."""
        repository, base, head = self.repository_url, verdict.base.sha, verdict.head.sha
        return Links(
            self.run_url,
            f"{repository}/compare/{base}...{head}" if base and head else "",
            f"{repository}/blob/{head}" if head else "",
            self.page_url,
        )


def _welcomed(view: VerdictView, verdict: Verdict) -> VerdictView:
    """Greet a change that brings benchgate, instead of warning that the base lacks it."""
    if verdict.reason is not Reason.FIRST_RUN or BASE_HAS_NONE not in verdict.warnings:
        return view
    new = {row.benchmark for row in verdict.rows if row.outcome is Outcome.NEW}
    warnings = tuple(text for text in view.warnings if text != BASE_HAS_NONE)
    headline = _WELCOME.format(benchmarks=counted(len(new), "benchmark"))
    return replace(view, headline=headline, more="", warnings=warnings)
