#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes tables.h: the verbs and options of the tools, which emp completes and corrects. C tools print theirs (--dump-options), those
of a script are read from its help. A tool that cannot be run here, because it is for another processor, has only its name.
Usage: tables.py HEADER TOOL..."""
import json
import re
import subprocess
import sys


def text(s):
    return "NULL" if s is None else json.dumps(s, ensure_ascii=False)


def ask(words):
    return subprocess.run(words, check=True, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True, encoding="utf-8").stdout


def of_script(name, usage):
    """Lines such as "  -b, --build COMMAND     build with this"."""
    rows = re.findall(r"^  (?:-(\w), |    )--([a-z-]+)(?: ([A-Z]\S*))?(?:  +|\n +)(.*(?:\n {20,}.*)*)$", usage, re.M)
    options = [{"letter": letter, "name": long, "value": value or None, "values": 1, "optional": False, "listed": False,
                "summary": " ".join(summary.split())}
               for letter, long, value, summary in rows if long not in ("help", "version")]
    summary = usage.splitlines()[1]
    return {"name": name, "summary": summary,
            "verbs": [{"name": "", "args": re.search(r"\[OPTION\.\.\.\] (.*)", usage)[1], "summary": summary, "options": options}]}


def describe(path):
    name = path.rsplit("/", 1)[-1]
    if name == "emp-inc":
        return {"name": name, "summary": "Increments a register: the program that calibrations measure.", "verbs": []}
    with open(path, "rb") as file:
        script = file.read(2) == b"#!"
    if script:
        return of_script(name, ask([path, "--help"]))
    try:
        return json.loads(ask([path, "--dump-options"]))
    except OSError:
        return {"name": name, "summary": "", "verbs": []}


def write_option(o):
    words = "".join(text(word) + ", " for word in o["words"]) + "NULL" if "words" in o else None
    return (f'\t\t{{{text(o["letter"])}, {text(o["name"])}, {text(o["value"])}, {o["values"]}, {int(o["optional"])}, {int(o["listed"])}, '
            f'{f"(const char *const[]){{{words}}}" if words else "NULL"}, {text(o["summary"])}}},')


tools = [describe(path) for path in sys.argv[2:]]
with open(sys.argv[1], "w", encoding="utf-8") as header:
    for i, tool in enumerate(tools):
        for k, verb in enumerate(tool["verbs"]):
            print(f"static const struct known_option options_{i}_{k}[] = {{", *map(write_option, verb["options"]), "\t\t{}};", sep="\n", file=header)
        print(f"static const struct known_verb verbs_{i}[] = {{", file=header)
        for k, verb in enumerate(tool["verbs"]):
            print(f'\t{{{text(verb["name"])}, {text(verb["args"])}, {text(verb["summary"])}, options_{i}_{k}}},', file=header)
        print("\t{}};", file=header)
    print("const struct known_tool known_tools[] = {", file=header)
    for i, tool in enumerate(tools):
        print(f'\t{{{text(tool["name"])}, {text(tool["summary"])}, verbs_{i}}},', file=header)
    print("\t{}};", file=header)
