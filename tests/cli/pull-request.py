#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A pull request, from a repository with two benchmarks to its comment: the action and the GitLab component, in an environment such as a
runner's, without privileges and without a cgroup that may be written; the API is a server on loopback. Usage: pull-request.py BUILD SOURCE"""
import http.server
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import threading
import time

import yaml

from composite import Runner

BUILD, SOURCE = sys.argv[1:]
NOBODY = 65534
TOKEN = "the-token-of-the-job"
faults = []


def that(words, so, detail=""):
    """Whether it is so."""
    if not so:
        faults.append(words)
        print(f"FAULT: not so: {words}\n{detail}")


class Service(http.server.BaseHTTPRequestHandler):
    """The comments of pull request 7, as GitHub and GitLab have them. `comments` begins with those of others."""

    comments, asked, forbidden, broken = {}, [], False, 0

    def answer(self, status, document):
        """As JSON."""
        body = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def handle_request(self):
        """Any method."""
        length = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(length)) if length else None
        path, _, query = self.path.partition("?")
        page = dict(part.split("=") for part in query.split("&")) if query else {}
        token = self.headers.get("Authorization") == f"Bearer {TOKEN}" or self.headers.get("PRIVATE-TOKEN") == TOKEN
        Service.asked.append((self.command, path))
        where = re.fullmatch(r"/repos/owner/project/issues/(?:7/comments|comments/(\d+))|/api/v4/projects/42/merge_requests/7/notes(?:/(\d+))?", path)
        if Service.broken:
            Service.broken -= 1
            self.answer(502, {"message": "Bad Gateway"})
        elif not token or Service.forbidden:
            self.answer(403, {"message": "Resource not accessible by integration"})
        elif not where:
            self.answer(404, {"message": "Not Found"})
        elif self.command == "GET":
            first = (int(page["page"]) - 1) * int(page["per_page"])
            listed = [{"id": number, "body": text} for number, text in Service.comments.items()]
            self.answer(200, listed[first:first + int(page["per_page"])])
        elif self.command == "POST":
            Service.comments[1000 + len(Service.comments)] = body["body"]
            self.answer(201, {"id": 1})
        elif self.command in ("PATCH", "PUT"):
            Service.comments[int(where[1] or where[2])] = body["body"]
            self.answer(200, {"id": int(where[1] or where[2])})

    do_GET = do_POST = do_PATCH = do_PUT = handle_request  # the names are http.server's # noqa: N815

    def log_message(self, *_):  # pylint: disable=arguments-differ
        """Nothing on the screen."""


