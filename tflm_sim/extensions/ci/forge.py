"""The one comment of a pull request, or of GitLab's merge request: written, or found and brought up to date.

    request = from_environment(os.environ)     None outside of a pull request's CI
    request.comment(text)

The address of the API, the request's number and the token are what GitHub Actions and GitLab CI say in the environment.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from http.client import HTTPException, HTTPResponse
from typing import Any, NamedTuple
from urllib.error import HTTPError, URLError
from urllib.parse import quote
from urllib.request import HTTPRedirectHandler, Request, build_opener

from tflm_sim.errors import TflmSimError, UsageError
from tflm_sim.files import parse_json, read_json
from tflm_sim.limits import MAX_DOCUMENT_BYTES
from tflm_sim.numbers import whole
from tflm_sim.planners.deadline import Deadline

COMMENT_MARK = "<!-- tflm-sim diff: one comment, kept up to date -->"
MAX_COMMENT_CHARACTERS = 65_000
"""Characters of a comment: GitHub takes 65,536."""
_PAGE_SIZE = 100
_MAX_PAGES = 50
_TIMEOUT_S = 30
_PIECE_BYTES = 1 << 16


class ForgeError(TflmSimError):
    """The comment cannot be written."""


class PullRequest(NamedTuple):
    """Where the comment goes.

    Attributes:
        comments: The API address of all comments of the request.
        edited: The API address of one comment, without its number.
        method: The HTTP method that changes a comment.
        base: The commit to compare with.
    """

    comments: str
    edited: str
    method: str
    headers: dict[str, str]
    user: str
    base: str

    def comment(self, text: str) -> str:
        """Write the comment, or update an earlier one; return which of both was done.

        Raises:
            ForgeError: It cannot be written; one sentence.
        """
        body = f"{COMMENT_MARK}\n{text}"[:MAX_COMMENT_CHARACTERS]
        mine = next((row for row in self._all() if _is_mine(row, self._name())), None)
        if mine is None:
            self._ask("POST", self.comments, {"body": body})
            return "written"
        if mine.get("body") == body:
            return "up to date"
        self._ask(self.method, f"{self.edited}/{mine['id']}", {"body": body})
        return "brought up to date"

    def _name(self) -> str:
        """Return the comment's author: on GitLab the token's user; on GitHub a workflow's token is a bot."""
        if not self.user:
            return ""
        said = self._ask("GET", self.user)
        if not isinstance(said, dict) or not isinstance(said.get("username"), str):
            raise ForgeError(f"{self.user} names no user")
        return str(said["username"])

    def _all(self) -> Iterator[dict[str, Any]]:
        for page in range(1, _MAX_PAGES + 1):
            rows = self._ask("GET", f"{self.comments}?per_page={_PAGE_SIZE}&page={page}")
            if not (isinstance(rows, list) and all(map(_is_comment, rows))):
                raise ForgeError(f"{self.comments} is answered with what are no comments")
            yield from rows
            if len(rows) < _PAGE_SIZE:
                return

    def _ask(self, method: str, address: str, document: Mapping[str, Any] | None = None) -> Any:
        return ask(method, address, self.headers, document)


def ask(method: str, address: str, headers: Mapping[str, str], document: Mapping[str, Any] | None = None) -> Any:
    """Return what the API answers to a request; no redirection is followed.

    Raises:
        ForgeError: It refuses, or cannot be reached.
    """
    data = None if document is None else json.dumps(document).encode()
    request = Request(address, data, {**headers, "Content-Type": "application/json"}, method=method)
    try:
        with build_opener(_NoRedirect).open(request, timeout=_TIMEOUT_S) as answer:
            body = _whole(answer, Deadline(_TIMEOUT_S))
    except HTTPError as error:
        raise ForgeError(f"{method} {address} is answered with {error.code} {error.reason}") from error
    except (URLError, HTTPException, OSError, ValueError) as error:
        raise ForgeError(f"{method} {address} fails: {error}") from error
    return parse_json(body, path=f"the answer of {address}", error=ForgeError)


def _whole(answer: HTTPResponse, deadline: Deadline) -> bytes:
    """Return the body of an answer; one that is too long, or that comes in drops, is an error."""
    body = bytearray()
    while piece := answer.read1(_PIECE_BYTES):
        body += piece
        if len(body) > MAX_DOCUMENT_BYTES:
            raise ValueError(f"the answer has more than {MAX_DOCUMENT_BYTES:,} bytes")
        if deadline.is_over:
            raise TimeoutError("the answer does not end")
    return bytes(body)


def _is_comment(row: object) -> bool:
    """Return whether what a server sent is a comment, as far as it is read."""
    return isinstance(row, dict) and type(row.get("id")) is int


class _NoRedirect(HTTPRedirectHandler):
    """Follows no redirection: the token is for one server."""

    def redirect_request(self, *_: object) -> None:
        """Return None, which follows no redirection."""


def _is_mine(row: Mapping[str, Any], name: str) -> bool:
    """Return whether we wrote a comment; its first line alone proves nothing, since anybody can write it."""
    author = row.get("author") or row.get("user")
    if not isinstance(author, dict):
        return False
    is_own = author.get("username") == name if name else author.get("type") == "Bot"
    return is_own and str(row.get("body", "")).startswith(COMMENT_MARK)


def from_environment(environment: Mapping[str, str]) -> PullRequest | None:
    """Return the pull or merge request for which CI runs, None without one.

    Raises:
        UsageError: The event that GitHub recorded cannot be read.
    """
    if "CI_MERGE_REQUEST_IID" in environment:
        return _of_gitlab(environment)
    return _of_github(environment) if "GITHUB_EVENT_PATH" in environment else None


def _of_github(environment: Mapping[str, str]) -> PullRequest | None:
    path = environment["GITHUB_EVENT_PATH"]
    event = read_json(path)
    try:
        if "pull_request" not in event:
            return None
        number, base = whole(str(event["pull_request"]["number"])), str(event["pull_request"]["base"]["sha"])
        api = f"{environment['GITHUB_API_URL']}/repos/{quote(environment['GITHUB_REPOSITORY'])}/issues"
    except (KeyError, TypeError, UsageError) as error:
        raise UsageError(f"{path} is not the event of a pull request: {error}") from error
    token = environment.get("GITHUB_TOKEN", "")
    headers = {"Accept": "application/vnd.github+json", "Authorization": f"Bearer {token}"}
    return PullRequest(f"{api}/{number}/comments", f"{api}/comments", "PATCH", headers, "", base)


def _of_gitlab(environment: Mapping[str, str]) -> PullRequest:
    api = environment["CI_API_V4_URL"]
    project, number = quote(environment["CI_PROJECT_ID"], safe=""), quote(environment["CI_MERGE_REQUEST_IID"], safe="")
    notes = f"{api}/projects/{project}/merge_requests/{number}/notes"
    headers = {"PRIVATE-TOKEN": environment.get("TFLM_SIM_TOKEN", "")}
    base = environment.get("CI_MERGE_REQUEST_DIFF_BASE_SHA", "")
    return PullRequest(notes, notes, "PUT", headers, f"{api}/user", base)
