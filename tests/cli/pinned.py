#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether the tools answer as they did before a change that is to alter nothing that a user sees. Run as root, by hand:

    tests/cli/pinned.py record BUILD DIR      makes lab books with this build, and keeps what each command answers
    tests/cli/pinned.py compare BUILD DIR     asks another build, or the same one later, and prints what differs

The books hold made-up runs of all kinds, a calibration, runs of the papers, and those of older versions. Of each run every verb that applies is asked, as JSON
and for screens of 80 and 200 columns; besides, all help texts, an audit of a captured machine, and commands with faults. Each answer is the exit status, both
outputs, and the files that were written, byte for byte. What measures anew (LIVE) is compared without its numbers."""
import concurrent.futures, json, os, re, shutil, sqlite3, subprocess, sys, tempfile

if len(sys.argv) != 4 or sys.argv[1] not in ("record", "compare"):
    sys.exit(__doc__)
verb, build, kept = sys.argv[1], os.path.abspath(sys.argv[2]), os.path.abspath(sys.argv[3])
here = os.path.dirname(os.path.abspath(__file__))
source = os.path.dirname(os.path.dirname(here))
FOLDERS = {"emp-analyze": "analyze", "emp-calibrate": "calibrate", "emp-measure": "measure", "emp-load": "measure", "emp-study": "study", "emp-compare-commits": "measure", "emp-setup": "setup"}
os.environ.update(NO_COLOR="1", LC_ALL="C.UTF-8", TZ="UTC", PATH=":".join(f"{build}/{folder}" for folder in set(FOLDERS.values())) + ":" + os.environ["PATH"])
os.environ.pop("EMP_NAMES", None)
LIVE = "live: "


def environment(folder, columns=80):
    return {**os.environ, "EMP_DB": os.path.join(folder, "book.db"), "EMP_LOCK": os.path.join(folder, "lock"), "COLUMNS": str(columns)}


def need(folder, *command):
    done = subprocess.run(command, cwd=folder, env=environment(folder), capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode not in (0, 2, 3):
        sys.exit(f"{command}: {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout


def make_papers(folder):
    for program in "inc128", "inc16384":
        need(folder, "emp-analyze", "import", f"{source}/tests/papers/data/emp-run-{program}.json")
    need(folder, "emp-analyze", "cutoffs", "--short", "1", "--long", "2", "--save", "papers")


def make_made_up(folder):
    make_papers(folder)
    book = os.path.join(folder, "book.db")
    for script, *rest in (["jitter", "20", "1", "backupd"], ["jitter", "20", "2", "kinds"], ["jitter", "20", "3", "bursts"], ["load", "1"],
                          ["load", "2", "speed=1.1", "waits=no"], ["load", "3"], ["runs"]):
        need(folder, "python3", f"{here}/made_up_{script}.py", book, *rest)


def make_measured(folder):
    cpu = str(max(os.sched_getaffinity(0)))
    need(folder, "emp-calibrate", "run", "--short", "0.05x60", "--long", "0.5x6", "--cpu", cpu, "--save", "lab", "--force", "--ignore-audit", "-q")
    need(folder, "emp-calibrate", "clocks", "-q", "--cpu", cpu)
    need(folder, "emp-calibrate", "clocks", "-q", "--cpu", cpu)
    need(folder, "emp-calibrate", "jitter", "-q", "--cpu", cpu, "--for", "3s")
    inc = f"{build}/calibrate/emp-inc --iterations 60000000"
    for options in (["--profile", "lab", "--cpu", cpu, inc], ["-r", "4", "sleep 0.01", "sh -c 'sleep 0.02'"], ["-r", "4", "--order", "duet", "--slice", "3ms", "--cpu", cpu, inc, inc + "1"],
                    ["-r", "4", "--against", "inc", "--cpu", cpu, "seq 300000"], ["-r", "3", "-i", "false"]):
        need(folder, "emp-measure", "-q", "--ignore-lock", *options)
    with open(os.path.join(folder, "two.load"), "w") as file:
        file.write("[edit]\nslaves = 2\nrepetitions = 5\ncommand = seq 20000\n[sum]\nrepetitions = 3\ncommand = seq 50000\n")
    need(folder, "emp-load", "run", "-q", "-r", "3", "two.load")


def from_sql(path):
    def make(folder):
        db = sqlite3.connect(os.path.join(folder, "book.db"))
        db.executescript(open(os.path.join(source, "tests/unit/data", path)).read())
        db.close()
    return make


BOOKS = {"papers": make_papers, "made-up": make_made_up, "measured": make_measured, "0.1.0": from_sql("0.1.0/book.sql"), "v1": from_sql("book-v1.sql"),
         "v3": from_sql("book-v3.sql")}


def commands_of(book, folder):
    """All that is asked of a book, from what is in it."""
    runs = json.loads(need(folder, "emp-analyze", "list", "--json"))["runs"]
    profiles = [row[0] for row in sqlite3.connect(os.path.join(folder, "book.db")).execute("SELECT name FROM profile ORDER BY name")]
    ask = []
    def analyze(*words, json=True):
        ask.extend((columns, ["emp-analyze", *map(str, words)]) for columns in (80, 200))
        if json:
            ask.append((80, ["emp-analyze", *map(str, words), "--json"]))
    for words in [], ["--all"], ["--last", 3], ["--kind", "measure"], ["--name", "solver"], ["--name", "none"]:
        analyze("list", *words)
    of = {}
    for run in runs:
        kinds = of.setdefault(run["kind"], [])
        kinds.append(run["run"])
        if len(kinds) > 12 and run["run"] % 10: # of the many that differ in their times only, each tenth
            continue
        n, kind = run["run"], run["kind"]
        analyze("show", n)
        analyze("show", n, "-v", json=False)
        ask.append((80, ["emp-analyze", "export", str(n)]))
        if kind == "load":
            analyze("load", n)
            for words in ["--csv", "-"], ["--markdown", "-"], ["-o", "p.svg", "--script"], ["-o", "p.svg", "--timeline", "--script"], ["-o", "p.svg", "--page-waits", "--script"]:
                analyze("load", n, *words, json=False)
        elif kind == "jitter":
            for words in [], ["--all"], ["--combinations"], ["--between", "1us..20us"]:
                analyze("jitter", n, *words)
            for words in ["-o", "p.svg", "--script"], ["-o", "p.svg", "--timeline", "--script"]:
                analyze("jitter", n, *words, json=False)
        else:
            for words in ["discard", n], ["daemons", n], ["daemons", n, "--all", "--by-et"], ["daemons", n, "--by-wait", "--other-cpus"], ["sample-size", n], ["protocols", n], \
                         ["show", n, "--recompute"], *(["discard", n, "--profile", p] for p in profiles[:3]), *(["sample-size", n, "--profile", p] for p in profiles[:1]):
                analyze(*words)
            for words in [], ["--zooms"], ["--samples"], ["--by-et", "--other-cpus"]:
                ask.append((80, ["emp-analyze", "scatter", str(n), "-o", "p.svg", "--script", *words]))
    for kind, numbers in of.items():
        for a, b in list(zip(numbers, numbers[1:]))[:10]:
            if kind == "load":
                analyze("load", a, b)
                analyze("load", a, b, "--fail-if-slower", 2)
            elif kind == "jitter":
                analyze("jitter", a, b)
                analyze("jitter", b, "--baseline", a, "--fail-if-new", "1%")
                ask.append((80, ["emp-analyze", "jitter", str(a), str(b), "-o", "p.svg", "--by-source", "--script"]))
            else:
                for words in [], ["--fail-if-slower", 2], ["--compare", "both"], ["--recompute"]:
                    analyze("compare", a, b, *words)
    for short, long in zip(of.get("short", []) + of.get("import", [])[:1], of.get("long", []) + of.get("import", [])[1:2]):
        for words in [], ["--by-et"], ["--by-wait", "--other-cpus"], ["--material", 0], ["--resolution", "1ms"], ["--save", "new"]:
            analyze("cutoffs", "--short", short, "--long", long, "--force", *words)
    for name in sorted({run["name"] or run["program"] for run in runs if run["kind"] in ("measure", "duet")}):
        if "\0" in name or not name:
            continue
        for words in [], ["--seconds"], ["--fail-if-slower", 1]:
            analyze("trend", name, *words)
        for words in ["--csv", "-"], ["--markdown", "-"], ["-o", "p.svg", "--script"]:
            analyze("trend", name, *words, json=False)
    for words in [], ["--diff"], [1], [2], ["-o", "p.svg", "--script"]:
        analyze("clocks", *words)
    for words in [["status"], ["profile", "list"], *(["profile", "show", p] for p in profiles), *(["profile", "show", p, "-v"] for p in profiles),
                  *(["profile", "export", p] for p in profiles), ["profile", "remove", profiles[0] if profiles else "none"]]:
        ask.extend((columns, ["emp-calibrate", *words, *json_too]) for columns in (80, 200) for json_too in ([], ["--json"]))
    analyze("remove", runs[-1]["run"])
    analyze("remove", runs[0]["run"], "--force")
    analyze("import", f"{source}/tests/papers/data/emp-run-inc128.json")
    analyze("import", f"{source}/tests/unit/data/0.1.0/run.json")
    return [[book, columns, command] for columns, command in ask]


def other_commands():
    helps = [[tool, "--help"] for tool in FOLDERS] + [[tool, "--version"] for tool in FOLDERS]
    verbs = {"emp-analyze": "list show import export remove cutoffs discard daemons sample-size protocols compare trend load jitter scatter clocks",
             "emp-calibrate": "run resume status revalidate constant jitter neighbour clocks profile", "emp-setup": "audit apply restore status fingerprint verify"}
    helps += [[tool, one, "--help"] for tool, all_of in verbs.items() for one in all_of.split()]
    faults = [[tool, *words] for tool, all_of in verbs.items() for one in all_of.split() for words in ([one, "--no-such"], [one, "1", "2", "3", "4"], [one, "--db"], [one[:-1]])]
    faults += [["emp-analyze", *words.split()] for words in ("show 4711", "show x", "compare 1", "compare 1 4711", "trend nobody", "load 1", "jitter 1", "scatter 1", "scatter 1 -o x", "discard 1 --profile no",
               "cutoffs --short 1", "cutoffs --short 1 --long 1", "import /nonexistent", "import /etc/passwd", "show 1 --db /nonexistent/x.db", "daemons 1 --resolution x", "list --kind x", "list --since x",
               "clocks 99", "remove 4711", "sample-size 4711", "protocols", "daemons 1 --by-et --by-wait", "jitter 1 --between 5..1", "")]
    faults += [["emp-calibrate", *words.split()] for words in ("profile show no", "profile remove no", "profile import /nonexistent", "resume 99", "run --short x", "run --preset no",
               "run --cpu 4000", "revalidate no", "jitter --cpu 4000", "jitter --for x", "profile", "profile no", "")]
    faults += [["emp-measure", *words.split()] for words in ("", "-r", "-r 0 true", "-r x true", "--order x true", "--cpu 4000 true", "--profile no true", "/nonexistent", "-P x 1 0 true",
               "--against no true", "--compare x true", "--fail-if-slower x true", "--slice 0 true", "--timeout x true", "-n a -n b true", "--reference no true", "--sort x true true", "-P x 0 1 -D 0 true")]
    faults += [["emp-load", *words.split()] for words in ("", "/nonexistent", "/etc/passwd", "run", "run /nonexistent", "check /etc/passwd", "example", "no")]
    audits = [["emp-setup", *words.split(), "--root", "machine"] for words in ("audit", "audit -v", "audit --all -v", "audit --json", "audit --policy paper-rhel6", "audit --policy no", "fingerprint",
              "fingerprint --json", "audit --cpu 9")]
    audits += [["emp-setup", "audit", "--policy", "/nonexistent"], ["emp-setup", "verify", "no"]]
    out = "--export-json o.json --export-csv o.csv --export-markdown o.md --export-asciidoc o.adoc --export-orgmode o.org".split()
    quiet = ["emp-measure", "-q", "--accounting", "none", "-r", "3"] # names nobody who is there by chance
    live = [[*quiet, "--compare", "et", *words, "sleep 0.02", "sh -c 'sleep 0.2'"] for words in ([], ["--json"], ["--fail-if-slower", "5"], ["-n", "a", "-n", "b", "--sort", "command"])]
    live += [[*quiet, *out, "--compare", "et", "sleep 0.02", "sleep 0.2"], [*quiet, "false"], [*quiet, "-i", "--json", "--", "false"],
             [*quiet, "--compare", "et", "-L", "t", "0.01,0.1", "sleep {t}"], ["emp-calibrate", "constant", "--json"]]
    return [[None, columns, command] for command in helps + faults + audits for columns in (80, 200)] + [[LIVE, 80, command] for command in live]


def make_machine(folder):
    """A desktop with intel_pstate, Debian 12 and a kernel that waits for its reboot."""
    cpu = "sys/devices/system/cpu/"
    for path, text in {"proc/cpuinfo": "processor\t: 0\nvendor_id\t: GenuineIntel\nmodel name\t: Test CPU\nflags\t\t: fpu est constant_tsc ida\n",
                       "etc/os-release": 'ID=debian\nVERSION_ID="12"\nPRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\n', "proc/sys/kernel/osrelease": "6.1.0-50-amd64\n",
                       "proc/sys/kernel/task_delayacct": "1\n", "proc/77/stat": "77 (cron) S 1 77 77 0 -1 4194560 100\n", "boot/vmlinuz-6.1.0-50-amd64": "", "boot/vmlinuz-6.1.0-56-amd64": "",
                       cpu + "intel_pstate/no_turbo": "0\n", cpu + "cpufreq/policy0/scaling_governor": "powersave\n", cpu + "cpufreq/policy0/scaling_driver": "intel_pstate\n",
                       cpu + "cpufreq/policy0/scaling_min_freq": "800000\n", cpu + "cpufreq/policy0/scaling_max_freq": "4700000\n", cpu + "cpufreq/policy0/base_frequency": "3600000\n",
                       cpu + "cpufreq/policy0/cpuinfo_max_freq": "4700000\n"}.items():
        os.makedirs(os.path.dirname(os.path.join(folder, path)), exist_ok=True)
        with open(os.path.join(folder, path), "w") as file:
            file.write(text)


def without_numbers(text):
    """Of what was measured anew, the words: numbers, units, marks of the font's and how wide columns are change."""
    return re.sub(r"[-─ <=,]+", " ", re.sub(r"\d[\d.,]*(e[-+]?\d+)?( ?(ns|us|ms|s|MB|KB|%)\b)?", "0", text))


