#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The JSON Schemas of documents are schemas, and strict: objects have no other members than those described, but where the machine decides
what there is; each member is described, with its unit; and nothing in the sources is without use. What the tools write is held to them in
documented.py. Usage: schemas.py BUILD SOURCE"""
import glob
import json
import os
import re
import sys

try:
    import jsonschema
except ImportError:
    print("not run: needs python3-jsonschema")
    sys.exit(1 if os.environ.get("EMP_MUST_RUN") else 77)

build, source = map(os.path.abspath, sys.argv[1:3])
UNIT = re.compile(r"_(ns|ns2|ps|s|bytes|ppm|ppb|millicelsius)$")
# What the machine has: members without names of ours.
OPEN = {"machine", "environment", "identity", "settings", "volatile"}
faults = 0


def fault(*words):
    global faults
    faults += 1
    print("FAULT:", *words)


def read(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def check(schema, where, name=""):
    """A part of a schema; `name`: of the member that it is."""
    if isinstance(schema, list):
        for one in schema:
            check(one, where, name)
        return
    if not isinstance(schema, dict):
        return
    types = schema.get("type", [])
    closed = schema.get("unevaluatedProperties") is False or isinstance(schema.get("additionalProperties"), dict)
    if "object" in types and not closed and name not in OPEN:
        fault(where, "may have any member")
    for member, inner in schema.get("properties", {}).items():
        text = inner.get("description", "")
        if len(text) < 3:
            fault(where, f"does not describe '{member}'")
        if UNIT.search(member) and not member.endswith("_per_s") and not re.search(r"; \w|in \w*seconds|nanoseconds", text):
            fault(where, f"does not say the unit of '{member}'")
        check(inner, f"{where}.{member}", member)
    for key, inner in schema.items():
        if key not in ("properties", "$defs", "required", "enum", "type"):
            check(inner, where, name)


def used(schema, into):
    if isinstance(schema, (list, dict)):
        for key, inner in schema.items() if isinstance(schema, dict) else enumerate(schema):
            if key == "$ref":
                into.add(inner)
            used(inner, into)


def main():
    names = sorted(n for n in os.listdir(build + "/schema") if re.fullmatch(r"emp-[a-z-]+\.json", n))
    sources = sorted(n for n in os.listdir(source + "/schema") if re.fullmatch(r"emp-[a-z-]+\.json", n))
    if names != sources:
        fault("schema/meson.build does not have the files of its folder:", set(names) ^ set(sources))
    for name in names:
        schema = read(f"{build}/schema/{name}")
        jsonschema.Draft202012Validator.check_schema(schema)
        check(schema, name)
        # A definition that others extend is closed where it is used.
        for definition, inner in schema["$defs"].items():
            check({**inner, "unevaluatedProperties": False} if "properties" in inner else inner, f"{name}, {definition}", definition)
        if schema["$id"] != f"urn:emp:schema:{schema['title']}:1" or name != schema["title"] + ".json":
            fault(name, "has the id", schema["$id"])

    # What ships, and what others wrote before there were schemas.
    for path in [*glob.glob(source + "/profiles/*.json"), *glob.glob(source + "/tests/papers/data/emp-run-*.json")]:
        document = read(path)
        held = jsonschema.Draft202012Validator(read(f"{build}/schema/{document['format']}.json"))
        for error in held.iter_errors({**document, **({"samples": document["samples"][:20]} if "samples" in document else {})}):
            fault(path, error.json_path, error.message[:200])

    references = set()
    for name in [*sources, "common.json"]:
        used(read(f"{source}/schema/{name}"), references)
    for name in read(source + "/schema/common.json")["$defs"]:
        if f"common.json#/$defs/{name}" not in references:
            fault(f"schema/common.json: nothing refers to '{name}'")
    tables = read(build + "/schema/fields.json")["$defs"]
    described = read(source + "/schema/descriptions.json")
    for table in tables:
        missing = tables[table]["properties"].keys() - described.get(table, {}).keys()
        if missing:
            fault(f"schema/descriptions.json: '{table}' lacks {sorted(missing)}")


main()
sys.exit(faults > 0)