def git(repository, *words):
    """As the user of the job."""
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main", "-c", "safe.directory=*")
    subprocess.run(["git", "-C", repository, *identity, *words], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


PROGRAM = """#include <stdlib.h>
static const char *volatile where = TREE; /* so that the programs of both builds are not the same */
int main(int n, char **words) { long most = FACTOR * atol(words[1]); for (volatile long i = 0; i < most; i++) ; return n < 2 || !*where; }
"""


def make_repository(directory):
    """Two benchmarks; the branch `change` is slower in the second."""
    project = f"{directory}/project"
    os.mkdir(project)
    git(project, "init", "-q")
    with open(f"{project}/Makefile", "w", encoding="utf-8") as file:
        file.write("all: one two\none two: one.c two.c\n\tcc -O1 -DTREE='\"$(CURDIR)\"' -o $@ $@.c\n")
    with open(f"{project}/speed.txt", "w", encoding="utf-8", newline="") as file:
        file.write("# what users wait for\r\n{tree}/one 20000000\r\n\r\n  # more\n  {tree}/two 20000000\n")
    for name in "one", "two":
        with open(f"{project}/{name}.c", "w", encoding="utf-8") as file:
            file.write(PROGRAM.replace("FACTOR", "1"))
    git(project, "add", "-A")
    git(project, "commit", "-qm", "base")
    git(project, "branch", "-q", "equal")
    git(project, "checkout", "-q", "-b", "change")
    with open(f"{project}/two.c", "w", encoding="utf-8") as file:
        file.write(PROGRAM.replace("FACTOR", "2"))
    git(project, "commit", "-qam", "twice the work")
    git(project, "checkout", "-q", "equal")
    git(project, "commit", "-q", "--allow-empty", "-m", "nothing")
    return project


def check_out(project, branch, directory):
    """A clone as actions/checkout makes it with fetch-depth: 0."""
    shutil.rmtree(directory, ignore_errors=True)
    subprocess.run(["git", "-c", "safe.directory=*", "clone", "-q", project, directory], check=True)
    git(directory, "checkout", "-q", "--detach", f"origin/{branch}")


def make_tarball(directory):
    """As scripts/package tarball: the tools, in a directory of their own."""
    path = f"{directory}/emp-0-x86_64.tar.xz"
    with tarfile.open(path, "w:xz", preset=0) as archive:
        for tool in ("measure/emp-measure", "measure/emp-load", "measure/emp-compare-commits", "analyze/emp-analyze", "setup/emp-setup",
                     "calibrate/emp-calibrate", "study/emp-study"):
            stripped = f"{directory}/stripped"
            if subprocess.run(["strip", "-o", stripped, f"{BUILD}/{tool}"], stderr=subprocess.DEVNULL, check=False).returncode != 0:
                shutil.copy(f"{BUILD}/{tool}", stripped)  # a script
            archive.add(stripped, f"emp-0-x86_64/bin/{os.path.basename(tool)}")
    return path


def unprivileged():
    """The words before a command that make it an ordinary user's, without a cgroup that may be written."""
    if os.getuid() != 0:
        return []
    user = ["setpriv", "--reuid", str(NOBODY), "--regid", str(NOBODY), "--clear-groups"]
    read_only = "mount -o remount,bind,ro /sys/fs/cgroup 2>/dev/null || mount --bind -o ro /sys/fs/cgroup /sys/fs/cgroup; exec \"$@\""
    return ["unshare", "--mount", "sh", "-c", read_only, "sh", *user]


def environment(directory, server, home):
    """That of a runner, and no more."""
    event = f"{directory}/event.json"
    with open(event, "w", encoding="utf-8") as file:
        json.dump({"action": "synchronize", "number": 7, "pull_request": {"number": 7}}, file)
    return {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": home, "LANG": "C.UTF-8", "CI": "true", "GITHUB_ACTIONS": "true",
            "GITHUB_API_URL": server, "GITHUB_REPOSITORY": "owner/project", "GITHUB_EVENT_NAME": "pull_request", "GITHUB_EVENT_PATH": event,
            "GITHUB_BASE_REF": "main", "GITHUB_HEAD_REF": "change", "GITHUB_SHA": "0", "RUNNER_OS": "Linux", "RUNNER_ARCH": "X64",
            "RUNNER_TEMP": home, "RUNNER_TOOL_CACHE": f"{directory}/the cache", "TEST_TOKEN": TOKEN, "EMP_LOCK": f"{home}/lock",
            "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*"}


def give_away(*paths):
    """To the user of the job."""
    for path in paths:
        if os.getuid() == 0:
            subprocess.run(["chown", "-R", f"{NOBODY}:{NOBODY}", path], check=True)


def check_github(directory, project, server):
    """The action: a red pull request, the same one mended, and jobs that cannot comment or do not find EMP."""
    tarball, home, checkout = make_tarball(directory), f"{directory}/home", f"{directory}/checkout"
    runs = []
    Service.comments = {number: f"comment {number}" for number in range(1, 131)}
    Service.comments[5] = None  # GitHub has such ones
    for branch, green in ("change", False), ("equal", True):
        shutil.rmtree(home, ignore_errors=True)
        os.mkdir(home)
        check_out(project, branch, checkout)
        give_away(home, checkout)
        started = time.monotonic()
        job = Runner(SOURCE, checkout, home, environment(directory, server, home), unprivileged())
        that(f"the job of '{branch}' is {'green' if green else 'red'}",
             job.run({"suite": "speed.txt", "emp": tarball, "runs": 8, "percent": 40}) == green, job.log)
        that("it takes less than five minutes", time.monotonic() - started < 300)
        that("the book, the report and the document are kept",
             job.uploaded and {"emp.db", "report.md", "result.json"} <= set(job.uploaded[0][1]), job.uploaded)
        that("the summary has the report", "## Speed of a change" in job.log, job.log)
        runs.append(job)
    mine = [text for number, text in Service.comments.items() if number > 130]
    that("there is one comment", len(mine) == 1, Service.comments)
    that("it was made once and changed once", [m for m, _ in Service.asked if m != "GET"] == ["POST", "PATCH"], Service.asked)
    that("the red job names the slower one", re.search(r"\*\*1 of 2 is slower, by \d+\.\d %", runs[0].log), runs[0].log)
    that("the comment is of the last job", mine and "slower" not in mine[0].split("<details>", 1)[0], mine)
    that("the status of the red job is that of emp-compare-commits", runs[0].outputs["compare"]["status"] == "2", runs[0].outputs)

    job = Runner(SOURCE, checkout, home, environment(directory, server, home), unprivileged())
    job.run({"commands": "{tree}/one 20000000", "emp": tarball, "runs": 3, "percent": 90, "name": "on arm"})
    mine = [text for number, text in Service.comments.items() if number > 130]
    that("another job has a comment of its own", len(mine) == 2 and mine[1].startswith("<!-- emp-compare-commits on%20arm -->\n### on arm\n"), mine)

    Service.forbidden = True
    job = Runner(SOURCE, checkout, home, environment(directory, server, home), unprivileged())
    that("a job that may not comment says so and is green",
         job.run({"commands": "{tree}/one 20000000", "emp": tarball, "runs": 3, "percent": 90}) and "No comment: the token may not" in job.log, job.log)
    Service.forbidden, Service.broken = False, 3
    job = Runner(SOURCE, checkout, home, environment(directory, server, home), unprivileged())
    that("a job whose service is broken is green",
         job.run({"commands": "{tree}/one 20000000", "emp": tarball, "runs": 3, "percent": 90}) and "HTTP Error 502" in job.log, job.log)
    that("it was asked three times", Service.broken == 0, Service.broken)
    job = Runner(SOURCE, checkout, home, environment(directory, server, home), unprivileged())
    that("without EMP it says where it is looked for", not job.run({"commands": "{tree}/one 1"}) and "There is no EMP in the tool cache" in job.log,
         job.log)
    cached = f"{directory}/the cache/emp/0.4.0/x64"
    os.makedirs(cached)
    with tarfile.open(tarball) as archive:
        archive.extractall(cached)
    job = Runner(SOURCE, checkout, home, environment(directory, server, home), unprivileged())
    that("nothing to measure is an error", not job.run({"commands": "# nothing"}) and "There is nothing to measure" in job.log, job.log)
    that("EMP is found in the tool cache", "There is no EMP" not in job.log, job.log)


def check_gitlab(directory, project, server):
    """The component's script, with its inputs as GitLab puts them in."""
    with open(f"{SOURCE}/templates/speed.yml", encoding="utf-8") as file:
        text = file.read()
    inputs = yaml.safe_load(text.split("\n---\n")[0])["spec"]["inputs"]
    given = {name: str(of.get("default", "")) for name, of in inputs.items()}
    given.update({"commands": "{tree}/two 20000000", "runs": "8", "percent": "40", "image": "emp"})
    body = re.sub(r"\$\[\[ inputs\.([a-z-]+) \]\]", lambda m: json.dumps(given[m[1]]), text.split("\n---\n")[1])
    job = yaml.safe_load(body)["speed"]
    home, checkout, installed = f"{directory}/gitlab", f"{directory}/gitlab-checkout", f"{directory}/installed"
    os.makedirs(f"{installed}/share/emp")
    shutil.copytree(f"{SOURCE}/packaging/ci", f"{installed}/share/emp/ci")
    with tarfile.open(f"{directory}/emp-0-x86_64.tar.xz") as archive:
        archive.extractall(installed)
    os.rename(f"{installed}/emp-0-x86_64/bin", f"{installed}/bin")
    os.mkdir(home)
    check_out(project, "change", checkout)
    base = subprocess.run(["git", "-C", project, "rev-parse", "main"], capture_output=True, text=True, check=True).stdout.strip()
    give_away(home, checkout)
    Service.comments, Service.asked, Service.broken = {1: "a note"}, [], 1
    variables = {"PATH": f"{installed}/bin:/usr/bin:/bin", "HOME": home, "LANG": "C.UTF-8", "CI": "true", "GITLAB_CI": "true",
                 "CI_API_V4_URL": f"{server}/api/v4", "CI_PROJECT_ID": "42", "CI_MERGE_REQUEST_IID": "7", "EMP_CI_TOKEN": TOKEN,
                 "CI_MERGE_REQUEST_DIFF_BASE_SHA": base, "EMP_LOCK": f"{home}/lock", "GIT_CONFIG_COUNT": "1",
                 "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*", **{k: str(v) for k, v in job["variables"].items()}}
    script = "set -eo pipefail\n" + "\n".join(job["script"])
    done = subprocess.run([*unprivileged(), "bash", "-c", script], cwd=checkout, env=variables, capture_output=True, text=True, check=False)
    that("the job of GitLab is red", done.returncode == 2, done.stdout + done.stderr)
    that("its report is a note", sum("1 is slower" in text for text in Service.comments.values()) == 1, Service.comments)
    that("the artifacts are there", all(os.path.exists(f"{checkout}/{path}/report.md") for path in job["artifacts"]["paths"]))


def check_length():
    """The workflow in the man page, from `on:` to its last line."""
    with open(f"{SOURCE}/man/emp-compare-commits.1.scd", encoding="utf-8") as file:
        workflow = file.read().split("# GITHUB ACTIONS", 1)[1].split("```\n")[1]
    yaml.safe_load(workflow)
    that("the workflow has at most 12 lines", len(workflow.splitlines()) <= 12, workflow)


def main():
    """All of it."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Service)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}"
    with tempfile.TemporaryDirectory() as directory:
        os.chmod(directory, 0o755)
        project = make_repository(directory)
        check_github(directory, project, address)
        check_gitlab(directory, project, address)
    check_length()
    sys.exit(bool(faults))


main()