def answer(asked):
    book, columns, command = asked
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        if book and book != LIVE:
            shutil.copy(os.path.join(kept, book + ".db"), os.path.join(folder, "book.db"))
        if "machine" in command:
            make_machine(os.path.join(folder, "machine"))
        try:
            done = subprocess.run(command, cwd=folder, env=environment(folder, columns), capture_output=True, stdin=subprocess.DEVNULL, timeout=120)
        except subprocess.TimeoutExpired:
            return {"status": "did not end"}
        written = {name: open(os.path.join(folder, name), "rb").read() for name in sorted(os.listdir(folder)) if name.endswith((".svg", ".gnuplot", ".json", ".csv", ".md", ".adoc", ".org"))}
        parts = {"stdout": done.stdout, "stderr": done.stderr, **written}
        clean = lambda data: re.sub(r'(tmp/tmp|"made(?:_ns)?": |"taken": | taken +|environment_bytes"?:? +)[-\w:" .]+', r"\1X",
                                    data.decode(errors="backslashreplace")).replace(build, "BUILD").replace(recorded, "BUILD").replace(source, "SOURCE")
        parts = {name: clean(data) for name, data in parts.items()}
        if book == LIVE:
            parts = {name: without_numbers(data) for name, data in parts.items()}
        return {"status": done.returncode, **parts}


