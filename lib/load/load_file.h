/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A load: scripts, and how many workers ("slaves" in the file) follow each. Read from an INI file,
 * see emp-load(1). */
#pragma once

#include "lib/base/tool.h"
#include "lib/load/book_load.h"

#include <sched.h>

/* A pause: from low_ns to high_ns, all alike; or exponential, with the mean low_ns. */
struct think {
	int64_t low_ns, high_ns;
	bool exponential;
};

enum step_kind {
	STEP_COMMAND,
	STEP_THINK,
	STEP_DROP, /* the page cache */
	STEP_FILL, /* the page cache, with files of the worker's own */
};

struct step {
	enum step_kind kind;
	int line;    /* of the file */
	char *text;  /* as the file has it */
	char **argv; /* of a command, and its file */
	char *path;
	char *input; /* NULL: /dev/null */
	struct think think;
	int64_t fill_bytes;
};

struct script {
	char *name;
	int workers, repetitions;
	char *setup, *teardown; /* NULL: none */
	struct step *steps;
	size_t n_steps;
	int nice;
	int64_t slice_ns; /* 0: the scheduler's own */
	int64_t weight;   /* cpu.weight; 0: as the kernel has it */
	int64_t memory;   /* memory.max in bytes; 0: no limit */
	bool ignore_failure;
};

struct load {
	char *name; /* of the file, without its directory */
	char *file_directory, *directory;
	char *setup, *teardown;
	char *cpu_list; /* NULL: any */
	cpu_set_t cpus;
	enum coordination coordination;
	int runs;
	uint64_t seed;
	int64_t timeout_ns;
	struct script *scripts;
	size_t n_scripts;
};

/* The load in `text`, which comes from the file `path`. -EINVAL, with a sentence that names the
 * file and the line; the failures of executable_find(). */
int load_parse(struct load *ret, const char *text, const char *path, struct error *err);
void load_clear(struct load *load);

/* What the load would do: `emp-load check`. */
void load_print(FILE *file, const struct load *load);

/* How many workers there are. The worker k, from 0, follows the script load_script_of(). */
size_t load_n_workers(const struct load *load);
const struct script *load_script_of(const struct load *load, size_t worker);
/* "edit 2", or "edit" where it is the only one of its script; the caller frees it. */
char *load_worker_name(const struct load *load, size_t worker);
