#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes schema.h: the steps of the schema as C strings, without comments, which SQLite would store with the tables; and
the digest of the tables that they make, by which a book of the newest version is recognized: making the tables anew to
compare them takes longer than most commands. The steps are DIRECTORY/1.sql, 2.sql and so on; the dependency file says that a
new one makes the header anew. Usage: schema_header.py DIRECTORY HEADER DEPENDENCIES"""
import hashlib
import os
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


directory, header, dependencies = sys.argv[1:]
numbers = sorted(int(name[:-4]) for name in os.listdir(directory) if re.fullmatch(r"\d+\.sql", name))
paths = [os.path.join(directory, f"{n}.sql") for n in numbers]
steps = []
for path in paths:
    with open(path, encoding="utf-8") as file:
        steps.append("\n".join(filter(None, re.sub(" *--.*", "", file.read()).split("\n"))))

book = sqlite3.connect(":memory:")
for step in steps:
    book.executescript(step)
lines = "".join(line for _, _, line in book.execute(OBJECTS))
digest = hashlib.sha256(lines.encode()).hexdigest()

with open(header, "w", encoding="utf-8") as file:
    print("static const char *const schema_steps[] = {", *(literal(step) + "," for step in steps), "};", sep="\n", file=file)
    print("#define SCHEMA_OBJECTS \\\n" + literal(OBJECTS).replace("\n", " \\\n"), file=file)
    print(f'#define SCHEMA_DIGEST "{digest}"', file=file)
with open(dependencies, "w", encoding="utf-8") as file:
    print(f"{header}:", directory, *paths, file=file)
