#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""How often real pull requests are red. By hand, without root; a pull request takes about a minute:

    tests/bench/pull_requests.py BIN FOLDER... [--equal 100] [--planted 20] [--samples 10] [--ms 30]

BIN is the directory of the tools, such as that of an installation. A toy repository gets two commits with 20 short benchmarks that do the same work, and
emp-compare-commits compares them as a build server does, each time with a new lab book. Aim: at most 2 of 100 are red. Then one benchmark, each
time another one, has 5 % more work in the change: it is to be found in 95 %, and nothing else is. FOLDER keeps the document, screen and lab book
of each pull request; those that are there count and are not repeated, so the bench can be stopped and continued. Of several folders, which several
calls have filled at the same time, the first is filled, and all count. With --show, it only counts."""
import argparse
import collections
import glob
import json
import os
import random
import resource
import subprocess
import sys

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("bin")
parser.add_argument("folders", nargs="+", metavar="folder")
parser.add_argument("--equal", type=int, default=100)
parser.add_argument("--planted", type=int, default=20)
parser.add_argument("--samples", type=int, default=10)
parser.add_argument("--ms", type=float, default=30, help="length of the benchmarks")
parser.add_argument("--show", action="store_true", help="what is in FOLDER")
args = parser.parse_args()
tools, folder = os.path.abspath(args.bin), os.path.abspath(args.folders[0])
repository = f"{folder}/repository"

BENCHMARKS, PLANTED = 20, 1.05
PROGRAM = r"""#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "planted.h"
static const char *volatile commit = COMMIT; /* so that the programs of both commits are not the same */
static unsigned next[1 << 16], numbers[4096];
static char text[1 << 16], copy[1 << 16];
static volatile double real = 1;
static int by_value(const void *x, const void *y) { return (*(const unsigned *)x > *(const unsigned *)y) - (*(const unsigned *)x < *(const unsigned *)y); }
int main(int argc, char **argv)
{
	int kind = atoi(argv[1]) % 8;
	long n = atol(argv[2]);
	unsigned x = 1, at = 0;

	if (atoi(argv[1]) == PLANTED)
		n = n * 105 / 100;
	for (unsigned i = 0; i < 1 << 16; i++)
		next[i] = (i * 40503u + 1) & 0xffff;
	for (long i = 0; i < n; i++) {
		switch (kind) {
		case 0: for (int k = 0; k < 1000; k++) x = x * 1664525 + 1013904223; break;
		case 1: for (int k = 0; k < 1000; k++) real = real * 0.999999 + 1e-6; break;
		case 2: for (int k = 0; k < 1000; k++) { x = x * 1664525 + 1013904223; if (x >> 31) at++; else at ^= x; } break;
		case 3: for (int k = 0; k < 1000; k++) at = next[at & 0xffff]; break;
		case 4: memcpy(copy, text, sizeof(copy)); text[i & 0xffff] = copy[at++ & 0xffff]; break;
		case 5: for (int k = 0; k < 4096; k++) numbers[k] = x = x * 1664525 + 1013904223; qsort(numbers, 4096, 4, by_value); break;
		case 6: for (int k = 0; k < 20; k++) at += (unsigned)snprintf(copy, 64, "%u %s %g", at, "word", (double)k); break;
		case 7: for (int k = 0; k < 20; k++) { void *p = malloc(64 + (at & 1023)); at += getppid() > 0; *(volatile char *)p = 1; free(p); } break;
		}
	}
	printf("%u\n", *commit ? x + at : 0);
}
"""


def git(*words):
    """In the repository."""
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main")
    return subprocess.run(["git", "-C", repository, *identity, *words], check=True, capture_output=True, text=True).stdout


def commit(name, planted):
    """On a branch of that name: the same work, or more of it in one benchmark."""
    with open(f"{repository}/planted.h", "w", encoding="utf-8") as file:
        file.write(f'#define COMMIT "{name:10}"\nenum {{ PLANTED = {planted} }};\n')
    git("add", "-A")
    git("commit", "-qm", name)


def make_repository():
    """The base is main; the branches equal and planted-N are changes."""
    os.makedirs(repository)
    git("init", "-q")
    with open(f"{repository}/bench.c", "w", encoding="utf-8") as file:
        file.write(PROGRAM)
    with open(f"{repository}/Makefile", "w", encoding="utf-8") as file:
        file.write("bench: bench.c planted.h\n\tcc -O1 -o $@ bench.c\n")
    commit("base", -1)
    for planted in range(-1, BENCHMARKS):
        name = "equal" if planted < 0 else f"planted-{planted}"
        git("checkout", "-q", "-b", name, "main")
        commit(name, planted)


def cpu_seconds(kind, n):
    """Of the benchmark, which has no other child process beside it."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([f"{repository}/bench", str(kind), str(n)], check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def make_suite():
    """The command lines; benchmarks of a kind have different lengths, from half of --ms to one and a half of it."""
    subprocess.run(["make", "-s", "-C", repository], check=True)
    lines = []
    for i in range(BENCHMARKS):
        n = 10
        while cpu_seconds(i, n) < 0.1:
            n *= 2
        share = min(cpu_seconds(i, n) for _ in range(5)) / n
        lines.append(f"{{tree}}/bench {i} {int(args.ms / 1000 * (0.5 + i / (BENCHMARKS - 1)) / share)}")
    with open(f"{folder}/suite", "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


def run(name, branch):
    """One pull request."""
    for old in glob.glob(f"{folder}/{name}.*"): # of one that was stopped
        os.remove(old)
    git("checkout", "-q", branch)
    with open(f"{folder}/suite", encoding="utf-8") as file:
        lines = file.read().split("\n")[:-1]
    with open(f"{folder}/{name}.txt", "w", encoding="utf-8") as screen:
        subprocess.run([f"{tools}/emp-compare-commits", "-r", str(args.samples), "--db", f"{folder}/{name}.db", "--json", f"{folder}/new", "main", *lines],
                       cwd=repository, stdout=screen, stderr=screen, check=False)
    os.rename(f"{folder}/new", f"{folder}/{name}.json")


def show(kind):
    """Counts what is in the folder."""
    verdicts, red, found, beside, n = collections.Counter(), [], 0, 0, 0
    for path in sorted(path for of in args.folders for path in glob.glob(f"{of}/{kind}-*.json") if os.path.getsize(path)):
        name = os.path.basename(path)
        with open(path, encoding="utf-8") as file:
            document = json.load(file)
        n += 1
        slower = [i for i, result in enumerate(document["results"]) if result["verdict"] == "slower"]
        verdicts.update(str(result["verdict"]) for result in document["results"])
        planted = int(name.split("-")[2].split(".")[0]) if kind == "planted" else None
        found += planted in slower
        beside += slower not in ([], [planted])
        if slower and kind == "equal" or slower not in ([], [planted]):
            red.append(f"{path}: {document['summary']}")
    if kind == "equal":
        print(f"{n} equal pull requests: {len(red)} red")
    else:
        print(f"{n} planted pull requests: {found} found, {beside} with something else")
    print("  command lines: " + ", ".join(f"{count} {verdict}" for verdict, count in verdicts.most_common()))
    print("".join(f"  {line}\n" for line in red), end="")


def main():
    """Takes what is missing, in a random order, since the machine changes."""
    os.makedirs(folder, exist_ok=True)
    os.environ.update(EMP_LOCK=f"{folder}/lock", TMPDIR=folder, LC_ALL="C")
    if not args.show:
        if not os.path.exists(repository):
            make_repository()
        if not os.path.exists(f"{folder}/suite"):
            make_suite()
        wanted = [(f"equal-{i:03}", "equal") for i in range(args.equal)]
        wanted += [(f"planted-{i:03}-{i % BENCHMARKS}", f"planted-{i % BENCHMARKS}") for i in range(args.planted)]
        random.shuffle(wanted)
        for name, branch in wanted:
            if not os.path.exists(f"{folder}/{name}.json"):
                run(name, branch)
                print(name, flush=True)
    show("equal")
    show("planted")


if __name__ == "__main__":
    sys.exit(main())
