"""Records as GitHub shows them: complete, and every address one of this server."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING
from urllib.parse import quote

from tests.contract.records import Pull, Repository, User
from tests.contract.seeds import seed

if TYPE_CHECKING:
    from datetime import datetime

    from tests.contract.answers import Json
    from tests.contract.records import (
        Artifact,
        CheckRun,
        Comment,
        Commit,
        Comparison,
        IssueEvent,
        Review,
        Run,
    )
    from tests.contract.state import State

# A pull request shows these when it is asked for alone.
_ALONE = (
    "merged",
    "mergeable",
    "rebaseable",
    "mergeable_state",
    "merged_by",
    "comments",
    "review_comments",
    "maintainer_can_modify",
    "commits",
    "additions",
    "deletions",
    "changed_files",
)


class Views:
    """One method for each kind of record.

    Args:
        api_url: what every address begins with.
    """

    def __init__(self, state: State, api_url: str) -> None:
        self._state = state
        self._api_url = api_url

    def user(self, user: User) -> Json:
        shown = seed("user", self._api_url, parts={"/octocat": f"/{quote(user.login)}"})
        return shown | {"login": user.login, "id": user.id, "type": user.type}

    def profile(self, user: User) -> Json:
        shown = seed("profile", self._api_url)
        return shown | self.user(user) | {"user_view_type": "public"}

    def repository(self, repository: Repository, kind: str = "repository") -> Json:
        """Show it; `kind` is the seed's name, that is how much is shown."""
        shown = seed(kind, self._api_url, repository.full_name)
        return shown | {
            "id": repository.id,
            "name": repository.name,
            "full_name": repository.full_name,
            "owner": self.user(User(repository.owner)),
            "private": repository.private,
            "fork": repository.fork_of is not None,
            "default_branch": repository.default_branch,
        }

    def full_repository(self, repository: Repository) -> Json:
        shown = self.repository(repository, "full repository") | {"language": None}
        for name in ("organization", "template_repository", "parent", "source"):
            del shown[name]
        if repository.fork_of is None:
            return shown
        parent = self.repository(self._state.need(Repository, repository.fork_of.lower()))
        return shown | {"parent": parent, "source": parent}

    def artifact(self, artifact: Artifact) -> Json:
        run = self._state.run_of(artifact)
        head = self._state.head_of(run)
        parts = {"artifacts/11": f"artifacts/{artifact.id}"}
        shown = seed("artifact", self._api_url, run.repository, parts)
        of_run = {
            "id": run.id,
            "repository_id": self._state.repository_of(run).id,
            "head_repository_id": head.id if head else None,
            "head_branch": run.head_branch,
            "head_sha": run.head_sha,
        }
        return shown | {
            "id": artifact.id,
            "name": artifact.name,
            "size_in_bytes": len(artifact.data),
            "digest": f"sha256:{hashlib.sha256(artifact.data).hexdigest()}",
            "expired": self._state.is_expired(artifact),
            "created_at": stamp(artifact.created_at),
            "updated_at": stamp(artifact.created_at),
            "expires_at": stamp(artifact.expires_at),
            "workflow_run": {name: x for name, x in of_run.items() if x is not None},
        }

    def run(self, run: Run) -> Json:
        parts = {
            "runs/30433642": f"runs/{run.id}",
            "159038": str(run.workflow_id),
            "acb5820ced9479c074f688cc328bf03f341a511d": run.head_sha,
        }
        shown = seed("run", self._api_url, run.repository, parts)
        actor = self.user(User(run.actor))
        head = self._state.head_of(run)
        return shown | {
            "id": run.id,
            "name": run.name,
            "path": run.path,
            "event": run.event,
            "status": run.status,
            "conclusion": run.conclusion,
            "run_number": 1,
            "run_attempt": run.attempt,
            "previous_attempt_url": None,
            "head_branch": run.head_branch,
            "referenced_workflows": [],
            "pull_requests": [
                self._minimal_pull(self._state.need(Pull, run.repository.lower(), number))
                for number in run.pulls
            ],
            "actor": actor,
            "triggering_actor": actor,
            "repository": self.repository(self._state.repository_of(run), "minimal repository"),
            "head_repository": head and self.repository(head, "minimal repository"),
            "created_at": stamp(run.created_at),
            "run_started_at": stamp(run.started_at or run.created_at),
            "updated_at": stamp(run.created_at),
        }

    def pull(self, pull: Pull, *, alone: bool = False) -> Json:
        parts = {
            f"{noun}/1347": f"{noun}/{pull.number}" for noun in ("pulls", "pull", "issues")
        } | {"6dcb09b5b57875f334f61aebed695e2e4193db5e": pull.head_sha}
        shown = seed("pull", self._api_url, pull.repository, parts)
        for name in () if alone else _ALONE:
            del shown[name]
        return shown | {
            "number": pull.number,
            "state": pull.state,
            "locked": False,
            "active_lock_reason": None,
            "title": pull.title,
            "draft": pull.draft,
            "user": self.user(User(pull.author)),
            "labels": [],
            "milestone": None,
            "assignee": None,
            "assignees": [],
            "requested_reviewers": [],
            "requested_teams": [],
            "closed_at": stamp(pull.created_at) if pull.state == "closed" else None,
            "merged_at": None,
            "head": self._end(self._state.head_of(pull), pull.head_branch, pull.head_sha),
            "base": self._end(self._state.repository_of(pull), pull.base_branch, pull.base_sha),
            "created_at": stamp(pull.created_at),
            "updated_at": stamp(pull.created_at),
        }

    def comment(self, comment: Comment) -> Json:
        parts = {
            "comments/1": f"comments/{comment.id}",
            "issues/1347": f"issues/{comment.number}",
            "issuecomment-1": f"issuecomment-{comment.id}",
        }
        shown = seed("comment", self._api_url, comment.repository, parts)
        return shown | {
            "id": comment.id,
            "body": comment.body,
            "user": self.user(comment.author),
            "author_association": "NONE" if comment.author.type == "Bot" else "CONTRIBUTOR",
            "created_at": stamp(comment.created_at),
            "updated_at": stamp(comment.updated_at),
        }

    def review(self, review: Review) -> Json:
        parts = {
            "pullrequestreview-80": f"pullrequestreview-{review.id}",
            "pull/12": f"pull/{review.number}",
            "pulls/12": f"pulls/{review.number}",
        }
        shown = seed("review", self._api_url, review.repository, parts)
        return shown | {
            "id": review.id,
            "user": review.author and self.user(review.author),
            "state": review.state,
            "commit_id": review.commit_id,
            "author_association": review.author_association,
        }

    def issue_event(self, event: IssueEvent) -> Json:
        parts = {"events/1": f"events/{event.id}"}
        shown = seed("issue event", self._api_url, event.repository, parts)
        return shown | {
            "id": event.id,
            "actor": event.actor and self.user(event.actor),
            "event": event.event,
            "commit_id": None,
            "commit_url": None,
            "created_at": stamp(event.created_at),
            "label": {"name": event.label, "color": "d73a4a"},
        }

    def permission(self, login: str, permission: str) -> Json:
        shown = seed("permission", self._api_url)
        user = self.user(User(login)) | {"role_name": permission}
        return shown | {"permission": permission, "role_name": permission, "user": user}

    def check_run(self, check: CheckRun) -> Json:
        shown = seed("check run", self._api_url, check.repository, {"runs/4": f"runs/{check.id}"})
        output = shown["output"] | {
            name: check.output.get(name) for name in ("title", "summary", "text")
        }
        return shown | {
            "id": check.id,
            "name": check.name,
            "head_sha": check.head_sha,
            "status": check.status,
            "conclusion": check.conclusion,
            "started_at": check.started_at,
            "completed_at": check.completed_at,
            "details_url": check.details_url,
            "external_id": check.external_id,
            "output": output | {"annotations_count": len(check.output.get("annotations", ()))},
            "pull_requests": [],
        }

    def commit(self, commit: Commit) -> Json:
        parts = {"6dcb09b5b57875f334f61aebed695e2e4193db5e": commit.sha}
        shown = seed("commit", self._api_url, commit.repository, parts)
        url = f"{self._api_url}/repos/{commit.repository}/commits"
        shown["commit"]["message"] = commit.message
        return shown | {
            "parents": [{"sha": sha, "url": f"{url}/{sha}"} for sha in commit.parents],
            "files": [],
        }

    def comparison(self, comparison: Comparison, base: Commit, merge_base: Commit) -> Json:
        parts = {"master...topic": f"{comparison.base}...{comparison.head}"}
        shown = seed("comparison", self._api_url, comparison.repository, parts)
        ahead, behind = comparison.ahead_by, comparison.behind_by
        statuses = {(True, True): "diverged", (True, False): "ahead", (False, True): "behind"}
        return shown | {
            "base_commit": self.commit(base),
            "merge_base_commit": self.commit(merge_base),
            "status": statuses.get((ahead > 0, behind > 0), "identical"),
            "ahead_by": ahead,
            "behind_by": behind,
            "total_commits": ahead,
            "commits": [],
            "files": [],
        }

    def _end(self, repository: Repository | None, branch: str, sha: str) -> Json:
        owner = repository.owner if repository else "unknown"
        return {
            "label": f"{owner}:{branch}",
            "ref": branch,
            "sha": sha,
            "user": self.user(User(owner)),
            "repo": repository and self.repository(repository),
        }

    def _minimal_pull(self, pull: Pull) -> Json:
        repository = self._state.repository_of(pull)
        url = f"{self._api_url}/repos/{repository.full_name}"
        repo = {"id": repository.id, "url": url, "name": repository.name}
        return {
            "id": pull.number,
            "number": pull.number,
            "url": f"{url}/pulls/{pull.number}",
            "head": {"ref": pull.head_branch, "sha": pull.head_sha, "repo": repo},
            "base": {"ref": pull.base_branch, "sha": pull.base_sha, "repo": repo},
        }


def stamp(time: datetime) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ")
