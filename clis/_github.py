"""Arguments of the operations of `github`: those of the usual GitHub tools of agents, and a few designed alike."""
from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

PerPage = Annotated[int | None, Field(ge=1, le=100)]
Page = Annotated[int | None, Field(ge=1)]
Number = Annotated[int, Field(ge=1)]
IssueSort = Literal["comments", "reactions", "reactions-+1", "reactions--1", "reactions-smile",
                    "reactions-thinking_face", "reactions-heart", "reactions-tada", "interactions", "created",
                    "updated"]


class Arguments(BaseModel):
    model_config = ConfigDict(extra="forbid")


class InRepo(Arguments):
    owner: str = Field(description="user or organization", min_length=1)
    repo: str = Field(min_length=1)

    @property
    def full(self) -> str:
        return f"{self.owner}/{self.repo}"


class SearchRepositories(Arguments):
    query: str = Field(description="words and qualifiers, as in GitHub's search", min_length=1)
    page: Page = None
    perPage: PerPage = None


class CreateRepository(Arguments):
    name: str = Field(min_length=1)
    description: str | None = None
    private: bool | None = None
    autoInit: bool | None = Field(None, description="with a README.md")


class GetFileContents(InRepo):
    path: str = Field(description="file or directory")
    branch: str | None = None


class CreateOrUpdateFile(InRepo):
    path: str = Field(min_length=1)
    content: str = Field(description="the whole text")
    message: str = Field(description="commit message", min_length=1)
    branch: str = Field(min_length=1)
    sha: str | None = Field(None, description="of the file that is replaced; looked up without it")


class DeleteFile(InRepo):
    path: str = Field(min_length=1)
    message: str = Field(description="commit message", min_length=1)
    branch: str = Field(min_length=1)
    sha: str | None = Field(None, description="of the file; looked up without it")


class PushedFile(Arguments):
    path: str = Field(min_length=1)
    content: str


class PushFiles(InRepo):
    branch: str = Field(min_length=1)
    files: list[PushedFile] = Field(description="all in one commit", min_length=1)
    message: str = Field(description="commit message", min_length=1)


class CreateIssue(InRepo):
    title: str = Field(min_length=1)
    body: str | None = None
    assignees: list[str] | None = None
    milestone: int | None = None
    labels: list[str] | None = None


class CreatePullRequest(InRepo):
    title: str = Field(min_length=1)
    body: str | None = None
    head: str = Field(description="branch with the changes", min_length=1)
    base: str = Field(description="branch to merge into", min_length=1)
    draft: bool | None = None
    maintainer_can_modify: bool | None = None


class ForkRepository(InRepo):
    organization: str | None = Field(None, description="instead of your account")


class CreateBranch(InRepo):
    branch: str = Field(description="the new one", min_length=1)
    from_branch: str | None = Field(None, description="default: the repository's default branch")


class ListCommits(InRepo):
    sha: str | None = Field(None, description="branch or commit to start from")
    page: Page = None
    perPage: PerPage = None


class ListIssues(InRepo):
    direction: Literal["asc", "desc"] | None = None
    labels: list[str] | None = None
    page: Page = None
    per_page: PerPage = None
    since: str | None = Field(None, description="ISO 8601")
    sort: Literal["created", "updated", "comments"] | None = None
    state: Literal["open", "closed", "all"] | None = None


class OneIssue(InRepo):
    issue_number: Number


class UpdateIssue(OneIssue):
    title: str | None = None
    body: str | None = None
    assignees: list[str] | None = None
    milestone: int | None = None
    labels: list[str] | None = None
    state: Literal["open", "closed"] | None = None


class AddIssueComment(OneIssue):
    body: str = Field(min_length=1)


class SearchCode(Arguments):
    q: str = Field(min_length=1)
    order: Literal["asc", "desc"] | None = None
    page: Page = None
    per_page: PerPage = None


class SearchIssues(SearchCode):
    sort: IssueSort | None = None


class SearchUsers(SearchCode):
    sort: Literal["followers", "repositories", "joined"] | None = None


class OnePull(InRepo):
    pull_number: Number


class ListPullRequests(InRepo):
    state: Literal["open", "closed", "all"] | None = None
    head: str | None = Field(None, description="owner:branch")
    base: str | None = None
    sort: Literal["created", "updated", "popularity", "long-running"] | None = None
    direction: Literal["asc", "desc"] | None = None
    per_page: PerPage = None
    page: Page = None


class AtPosition(Arguments):
    path: str
    position: int = Field(description="line of the diff")
    body: str


class AtLine(Arguments):
    path: str
    line: int = Field(description="line of the file")
    body: str


class CreateReview(OnePull):
    commit_id: str | None = None
    body: str
    event: Literal["APPROVE", "REQUEST_CHANGES", "COMMENT"]
    comments: list[AtPosition | AtLine] | None = None


class MergePullRequest(OnePull):
    commit_title: str | None = None
    commit_message: str | None = None
    merge_method: Literal["merge", "squash", "rebase"] | None = None


class UpdatePullRequestBranch(OnePull):
    expected_head_sha: str | None = None


class ListReleases(InRepo):
    page: Page = None
    per_page: PerPage = None


class CreateRelease(InRepo):
    tag_name: str = Field(description="made at target_commitish where there is no such tag", min_length=1)
    target_commitish: str | None = Field(None, description="branch or commit; default: the default branch")
    name: str | None = None
    body: str | None = None
    draft: bool | None = None
    prerelease: bool | None = None


class ListWorkflowRuns(ListReleases):
    branch: str | None = None
    status: str | None = Field(None, description="status or conclusion, such as failure")


class OneRun(InRepo):
    run_id: Number
