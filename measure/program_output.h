/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --same-output and --check: whether a program writes the same in all samples, and all programs
 * write the same. Standard output goes to a file in memory. It is read after each sample, when no
 * program runs, so that nothing is hashed while one is timed. */
#pragma once

#include "lib/base/base.h"
#include "lib/host/system/digest.h"

/* What one sample wrote. */
struct written {
	uint32_t sample;
	char digest[DIGEST_SIZE]; /* of its output; with --check, of what the command wrote */
	int status;               /* exit status of the command of --check; 0 without it */
};

struct program_output {
	int memory;                 /* the file in memory; -1: the output is not compared */
	int stdout_fd;              /* that the program gets: the file, or a pipe */
	int forward;                /* a file that gets a copy after each sample; -1: none */
	bool shown;                 /* standard output gets one */
	struct output_drain *drain; /* of a pipe */
	struct written *items;      /* of each sample */
	size_t n;
};

#define PROGRAM_OUTPUT_NONE ((struct program_output){.memory = -1, .stdout_fd = -1, .forward = -1})

/* `where`: as --output. fd: what that is otherwise; -1: standard output. */
int program_output_open(
	struct program_output *output, const char *where, int fd, struct error *err);
void program_output_close(struct program_output *output);

/* Before each sample: both files are empty. */
int program_output_begin(struct program_output *output, struct error *err);

/* After a sample that counts. check: a command line that reads the output from standard input; what
 * it writes is compared in place of the output. NULL: none. shell: as for hook_run. */
int program_output_take(struct program_output *output, uint32_t sample, const char *check,
	char *const *shell, struct error *err);

/* After each sample and warm-up: the copies. */
int program_output_copy(struct program_output *output, struct error *err);

/* The output that most samples have; of several, that of the first. NULL: there is no sample. */
const struct written *program_output_usual(const struct program_output *output);

/* Samples whose output differs from the usual one, or that --check refused: "samples 2, 5, 9",
 * which the caller frees; NULL: none. */
char *program_output_unlike(const struct program_output *output);
char *program_output_refused(const struct program_output *output);

/* For struct run. The caller frees it. */
char *program_output_digest(const struct program_output *output);