answers_path = os.path.join(kept, "answers.json")
build_path = os.path.join(kept, "build") # of the programs in the books
if verb == "record":
    os.makedirs(kept, exist_ok=True)
    with open(build_path, "w") as file:
        file.write(build)
    recorded = build
    asked = other_commands()
    for book, make in BOOKS.items():
        with tempfile.TemporaryDirectory() as folder:
            make(folder)
            db = sqlite3.connect(os.path.join(folder, "book.db"))
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            db.close()
            shutil.copy(os.path.join(folder, "book.db"), os.path.join(kept, book + ".db"))
            asked += commands_of(book, folder)
else:
    recorded = open(build_path).read()
    asked = [json.loads(line)[0] for line in open(answers_path)]
live = [one for one in asked if one[0] == LIVE]
with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    answers = list(zip(asked, pool.map(lambda one: None if one[0] == LIVE else answer(one), asked)))
answers = [(one, got or answer(one)) for one, got in answers] # what measures anew has the machine for itself
if verb == "record":
    with open(answers_path, "w") as file:
        file.writelines(json.dumps(pair) + "\n" for pair in answers)
    print(len(answers), "answers of", len(BOOKS), "books are kept in", kept)
    sys.exit(0)
different = 0
for line, (one, now) in zip(open(answers_path), answers):
    before = json.loads(line)[1]
    if before == now:
        continue
    different += 1
    print(f"== {one[0] or ''} ({one[1]} columns): {' '.join(one[2])}")
    for part in before.keys() | now.keys():
        if before.get(part) == now.get(part):
            continue
        if part == "status":
            print(f"   status {now.get(part)}, before {before.get(part)}")
            continue
        with tempfile.NamedTemporaryFile("w", suffix="-before") as a, tempfile.NamedTemporaryFile("w", suffix="-now") as b:
            for file, text in (a, before.get(part, "")), (b, now.get(part, "")):
                file.write(text)
                file.flush()
            diff = subprocess.run(["diff", "-u", "--label", part + " before", "--label", part + " now", a.name, b.name], capture_output=True, text=True).stdout
            print("\n".join(diff.splitlines()[:30]))
print(f"{different} of {len(answers)} answers differ")
sys.exit(different > 0)
