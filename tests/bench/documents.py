#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What it costs to export a large run, and to import it: CPU time as a ratio to that of sqlite3 -json, which prints the same rows in the same
minute, and peak memory. Usage: documents.py BUILD [--rows N] [--rounds N]"""
import argparse, os, random, sqlite3, statistics, subprocess, tempfile

ROWS = """SELECT sample, source.name, source.exe, source.unit, source.kind, pt_ns, pid, tick_ns, cpu, same_cpu_ns
          FROM execution JOIN source ON source.id = execution.source WHERE run = 1"""
SAMPLES = "SELECT * FROM sample WHERE run = 1"


def fill(book, n, per_sample):
    """A run of n executions, or of n samples without any."""
    draw = random.Random(1)
    db = sqlite3.connect(book)
    db.execute("INSERT INTO run(uid, kind, program, state, resolution_ns, started_ns) VALUES (lower(hex(randomblob(16))), 'measure', 'big', 'done', 1, 17e17)")
    db.executemany("INSERT INTO source(name, exe, unit) VALUES (?, ?, ?)", [(f"daemon{i}", f"/usr/sbin/daemon{i}", f"daemon{i}.service" if i % 2 else None) for i in range(200)])
    for s in range(1, n // max(per_sample, 1) + 1):
        db.execute("INSERT INTO sample(run, n, start_ns, et_ns, pt_ns, user_ns, system_ns, max_rss_bytes, observer_ns, lost, exit_status, left_behind, incomplete, wait_ns)"
                   " VALUES (1, ?, ?, ?, ?, 90000000, 9000000, 12345678, 300000, 0, 0, 0, 0, ?)",
                   (s, 17 * 10**17 + s * 10**8, 10**8 + draw.randrange(10**6), 10**8 + draw.randrange(10**6), draw.randrange(10**6)))
        db.executemany("INSERT INTO execution(run, sample, seq, source, pt_ns, pid, cpu, same_cpu_ns) VALUES (1, ?, ?, ?, ?, ?, ?, ?)",
                       ((s, i + 1, 1 + draw.randrange(200), draw.randrange(10**7), 100 + i, i % 2, draw.randrange(10**6)) for i in range(per_sample)))
    db.commit()


def cost(command, output):
    """CPU seconds, and peak memory in MB."""
    with open(output, "w") as file:
        process = subprocess.Popen(command, stdout=file)
        _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{command[0]} failed")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("build")
    options.add_argument("--rows", type=int, default=1000000)
    options.add_argument("--rounds", type=int, default=3)
    o = options.parse_args()
    analyze = os.path.abspath(o.build) + "/analyze/emp-analyze"
    print(f"{'':35}{'export':>18}{'import':>18}{'sqlite3 -json':>18}")
    for what, per_sample, select in (("executions, 100 a sample", 100, ROWS), ("executions in one sample", o.rows, ROWS), ("samples", 0, SAMPLES)):
        with tempfile.TemporaryDirectory() as work:
            os.environ["EMP_DB"] = work + "/book.db"
            open(work + "/empty.json", "w").write('{"format": "emp-run", "version": 1, "program": "x", "task_length_s": 0, "resolution_ns": 1, "samples": []}')
            subprocess.run([analyze, "import", work + "/empty.json"], check=True, stdout=subprocess.DEVNULL)
            subprocess.run([analyze, "remove", "1"], check=True)
            sqlite3.connect(os.environ["EMP_DB"]).execute("UPDATE sqlite_sequence SET seq = 0").connection.commit()
            fill(os.environ["EMP_DB"], o.rows, per_sample)
            rounds = []
            for i in range(o.rounds):
                other = cost(["sqlite3", "-json", os.environ["EMP_DB"], select], work + "/rows.json")
                export = cost([analyze, "export", "1"], work + "/run.json")
                back = cost([analyze, "--db", f"{work}/copy{i}.db", "import", work + "/run.json"], work + "/id")
                rounds.append((export, back, other))
            columns = []
            for k in range(3):
                ratio = statistics.median(r[k][0] / r[2][0] for r in rounds)
                columns.append(f"{ratio:8.2f} x {max(r[k][1] for r in rounds):4.0f} MB")
            print(f"{o.rows:>10} {what:24}" + "".join(f"{c:>18}" for c in columns))


if __name__ == "__main__":
    main()
