#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# Whether one JSON document has all that another has, with the same values. Members may have been added: any, or only
# those that --except names.
# Usage: same.py [--except NAME,NAME...] OLD NEW
import json
import sys


SENTENCES = {"next", "why", "warnings", "notes"}  # for people: they may read differently


def differences(old, new, where="", added=None):
    if where.rpartition(".")[2] in SENTENCES:
        return [] if type(old) is type(new) else [f"{where}: {old!r} is now {new!r}"]
    if isinstance(old, dict) and isinstance(new, dict):
        faults = [f for k in old for f in (differences(old[k], new[k], f"{where}.{k}", added) if k in new else [f"{where} has no {k}"])]
        return faults + [f"{where}.{k} is new" for k in new if added is not None and k not in old and k not in added]
    if isinstance(old, list) and isinstance(new, dict):  # a bare array has become a document that holds it
        arrays = [m for m in new.values() if isinstance(m, list)]
        return min((differences(old, m, where, added) for m in arrays), key=len, default=[f"{where} is no array"])
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        return [f for i, (a, b) in enumerate(zip(old, new)) for f in differences(a, b, f"{where}[{i}]", added)]
    return [] if old == new else [f"{where}: {old!r} is now {new!r}"]


if __name__ == "__main__":
    arguments = sys.argv[1:]
    allowed = None
    if arguments[0] == "--except":
        allowed = arguments[1].split(",")
        arguments = arguments[2:]
    with open(arguments[0]) as old_file, open(arguments[1]) as new_file:
        found = differences(json.load(old_file), json.load(new_file), "", allowed)
    print("\n".join(found[:20]))
    sys.exit(len(found) > 0)
