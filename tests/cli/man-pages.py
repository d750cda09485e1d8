#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What a reader of the manual pages can paste: each example is rendered at 80 columns as it is written, and is a command that the shell
can parse. Usage: man-pages.py BUILD SOURCE"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

build, source = map(pathlib.Path, sys.argv[1:])
if not shutil.which("man"):
    sys.exit(77)
faults = []


def blocks_of(text):
    """The literal blocks as the reader is to see them, and the lines of examples that are in none."""
    blocks, loose, heading, inside = [], [], "", False
    for line in text.splitlines():
        if line == "```":
            inside = not inside
            if inside:
                blocks.append([])
        elif inside:
            blocks[-1].append(line.replace("\\\\", "\\"))
        elif line.startswith("# "):
            heading = line
        elif heading == "# EXAMPLES" and line.startswith("\t"):
            loose.append(line)
    return blocks, loose


def is_of_commands(block):
    """Not one of C, YAML or output."""
    return re.match(r"(base=|emp(-[a-z]+)? |system[a-z-]+ |setcap |groupadd |LD_PRELOAD=)", block[0])


pages = sorted((source / "man").glob("*.scd"))
for page in pages:
    blocks, loose = blocks_of(page.read_text())
    rendered = subprocess.run(
        ["man", "-l", build / "man" / page.stem], check=True, stdout=subprocess.PIPE, text=True,
        env={**os.environ, "MANWIDTH": "80", "LC_ALL": "C.UTF-8", "MAN_KEEP_FORMATTING": ""}).stdout
    lines = {line.strip() for line in rendered.splitlines()}
    faults += [f"{page.name}: an example outside of a literal block: {line}" for line in loose]
    for line in (line for block in blocks for line in block):
        if line.strip() not in lines and line.strip():
            faults.append(f"{page.name}: rendered in another way: {line}")
    for block in filter(is_of_commands, blocks):
        faults += [f"{page.name}: wider than 80 columns with its indent: {line}" for line in block if len(line) > 69]
        shell = subprocess.run(["sh", "-n"], input="\n".join(block), stderr=subprocess.PIPE, text=True)
        if shell.returncode:
            faults.append(f"{page.name}: {shell.stderr.strip()}: {block}")
    print(f"{page.name}: {len(blocks)} literal blocks")
print("\n".join(faults))
sys.exit(bool(faults))
