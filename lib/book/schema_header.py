#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes schema.h: the steps of the schema as C strings, without comments, which SQLite would store with the tables; and
the digest of the tables that they make, by which a book of the newest version is recognized: making the tables anew to
compare them takes longer than most commands. Usage: schema_header.py STEP.sql... >schema.h"""
import hashlib
import re
import sqlite3
import sys

# The tables, views, indexes and triggers, each with a line that describes it: its SQL without blanks, and without quotes
# around names, which depend on the version of SQLite that changed a table. Statistics (ANALYZE) change no result.
OBJECTS = """SELECT type, name, type || ' ' || name || ' ' || tbl_name || ' ' ||
 replace(replace(replace(ifnull(sql, ''), ' ', ''), char(10), ''), '"', '') || char(10) AS line
 FROM sqlite_schema WHERE type <> 'table' OR name NOT IN ('sqlite_stat1', 'sqlite_stat4')
 ORDER BY name, type"""


def literal(sql):
    lines = (line.replace("\\", "\\\\").replace('"', '\\"') for line in sql.split("\n"))
    return "\n".join(f'\t"{line}"' for line in lines)


steps = []
for path in sys.argv[1:]:
    with open(path, encoding="utf-8") as file:
        steps.append("\n".join(filter(None, re.sub(" *--.*", "", file.read()).split("\n"))))
book = sqlite3.connect(":memory:")
for step in steps:
    book.executescript(step)
lines = "".join(line for _, _, line in book.execute(OBJECTS))
print("static const char *const schema_steps[] = {\n" + "\n".join(literal(step) + "," for step in steps) + "\n};")
print("#define SCHEMA_OBJECTS \\\n" + literal(OBJECTS).replace("\n", " \\\n"))
print(f'#define SCHEMA_DIGEST "{hashlib.sha256(lines.encode()).hexdigest()}"')
