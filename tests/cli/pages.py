# SPDX-License-Identifier: GPL-2.0-or-later
"""README.md and doc as programs read them, for tests/cli/guide.py, tests/cli/examples.py and scripts/refresh-docs: the commands in
them, the output that they show, and the checks of the audit."""
import glob
import html
import json
import os
import re
import subprocess


def paths(source):
    """The pages for users, below SOURCE."""
    found = glob.glob("doc/**/*.md", root_dir=source, recursive=True)
    return ["README.md", *sorted(page for page in found if not page.startswith("doc/hacking/"))]


class Block:
    """A fenced block. `kind` is sh: commands; console: commands after a dollar, and their output; or another one. `not_run` is the
    reason why its commands are not run, by a comment above it, or None."""

    def __init__(self, found):
        self.not_run, self.kind, self.body = found["why"], found["kind"], found["body"]
        self.start, self.end = found.start("body"), found.end("body")

    def commands(self):
        """Each command, with the lines that it is shown to print."""
        if self.kind == "sh":
            lines = self.body.replace("\\\n", " ").splitlines()
            return [(re.sub(r"\s+# .*", "", line), []) for line in lines if line.strip() and not line.startswith("#")]
        if self.kind != "console":
            return []
        return [(command, output.splitlines()) for command, output in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", self.body, re.M)]


def blocks(text):
    return [Block(found) for found in re.finditer(
        r"(?:^<!-- not run: (?P<why>.*?) -->\n)?^```(?P<kind>\w*)\n(?P<body>.*?)^```$", text, re.M | re.S)]


# What varies from run to run: numbers with their units, and the digits of names.
NUMBER = re.compile(r"[~≤]?\b\d[\d.,:-]*\d?(?:e\d+)?(?: ?(?:%|ns|us|ms|s|min|h|d|kB|MB|GB|/s)\b)?")


# What the pages show besides: processes, sources of jitter, and the system.
NAMES = set("""backupd kworker kdamond memfd bookworm Debian""".split())


def shape(line):
    return re.sub(r"\s+", " ", NUMBER.sub("0", line)).strip()


def heads(line):
    """The titles of a table's columns, if the line has them."""
    words = re.findall(r"[A-Z][A-Z/]+", line)
    return words if len(words) > 2 and not re.search(r"[a-z]{3}", line.replace("[ms]", "")) else []


def words_of(text):
    return re.findall(r"[A-Za-z]{2,}", text)


def pairs(line):
    """Words with one blank between them: what a format of the tools has, if it is no name."""
    return [(a, b) for a, b in re.findall(r"(?<![\w/.-])(?=([A-Za-z]{2,}) ([A-Za-z]{2,})(?![\w/.-]))", NUMBER.sub("0", line))]


def literals(source):
    """What the tools can print: the string literals of their sources, those side by side as one."""
    found = []
    for file in glob.glob(f"{source}/*/**/*.[ch]", recursive=True):
        if "/tests/" in file or "/build" in file:
            continue
        with open(file, encoding="utf-8") as text:
            for run in re.findall(r'(?:"(?:\\.|[^"\\\n])*"\s*)+', text.read()):
                found.append("".join(re.findall(r'"((?:\\.|[^"\\\n])*)"', run)).replace("\\n", " "))
    return "\n".join(found)


class Printed:
    """What the tools print today, by what they have just printed and by their sources."""

    def __init__(self, source):
        formats = re.sub(r"%[-+ #0]*[*\d.]*(?:hh|h|ll|l|z|j|L)?[a-zA-Z]", "%", literals(source))
        self.text = re.sub(r"[ \t]+", " ", formats)
        self.words = set(words_of(self.text))

    def faults(self, command, shown, output):
        """The lines shown that no tool prints in that form, of a command that has just printed `output`."""
        fresh = {shape(line) for line in output.splitlines()}
        flat = re.sub(r"\s+", " ", output)
        names = set(words_of(command)) | {word for line in shown for word in words_of(" ".join(re.findall(r"\S*[\d_/]\S*|\w+[.:-]\w+", line)))}
        names |= {word for line in shown for word in re.findall(r"(\w+) ~?\d[\d.]* [num]?s\b", line)}  # backupd 150 ms
        columns = [heads(line) for line in output.splitlines()]
        for line in filter(None, map(str.strip, shown)):
            if " " not in line or shape(line) in fresh:  # one word is the end of a cell that was too long
                continue
            titles = heads(line)
            if titles:
                unknown = [word for word in titles if word not in self.words and word not in words_of(flat)]
                same_order = any(in_order(titles, one) for one in columns) or not any(columns)
                if unknown or not same_order:
                    yield f"no table has these columns: {line}"
                continue
            for word in words_of(line):
                if word not in self.words and word not in names and word not in flat and word not in NAMES:
                    yield f"nothing prints '{word}': {line}"
            for a, b in pairs(line):
                known = any(pair in self.text for pair in (f"{a} {b}", f"% {b}", f"{a} %")) or f"{a} {b}" in flat
                if not known and a not in names and b not in names:
                    yield f"nothing prints '{a} {b}': {line}"


def in_order(shown, fresh):
    """Whether the titles that both have stand in the same order; most of those shown must be there."""
    both = [word for word in shown if word in fresh]
    return 2 * len(both) > len(shown) and both == [word for word in fresh if word in both]


def audit_checks(build):
    """doc/reference/audit-checks.md, by the table of emp-setup."""
    done = subprocess.run([f"{build}/setup/emp-setup", "audit", "--all", "--json"], capture_output=True, text=True, check=False)
    levels = {"A": "required", "B": "advised", "C": "optional"}
    text = """# The checks of the audit

Each check of `emp-setup audit`, in its order. A machine is fit if no *required* check is off. The *advised* ones help, and the
*optional* ones (`--all`) help some programs and harm others. *emp-setup*(1), *CHECKS*, has the rules by which each is decided.
"""
    step = None
    for check in json.loads(done.stdout)["checks"]:
        if check["step"] != step:
            step = check["step"]
            text += f"\n## {step}\n"
        text += f"\n### {check['id']}\n\n{levels[check['level']].capitalize()}. Wanted: {escaped(check['wanted'])}.\n"
        rows = [("Why", "why"), ("How", "how"), ("Undo", "undo"), ("Advised by", "who")]
        text += "".join(f"\n- {title}: {quoted(check[name])}" for title, name in rows if check.get(name))
        text += "\n"
    return text


def escaped(text):
    return html.escape(re.sub(r"([*_<>|\[\]])", r"\\\1", text), quote=False).replace("\\&lt;", "&lt;").replace("\\&gt;", "&gt;")


def quoted(text):
    """A command of EMP as code."""
    return f"`{text}`" if re.match(r"emp-[a-z]+ ", text) and ";" not in text else escaped(text)


def without_machine(text):
    """The page without what depends on the machine that it was made on: how to get there."""
    return re.sub(r"^- (How|Undo): .*\n", "", text, flags=re.M)


def links(text):
    """Links of a page to files and to headings."""
    bare = re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)
    return [found for found in re.findall(r"\]\(([^)\s]+)\)", bare) if not re.match(r"[a-z]+:", found)]


def anchors(text):
    """The anchors of its headings, as GitHub and pandoc make them."""
    headings = re.findall(r"^#+ (.*)", re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S), re.M)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def read(source, page):
    with open(os.path.join(source, page), encoding="utf-8") as file:
        return file.read()
