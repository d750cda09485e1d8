/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The programs of a run whose samples consist of several at once: the slaves of a load, or the two of a duet. Times are
 * ns. */
#pragma once

#include "lib/record/fields.h"

struct run_program {
	uint32_t n;    /* counts from 1 */
	char *name;    /* as shown: "xz", "edit 2" */
	char *command; /* JSON array of its arguments; NULL: none, or not one command */
};

/* What one of them did in one sample. -1: unknown. */
struct sample_program {
	uint32_t sample, program; /* their n */
	int64_t start_ns;         /* since 1970 */
	int64_t et_ns, pt_ns, user_ns, system_ns;
	int64_t max_rss_bytes;
	int exit_status; /* as a shell reports it */
	int left_behind;
	int64_t repetitions; /* of its work, complete ones */
	int64_t finished_ns; /* from the start until it had done its share; later ones kept the load constant */
	int64_t wait_ns;     /* it was ready to run, but other tasks had the CPU */
	int64_t io_wait_ns; /* it waited for a disk */
	int64_t major_faults;
};

extern const struct field_table run_program_table, sample_program_table;

void run_programs_free(struct run_program *programs, size_t n);
