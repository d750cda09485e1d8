#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes a report the comment on the pull request of this job, on GitHub or GitLab. There is one comment: the next job replaces its text.
Usage: comment.py REPORT, with a token in EMP_CI_TOKEN; of several jobs, each with a name in EMP_CI_NAME has a comment of its own. A job that may not comment, as that of a fork, says so and does not fail.
Status 1: the service does not answer as it should, also when it is asked again. The job goes on: its status is that of the comparison."""
import http.client
import json
import os
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

NAME = " ".join(os.environ.get("EMP_CI_NAME", "").split())
if NAME == "emp-speed":  # the default
    NAME = ""
MARK = f"<!-- emp-compare-commits {urllib.parse.quote(NAME)} -->" if NAME else "<!-- emp-compare-commits -->"
PAGE = 100
WAITS = 2, 8  # seconds, before it is asked again


class NoPullRequest(Exception):
    """There is nothing to comment on."""


class Service:
    """The comments of one pull request: where they are listed and made, and where one is changed."""

    def __init__(self, token):
        if os.environ.get("GITLAB_CI"):
            if not os.environ.get("CI_MERGE_REQUEST_IID"):
                raise NoPullRequest("this job is of no merge request")
            project = f"{os.environ['CI_API_V4_URL']}/projects/{os.environ['CI_PROJECT_ID']}"
            self.comments = f"{project}/merge_requests/{os.environ['CI_MERGE_REQUEST_IID']}/notes"
            self.one, self.change = self.comments, "PUT"
            self.headers, self.most = {"PRIVATE-TOKEN": token}, 1_000_000
        else:
            with open(os.environ["GITHUB_EVENT_PATH"], encoding="utf-8") as file:
                request = json.load(file).get("pull_request")
            if not request:
                raise NoPullRequest("this job is of no pull request")
            issues = f"{os.environ['GITHUB_API_URL']}/repos/{os.environ['GITHUB_REPOSITORY']}/issues"
            self.comments, self.one, self.change = f"{issues}/{request['number']}/comments", f"{issues}/comments", "PATCH"
            self.headers, self.most = {"Authorization": f"Bearer {token}", "Accept": "application/vnd.github+json"}, 65_536

    def ask(self, method, url, body=None):
        """The answer to a request, as JSON."""
        data = None if body is None else json.dumps({"body": body}).encode()
        headers = {**self.headers, "Content-Type": "application/json", "User-Agent": "emp-compare-commits"}
        with urllib.request.urlopen(urllib.request.Request(url, data, headers, method=method), timeout=60) as answer:
            return json.load(answer)

    def find(self):
        """The number of the comment that is there already; None: there is none."""
        page = 1
        while True:
            comments = self.ask("GET", f"{self.comments}?per_page={PAGE}&page={page}")
            for comment in comments:
                if (comment["body"] or "").startswith(MARK):
                    return comment["id"]
            if len(comments) < PAGE:
                return None
            page += 1


def is_limited(error):
    """Whether there were too many requests, which GitHub also calls forbidden."""
    return error.code == 429 or (error.code == 403 and (error.headers.get("X-RateLimit-Remaining") == "0" or "Retry-After" in error.headers))


def text_of(report, most):
    """The comment, no longer than the service takes."""
    with open(report, encoding="utf-8", errors="replace") as file:
        text = f"{MARK}\n{f'### {NAME}' + chr(10) if NAME else ''}{file.read()}"
    if len(text) <= most:
        return text
    rest = "\n\n… The whole report is in the summary of the job.\n"
    return text[:most - len(rest) - 1000].rsplit("\n", 1)[0] + rest


def write(service, text):
    """Makes the comment, or changes it. A service that is busy or broken is asked again from the beginning: it may have made the comment."""
    for wait in *WAITS, None:
        try:
            number = service.find()
            if number is None:
                return service.ask("POST", service.comments, text)
            return service.ask(service.change, f"{service.one}/{number}", text)
        except urllib.error.HTTPError as error:
            if wait is None or (error.code < 500 and not is_limited(error)):
                raise
        except (OSError, http.client.HTTPException):
            if wait is None:
                raise
        time.sleep(wait)
    return None


def main():
    """Comments, or says why not."""
    try:
        service = Service(os.environ.get("EMP_CI_TOKEN", ""))
    except NoPullRequest as reason:
        print(f"No comment: {reason}.")
        return
    except (OSError, ValueError, AttributeError, KeyError) as error:
        sys.exit(f"comment.py: this is no job of GitHub or GitLab: {error}")
    text = text_of(sys.argv[1], service.most)
    try:
        write(service, text)
    except urllib.error.HTTPError as error:
        if error.code not in (401, 403, 404) or is_limited(error):
            sys.exit(f"comment.py: {error.url}: {error}")
        print(f"No comment: the token may not write one ({error}). Give the job the permission 'pull-requests: write'.")
    except (OSError, http.client.HTTPException, ValueError, TypeError, KeyError) as error:
        sys.exit(f"comment.py: the service does not answer as it should: {getattr(error, 'reason', error)}")


main()
