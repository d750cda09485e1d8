#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads the lab book and documents of EMP: read.py BOOK [FILE.json...]

Prints the mean process time of each run in the book with its 95 % interval, why samples were discarded, and the spread of the samples
kept; and the same means of documents of emp-measure. With pandas (python3-pandas) the views become data frames; without it, plain rows."""
import json
import sqlite3
import sys

try:
    import pandas
except ImportError:
    pandas = None

RESULTS = """SELECT run, name, samples, kept, mean_ns / 1e6 AS mean_ms, low_ns / 1e6 AS low_ms, high_ns / 1e6 AS high_ms
    FROM results WHERE clock = 'pt' ORDER BY run"""
DISCARDS = "SELECT rule, ifnull(daemon, '-') AS daemon, count(DISTINCT run || ' ' || sample) AS samples FROM discards GROUP BY 1, 2 ORDER BY 3 DESC"
SAMPLES = "SELECT run, pt_ns FROM samples WHERE kept"


def open_book(path):
    """Only to be read: nothing in the file is changed, whoever it comes from."""
    book = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    book.execute("PRAGMA trusted_schema = OFF")
    return book


def show_with_pandas(book):
    print(pandas.read_sql(RESULTS, book).to_string(index=False))
    print(pandas.read_sql(DISCARDS, book).to_string(index=False))
    samples = pandas.read_sql(SAMPLES, book)
    print((samples.groupby("run").pt_ns.std() / 1e6).rename("sd_ms").to_string())


def show_plain(book):
    for query in RESULTS, DISCARDS:
        rows = book.execute(query)
        print(*(column[0] for column in rows.description))
        for row in rows:
            print(*(round(value, 3) if isinstance(value, float) else value for value in row))


def show_document(path):
    with open(path, encoding="utf-8") as file:
        document = json.load(file)
    if document.get("format") != "emp-measure":
        sys.exit(f"{path} is no document of emp-measure: its format is {document.get('format')}")
    for result in document["results"]:
        kept = result["emp"]["pt"]["kept"]
        low, high = kept["interval_ns"] or (float("nan"), float("nan"))
        print(f"{result['command']}: {kept['mean_ns'] / 1e6:.3f} ms, 95 % CI {low / 1e6:.3f} … {high / 1e6:.3f}, {kept['n']} samples")


if len(sys.argv) < 2:
    sys.exit(__doc__)
try:
    connection = open_book(sys.argv[1])
    (show_with_pandas if pandas else show_plain)(connection)
    connection.close()
except (sqlite3.Error, pandas.errors.DatabaseError if pandas else sqlite3.Error) as error:
    sys.exit(f"{sys.argv[1]} cannot be read as a lab book: {error}")
for document_file in sys.argv[2:]:
    show_document(document_file)
