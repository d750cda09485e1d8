/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp-measure's options. Where hyperfine, pyperf or perf have one for the same thing, it has the same name.
 */
#pragma once

#include "lib/base/tool.h"
#include "lib/run/sampling.h"

/* One name that stands in commands as {name}, and what it stands for in turn. */
struct parameter {
	char *name;
	char **values; /* NULL-terminated */
};

struct parameters {
	struct parameter *items;
	size_t n;
};

struct measure_options {
	const char *db, *profile;
	const char *setup, *cleanup, *shell, *input, *output, *step;
	const char *export_json, *export_csv, *export_markdown, *unit;
	char **shell_words;                                 /* NULL: no shell for the commands */
	struct option_list names, prepare, conclude, scans; /* scans: NAME, MIN, MAX one behind another */
	struct parameters parameters;
	bool json, quiet, verbose, silent, ignore_failure, show_output, no_shell, anyway, aa, new_session,
		affine;
	int cpu;            /* -1: not pinned */
	cpu_set_t affinity; /* where affine */
	int warm_ups, runs, min_runs, max_runs, retain;
	double fail_if_slower;     /* percent; below 0: not asked for */
	double unprofiled_percent; /* of a sample's ET; 0: an unprofiled daemon may take any share */
	int64_t timeout_ns, linger_ns;
	enum order order;
	enum accounting_backend backend;
};

extern struct measure_options measure_options;
extern const struct option_row measure_option_rows[];

/* What only shows when all options are read: scans into parameters, contradictions. */
int measure_options_finish(struct measure_options *options, struct error *err);
