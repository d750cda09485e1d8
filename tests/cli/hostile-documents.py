#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Documents that somebody made to harm, of each kind that EMP reads: each member is left out, is there twice, has another type, or a
hostile text. What a tool accepts goes through the verbs: no signal, no report of a sanitizer, no error without a sentence, and nothing
that a terminal would act on.

Usage: hostile-documents.py BUILD SOURCE. EMP_SEED chooses the cases; EMP_ALL=1: all of them; EMP_KIND=duet: those of one kind."""
import collections, copy, json, os, random, re, subprocess, sys, tempfile
from concurrent.futures import ThreadPoolExecutor

sys.dont_write_bytecode = True
from made_up_documents import CLOCKS, CLOCKS_TICK, FINGERPRINT, HYPERFINE, MEASURE, MEASURED_DUET, PROFILE, PYPERF, RUN, duet

build, source = map(os.path.abspath, sys.argv[1:3])
seed = int(os.environ.get("EMP_SEED") or random.randrange(1 << 32))
print(f"EMP_SEED={seed}")
BAD_BYTE, HALF_PAIR = "a\udcffb", "<half of a surrogate pair>"  # written as the byte ff, and as \ud800
HOSTILE = ["\x1b]0;x\x07", "\u009b31m", "a\rb\bc", "\u202eabc\u2066", "line\nbreak\ttab", "x" * 9000, "", "a\0b", BAD_BYTE, HALF_PAIR]
TYPES = [None, -1, 1.5, True, [], {}, "text", 9223372036854775807]
TWICE = object()
# Texts that must be of a certain form.
FORMAL = {"format", "version", "kind", "state", "uid", "level", "coordination", "inc_digest", "digest", "unit of profile", "unit of pyperf", "start_ns"}
ACTS = re.compile("[\x00-\x08\x0b-\x1f\x7f\x80-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
ACTS_IN_JSON = re.compile("[\x00-\x08\x0b-\x1f\x7f]")  # the rest is data there, for other programs

def exported(maker, *words):
    """What the book has of a run that a script of this folder makes up, with the first rows of each table."""
    book = f"{top}/made-up.db"
    start(["analyze", "import", f"{top}/run.json"], book)  # which makes the book
    done = subprocess.run([sys.executable, f"{source}/tests/cli/{maker}", book, *words], check=True, capture_output=True, text=True)
    document = json.loads(start(["analyze", "export", done.stdout.strip()], book).stdout)
    for name, rows in document.items():
        if isinstance(rows, list) and name != "sources":
            kept = [row for row in rows if row.get("source") == document["sources"][-1]["id"]][:1] if name == "jitter_sources" else []
            document[name] = kept + [row for row in rows if row not in kept][:4]
    starts = [row["start_ns"] for row in document.get("interruptions", [])]
    if starts:
        document["interruption_parts"] = [row for row in document["interruption_parts"] if row["start_ns"] in starts][:4]
    return document


Kind = collections.namedtuple("Kind", "document verbs")
IMPORT = "analyze import FILE"
STORED = [IMPORT, "analyze list", "analyze list --json", "analyze show 1", "analyze show 1 --json", "analyze daemons 1 --all",
          "analyze export 1"]
OF_RUN = STORED + ["analyze discard 1", "analyze discard 1 --json", "analyze protocols 1", "analyze sample-size 1 --profile lab", "analyze compare 1 1",
                   "analyze jitter 1", "analyze load 1", "analyze trend xz", "analyze cutoffs --short 1 --long 1 --force", "analyze scatter 1 -o OUT.svg --script",
                   "calibrate profile list", "calibrate profile show lab", "calibrate profile export lab", "calibrate status --json", "analyze remove --force 1"]
OF_CLOCKS = [IMPORT, IMPORT, "analyze clocks", "analyze clocks --json", "analyze clocks --diff", "analyze clocks -o OUT.svg --script"]
OF_COMPARE = ["analyze compare FILE FILE", "analyze compare FILE FILE --json", "analyze compare FILE:1 FILE:2", "analyze compare FILE:1 FILE:2 --compare et",
              "analyze import FILE"]
# Results are no run, a run is no load, ET of a duet is that of both, and the machine of an imported profile is not known here.
REFUSED = re.compile("emp-measure.*: analyze import|hyperfine: analyze import|pyperf: analyze import|profile: setup verify|run: analyze (jitter|load)"
                     "|clocks: analyze clocks -o|emp-measure of a duet: analyze compare .* --compare et")


def kinds():
    """By name: a document, and the verbs, which all succeed on it as it is, apart from those that are REFUSED."""
    loads = OF_RUN[:len(STORED)] + ["analyze load 1", "analyze load 1 --json", "analyze load 1 --csv -", "analyze load 1 --markdown -", "analyze load 1 1",
                                    "analyze load 1 -o OUT.svg --script", "analyze load 1 -o OUT.svg --script --timeline",
                                    "analyze load 1 -o OUT.svg --script --page-waits"]
    jitters = STORED[:-2] + ["analyze export 1", "analyze jitter 1", "analyze jitter 1 --all", "analyze jitter 1 --json", "analyze jitter 1 --combinations",
                             "analyze jitter 1 --between 1ns..2s", "analyze jitter 1 --baseline 1", "analyze jitter 1 -o OUT.svg --script",
                             "analyze jitter 1 -o OUT.svg --script --timeline"]
    duets = STORED + ["analyze show 2", "analyze compare 1 2", "analyze compare 1 2 --json", "analyze remove --force 1"]
    return {"run": Kind(RUN, OF_RUN), "clocks": Kind(CLOCKS, OF_CLOCKS), "clocks with ticks": Kind(CLOCKS_TICK, OF_CLOCKS), "duet": Kind(duet(), duets),
            "load": Kind(exported("made_up_load.py", "1", "runs=2", "slaves=2"), loads), "jitter": Kind(exported("made_up_jitter.py", "2", "1", "backupd"), jitters),
            "profile": Kind(PROFILE, ["calibrate profile import FILE", "calibrate profile list", "calibrate profile show lab", "calibrate profile export lab",
                                      "analyze import RUN", "analyze discard 1 --profile lab", "analyze show 1", "analyze sample-size 1 --profile lab",
                                      "analyze protocols 1 --profile lab", "setup verify lab", "measure -q -N -i -r 2 -w 0 --profile lab true"]),
            "fingerprint": Kind(FINGERPRINT, ["setup fingerprint --diff FILE", "setup fingerprint --diff FILE FILE", "setup fingerprint --diff FILE FIRST",
                                              "setup fingerprint --diff FIRST FILE --json"]),
            "emp-measure": Kind(MEASURE, OF_COMPARE), "emp-measure of a duet": Kind(MEASURED_DUET, OF_COMPARE), "hyperfine": Kind(HYPERFINE, OF_COMPARE), "pyperf": Kind(PYPERF, OF_COMPARE)}


def places(value, path=()):
    """The path of each member and entry."""
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield path + (key,)
        yield from places(inner, path + (key,))


def changed(document, path, new):
    document = copy.deepcopy(document)
    at = document
    for key in path[:-1]:
        at = at[key]
    if new is ...:
        del at[path[-1]]
    elif new is TWICE:
        at[f"{path[-1]}<twice>"] = at[path[-1]]
    else:
        at[path[-1]] = new
    return document


def with_all(document, hostile, kind):
    """All texts are hostile, and still differ from each other as they did."""
    if isinstance(document, str):
        return hostile + document
    if isinstance(document, list):
        return [with_all(one, hostile, kind) for one in document]
    if not isinstance(document, dict):
        return document
    return {name: value if name in FORMAL or f"{name} of {kind}" in FORMAL else with_all(value, hostile, kind) for name, value in document.items()}


def cases_of(kind, document):
    """First those that are accepted."""
    yield kind, document, "as it is"
    for hostile in HOSTILE[:5]:
        yield kind, with_all(document, hostile, kind), f"accepted with {hostile!a}"
    for name in HOSTILE:  # a member of such a name, twice
        yield kind, {**document, name: 1, name + "<twice>": 1}, f"a member {name[:30]!a} twice"
    for path in places(document):
        at = document
        for key in path:
            at = at[key]
        for new in [...] + [TWICE] * isinstance(path[-1], str) + TYPES + (HOSTILE if isinstance(at, str) else []):
            one = changed(document, path, new)
            if path == ("profile",) and isinstance(new, str) and "profile_document" in one:  # both names
                one["profile_document"]["name"] = new
            yield kind, one, f"{path} is {'twice' if new is TWICE else ascii(new)[:30]}"


def written(document):
    text = json.dumps(document, ensure_ascii=False).replace("<twice>", "").replace(HALF_PAIR, r"\ud800")
    return text.encode("utf-8", "surrogateescape")


def start(words, book):
    tool, *rest = words
    environment = {**os.environ, "EMP_DB": book, "EMP_LOCK": book + ".lock", "COLUMNS": "80", "LC_ALL": "C.UTF-8"}
    return subprocess.run([f"{build}/{tool}/emp-{tool}", *rest], capture_output=True, stdin=subprocess.DEVNULL, timeout=120, env=environment)


def run(verb, where):
    words = [word.replace("FILE", f"{where}/document.json").replace("OUT", f"{where}/out").replace("RUN", f"{top}/run.json").replace("FIRST", f"{top}/first.json")
             for word in verb.split()]
    done = start(words, f"{where}/book.db")
    text, said = (out.decode("utf-8", "replace") for out in (done.stdout, done.stderr))
    faults = []
    if done.returncode not in (0, 1, 2, 3, 4):
        faults.append(f"status {done.returncode}")
    if re.search(r"Sanitizer|runtime error|\(null\)", said):
        faults.append("a report")
    if done.returncode == 1 and not re.search(r"^emp-\w+: .", said, re.M):
        faults.append("no sentence")
    if ACTS.search(said) or (ACTS_IN_JSON if re.search(" --json| export |--csv|--markdown", verb) else ACTS).search(text):
        faults.append("characters that a terminal acts on")
    return done.returncode, [f"{verb}: {fault}\n{text[-300:]!a}{said[-300:]!a}" for fault in faults]


def attempt(case):
    kind, document, what = case
    with tempfile.TemporaryDirectory(dir=top) as where:
        with open(f"{where}/document.json", "wb") as file:
            file.write(written(document))
        first, *verbs = all_kinds[kind].verbs
        status, faults = run(first, where)
        if what.startswith(("as it is", "accepted")) and status not in (0, 2, 3, 4):
            faults.append(f"{first}: status {status}")
        accepted[kind] += status != 1
        for verb in verbs if status != 1 else []:
            status, more = run(verb, where)
            faults += more
            if what == "as it is" and status == 1 and not REFUSED.match(f"{kind}: {verb}"):
                faults.append(f"{verb}: status 1")
    return [f"{kind}, {what}: {fault}" for fault in faults]


accepted = collections.Counter()
with tempfile.TemporaryDirectory() as top, ThreadPoolExecutor(os.cpu_count()) as pool:
    with open(f"{top}/run.json", "w", encoding="utf-8") as file:
        json.dump({name: value for name, value in RUN.items() if not name.startswith("profile")}, file)
    with open(f"{top}/first.json", "w", encoding="utf-8") as file:
        json.dump(FINGERPRINT, file)
    all_kinds = kinds()
    chosen, total = [], 0
    for kind in [os.environ["EMP_KIND"]] if os.environ.get("EMP_KIND") else all_kinds:
        every = list(cases_of(kind, all_kinds[kind].document))
        total += len(every)
        chosen += every if os.environ.get("EMP_ALL") else every[:6] + random.Random(seed).sample(every[6:], 60 if kind == "run" else 15)
    faults = [fault for found in pool.map(attempt, chosen) for fault in found]
print(f"{len(chosen)} of {total} documents, accepted: {dict(accepted)}, {len(faults)} faults")
print("\n".join(faults[:20]))
sys.exit(bool(faults))
