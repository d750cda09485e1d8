#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Books that another user made to harm: each table replaced by a view, or with values that EMP does not write, under
tables that look as they should. Every verb that reads a book ends with a status of its own, never by a signal or with a
report of a sanitizer, and an error is one sentence.

Usage: hostile-books.py BUILD SOURCE. Each table is a view, or has one column spoiled, as EMP_SEED chooses; EMP_ALL=1: both, and each
column, in some minutes."""
import faulthandler, os, random, re, shutil, signal, sqlite3, subprocess, sys, tempfile
faulthandler.register(signal.SIGTERM, chain=True)  # meson ends a test after its timeout: where it was
from concurrent.futures import ThreadPoolExecutor

build, source = map(os.path.abspath, sys.argv[1:3])
seed = int(os.environ.get("EMP_SEED") or random.randrange(1 << 32))
print(f"EMP_SEED={seed}")
chance = random.Random(seed)
VERBS = """
analyze list
analyze list --json
analyze show 1
analyze show 5
analyze show 5 --json
analyze export 5
analyze daemons 5 --all
analyze cutoffs --short 4 --long 5 --force
analyze discard 4 --profile planted
analyze sample-size 4 --profile planted
analyze protocols 1 4 --profile planted
analyze compare 1 2
analyze trend sleep
analyze trend INC0.2 --json
analyze trend INC0.2 -o OUT.svg --script
study list
study list --json
analyze study 1
analyze study 1 --json
analyze study 2
analyze load 3
analyze load 3 --json
analyze load 3 6
analyze load 3 6 --json
analyze load 3 --csv -
analyze load 3 6 --markdown -
analyze load 3 -o OUT.svg --script
analyze load 3 -o OUT.svg --timeline
analyze load 3 -o OUT.svg --page-waits
analyze jitter 4
analyze jitter 4 --json
analyze jitter 4 --combinations
analyze jitter 4 --between 1ns..2s
analyze jitter 4 --baseline 4
analyze jitter 4 -o OUT.svg --script
analyze jitter 4 -o OUT.svg --timeline
analyze scatter 4 -o OUT.svg --script --profile planted
analyze clocks
analyze clocks --diff
analyze clocks -o OUT.svg --script
calibrate status --json
calibrate profile list
calibrate profile show planted
calibrate profile export planted
calibrate resume 11
measure -N -i -r 2 -w 0 --profile planted true
analyze import SOURCE/tests/unit/data/0.1.0/run.json
analyze remove --force 4
""".split("\n")[1:-1]
UPGRADING = "analyze import SOURCE/tests/unit/data/0.1.0/run.json"
SPOILS = {"null": "NULL", "least": "-9223372036854775808", "most": "9223372036854775807", "minus": "-1",
          "zero": "0", "year": "31622400000000000", "text": "'\x1b]0;x\x07'", "blob": "x'ff00fe'",
          "infinite": "9e999"}
MIGHT_STOP = (1, 2, 3, 130)
REPORT = re.compile(r"Sanitizer|runtime error|assert|corrupt|\(null\)")


def run(verb, book, where):
    tool, *rest = verb.replace("SOURCE", source).replace("OUT", f"{where}/out").split()
    done = subprocess.run([f"{build}/{tool}/emp-{tool}", *rest], capture_output=True, stdin=subprocess.DEVNULL, timeout=120,
                          env={**os.environ, "EMP_DB": book, "EMP_LOCK": f"{where}/lock", "COLUMNS": "80"})
    said = (done.stdout + done.stderr).decode("utf-8", "replace")
    faults = []
    if done.returncode not in (0, *MIGHT_STOP):
        faults.append(f"status {done.returncode}")
    if REPORT.search(done.stderr.decode("utf-8", "replace")):
        faults.append("a report")
    if done.returncode == 1 and not re.search(r"^emp-\w+: .", done.stderr.decode("utf-8", "replace"), re.M):
        faults.append("no sentence")
    if "\x1b" in said:
        faults.append("an escape for the terminal")
    return f"{verb}: {', '.join(faults)}\n{said}" if faults else None


def tables(db):
    return dict(db.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'"))


def set_sql(path, name, sql):
    """The file says that the table was made by this SQL."""
    db = sqlite3.connect(path, isolation_level=None)
    version = db.execute("PRAGMA schema_version").fetchone()[0]
    db.execute("PRAGMA writable_schema = ON")
    db.execute("UPDATE sqlite_schema SET sql = ? WHERE name = ?", (sql, name))
    db.execute(f"PRAGMA schema_version = {version + 1}")
    db.close()


def spoil(path, name, column, value):
    """False: SQLite itself does not allow it (NULL in a key)."""
    db = sqlite3.connect(path)
    sql = tables(db)[name]
    db.close()
    set_sql(path, name, re.sub(r"\) STRICT(, )?", ") ", sql.replace(" NOT NULL", "")).rstrip())
    db = sqlite3.connect(path, isolation_level=None)
    try:
        db.execute("PRAGMA ignore_check_constraints = ON")
        db.execute(f'UPDATE OR REPLACE "{name}" SET "{column}" = {value}')
        changed = True
    except (sqlite3.IntegrityError, sqlite3.OperationalError):
        changed = False
    db.close()
    set_sql(path, name, sql)
    return changed


def replace(path, name, columns):
    """A view whose rows differ each time it is read."""
    db = sqlite3.connect(path, isolation_level=None)
    db.execute(f'DROP TABLE "{name}"')
    values = ", ".join(f"random() % 1000 AS {column}" for column in columns)
    db.execute(f'CREATE VIEW "{name}" AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n'
               f" WHERE random() % 1000) SELECT {values} FROM n")
    db.close()


def make(where):
    """A book with something in each table, for which the verbs succeed."""
    book = f"{where}/book.db"
    db = sqlite3.connect(book)
    db.executescript(open(f"{source}/tests/unit/data/0.1.0/book.sql").read())
    db.close()
    failed = [run(verb, book, where) for verb in [UPGRADING, *VERBS[:2]]]
    db = sqlite3.connect(book)
    db.executescript("""
        INSERT INTO interruption VALUES (4, 0, 1, 1, 1);
        INSERT INTO interruption_part VALUES (4, 0, 1, 1, 0, 1, 1, 1);
        INSERT INTO combination_part VALUES (1, 1, 2);
        INSERT INTO jitter_cpu VALUES (4, 0, 1, 9, 9, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, NULL, NULL, 1, 0, 0, 0, NULL);
        INSERT INTO jitter_period VALUES (4, 0, 1, 9, 1, 1, 1);
        INSERT INTO jitter_source VALUES (4, 0, 'time', 1, 1, 1, 1, 1, 1.0, 1, 1.0, 0.0, NULL);
        INSERT INTO jitter_bucket VALUES (4, 0, 'user', NULL, 1, 2, 1, 1);
        INSERT INTO jitter_match VALUES (4, 0, 1, 2, 1, 1, 0);
        INSERT INTO clock_calibration SELECT n, 1, 1, '{"format": "emp-clocks", "version": 1, "made_ns": 1, "cpu": 0,
            "cycles_per_second": 1e9, "sources": [{"name": "rdtsc", "cycles": {"median": 9, "mean": 9, "sd": 1, "min": 8}}],
            "missing": [], "precision": [{"primes": 100, "trials": 9, "sd_ns": {"rdtsc": 5}, "sd_all_ns": {}, "mean_ns": {}}],
            "malloc": [], "malloc_by_source": [], "tick": {"missing": "needs root"}}' FROM (SELECT 1 AS n UNION SELECT 2);
        UPDATE run SET kind = 'duet' WHERE id IN (4, 5);
        INSERT INTO duet (run, reference, frozen, slice_ns, increments) VALUES (4, 4, 0, 1000000, NULL), (5, 4, 0, 1000000, 9);
        INSERT INTO duet_sample(run, sample, position, repetitions, together_ns) SELECT run, n, 1, 1, 1 FROM sample WHERE run IN (4, 5);
        INSERT INTO duet_alone VALUES (4, 1, 0, 1, 1, 1), (5, 1, 0, 1, 1, 1);
        INSERT INTO program VALUES (4, 1, 'x', NULL);
        INSERT INTO sample_program(run, sample, program, start_ns, et_ns, pt_ns) VALUES (4, 1, 1, 1, 1, 1);
        UPDATE run SET kind = 'load' WHERE id IN (3, 6);
        INSERT INTO load VALUES (3, 'constant-load', NULL, '[x]', NULL), (6, 'before', '0', '[y]', 'x');
        INSERT INTO load_sample SELECT run, n, 1, 1, 1, 1 FROM sample WHERE run IN (3, 6);
        INSERT INTO program SELECT run, n, 'x', NULL FROM (SELECT 3 AS run UNION SELECT 6), (SELECT 1 AS n UNION SELECT 2);
        INSERT INTO sample_program SELECT run, sample.n, program.n, start_ns + 9, et_ns, pt_ns, 1, 1, 1, NULL, 0, 3, et_ns, 1, 1, 1
            FROM sample JOIN program USING (run) WHERE run IN (3, 6);
        INSERT INTO page_wait VALUES (3, 1, 'slave', 1, 1, 1, 0);
        INSERT INTO page_wait_bin VALUES (3, 1, 'slave', 0, 10000, 1, 1);
        INSERT INTO note VALUES (4, 1, 'profile', 'x'), (4, 2, 'resolution', 'y');
        INSERT INTO study(id, name, what, file, options, seed, notes, started_ns, finished_ns) VALUES
            (1, 'mine', 'clocks', '[study]\nwhat = clocks\n[subject INC]\ninc = 1\n', '[]', 1, 'x', 1, 2),
            (2, 'room', 'clean-room', '[study]\nwhat = clean-room\n', '[]', 1, NULL, 1, NULL);
        INSERT INTO study_block VALUES (1, 1, 1, 1, NULL, 'INC1', 1.0, '["emp-inc", "1"]', 3, 1, 2), (2, 2, 1, 1, NULL, 'x', NULL, '["x"]', 1, 1, 2);
        INSERT INTO study_run VALUES (2, 1);
        INSERT INTO study_reading VALUES (1, 'rdtsc', 1, 5);
        INSERT INTO study_comparison VALUES (2, 0, 0.0, NULL);
        INSERT INTO study_claim VALUES (2, 'x', 'none', 1.0);
        INSERT INTO profile_resolving SELECT id, 10, 0.02, 0.05, 0.01 FROM profile;
    """)
    db.execute("PRAGMA journal_mode = DELETE")
    empty = [name for name in tables(db) if not db.execute(f"SELECT 1 FROM {name}").fetchone()]
    columns = {name: [row[1] for row in db.execute(f"PRAGMA table_info({name})")] for name in tables(db)}
    db.close()
    assert not any(failed) and not empty, (failed, empty)
    return book, columns


def attempt(case):
    where = tempfile.mkdtemp(dir=top)
    book = f"{where}/book.db"
    shutil.copy(good, book)
    kind, name, *what = case
    if kind == "view":
        replace(book, name, columns[name])
    elif not spoil(book, name, *what):
        return []
    faults = [run(verb, book, where) for verb in VERBS]
    shutil.rmtree(where)
    return [f"{' '.join(case)}: {fault}" for fault in faults if fault]


with tempfile.TemporaryDirectory() as top:
    good, columns = make(top)
    cases = []
    for name in columns:
        view = [("view", name)]
        every = [("values", name, column, value) for column in columns[name] for value in SPOILS.values()]
        cases += view + every if os.environ.get("EMP_ALL") else chance.choice([view, [chance.choice(every)]])
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        faults = [fault for faults in pool.map(attempt, cases) for fault in faults]
print(f"{len(cases)} books, {len(VERBS)} verbs, {len(faults)} faults")
print("\n".join(faults[:20]))
sys.exit(bool(faults))
