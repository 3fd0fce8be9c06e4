"""The one open issue that says what moved upstream: opened, or brought up to date."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import quote

from tflm_sim.extensions.ci.forge import MAX_COMMENT_CHARACTERS, ask

LABEL = "upstream moved"


def tell(environment: Mapping[str, str], title: str, text: str) -> str:
    """Open an issue in the repository whose workflow this is, or change the one that is open; return what was done.

    Args:
        environment: That of GitHub Actions: GITHUB_API_URL, GITHUB_REPOSITORY, GITHUB_TOKEN.
        title: That of the issue.
        text: Its body.

    Raises:
        ForgeError: It cannot be written.
    """
    issues = f"{environment['GITHUB_API_URL']}/repos/{quote(environment['GITHUB_REPOSITORY'])}/issues"
    token = environment.get("GITHUB_TOKEN", "")
    headers = {"Accept": "application/vnd.github+json", "Authorization": f"Bearer {token}"}
    content = {"title": title, "body": text[:MAX_COMMENT_CHARACTERS]}
    found = ask("GET", f"{issues}?state=open&labels={quote(LABEL)}", headers)
    if not found:
        number = ask("POST", issues, headers, {**content, "labels": [LABEL]})["number"]
        return f"opened issue {number}"
    number = int(found[0]["number"])
    if (found[0].get("title"), found[0].get("body")) == (content["title"], content["body"]):
        return f"issue {number} says so already"
    ask("PATCH", f"{issues}/{number}", headers, content)
    return f"brought issue {number} up to date"
