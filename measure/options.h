/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp-measure's options. Where hyperfine, pyperf or perf have one for the same thing, it has the same name.
 */
#pragma once

#include "lib/base/tool.h"
#include "lib/run/sampling.h"

#include "measure/parameters.h"

/* What --sort orders: the comparisons on the screen, and the rows of tables. */
enum sort { SORT_AUTO, SORT_COMMAND, SORT_MEAN_TIME };

enum export { EXPORT_JSON, EXPORT_CSV, EXPORT_MARKDOWN, EXPORT_ASCIIDOC, EXPORT_ORGMODE, N_EXPORTS };

struct measure_options {
	const char *db, *profile, *shell, *input, *unit, *perf;
	const char *setup, *cleanup, *reference, *reference_name, *step;
	const char *exports[N_EXPORTS];                             /* files; NULL: not asked for */
	char **shell_words;                                         /* NULL: no shell for the commands */
	struct option_list names, prepare, conclude, output, scans; /* scans: NAME, MIN, MAX, and so on */
	struct parameters parameters;
	bool json, quiet, verbose, silent, fast, rigorous, show_output, no_shell, ignore_lock, aa,
		new_session;
	bool affine; /* `affinity` is set */
	bool ignored_status
		[256]; /* by exit status: whether a program that ends with it is measured all the same */
	int cpu;       /* -1: not pinned */
	cpu_set_t affinity;
	int warm_ups, runs, min_runs, max_runs,
		retain;            /* before measure_options_finish: warm_ups -1, others 0 */
	double fail_if_slower;     /* percent; below 0: not asked for */
	double unprofiled_percent; /* of a sample's ET; 0: an unprofiled daemon may take any share */
	int64_t timeout_ns, linger_ns;
	enum order order;
	enum sort sort;
	enum accounting_backend backend;
};

extern struct measure_options measure_options;
extern const struct option_row measure_option_rows[];

/* After all options are read: contradictions, default values, scans as parameters. */
int measure_options_finish(struct measure_options *options, struct error *err);
