/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp-measure's options. Options that hyperfine, pyperf or perf also have are named as there. */
#pragma once

#include "measure/parameters.h"
#include "lib/base/tool.h"
#include "lib/report/metric_export.h"
#include "lib/run/sampling.h"
#include "lib/stats/comparison_verdict.h"

/* What --sort orders: the comparisons on the screen, and the rows of tables. */
enum sort { SORT_AUTO, SORT_COMMAND, SORT_MEAN_TIME };

enum export {
	EXPORT_JSON,
	EXPORT_CSV,
	EXPORT_MARKDOWN,
	EXPORT_ASCIIDOC,
	EXPORT_ORGMODE,
	EXPORT_METRICS, /* and those that follow, by enum metric_format */
	N_EXPORTS = EXPORT_METRICS + N_METRIC_FORMATS
};

/* Of a duet, unless --slice says otherwise. */
enum { DEFAULT_SLICE_NS = 10 * 1000 * 1000 };

struct measure_options {
	const char *db, *profile, *shell, *input, *unit, *perf;
	const char *setup, *cleanup, *reference, *reference_name, *step;
	const char *check;              /* NULL: not given */
	const char *exports[N_EXPORTS]; /* files; NULL: not given */
	const char *plot;               /* NULL: not given */
	/* for all command lines; NULL: /bin/sh for those that need a shell, with no_shell none */
	char **shell_words;
	struct option_list names, prepare, conclude, output;
	struct option_list metric_exports;
	struct option_list scans; /* NAME, MIN, MAX, and so on */
	struct parameters parameters;
	bool json, quiet, verbose, trace, silent, fast, rigorous, show_output, no_shell,
		ignore_lock, aa, same_output, fast_clock, new_session;
	bool against_inc;         /* the program alternates with INC */
	bool affine;              /* `affinity` is set */
	bool ignored_status[256]; /* by exit status: whether samples that end with it count */
	int cpu;                  /* -1: not pinned */
	bool cpu_chosen;          /* it is not given, but the one of a duet */
	cpu_set_t affinity;
	/* not given: warm_ups -1, the others 0; see measure_options_finish */
	int warm_ups, runs, min_runs, max_runs, retain;
	/* Where samples had a neighbour, more are taken, up to this many; set by
	 * measure_options_finish. */
	int neighbour_runs;
	unsigned compare;              /* as for comparison_clocks */
	struct comparison_rules rules; /* of verdicts */
	bool other_cpus;               /* cutoffs apply to what daemons used on other CPUs, too */
	double unprofiled_percent;     /* of a sample's ET; 0: no limit for unprofiled daemons */
	enum neighbour_rule neighbour; /* NEIGHBOUR_OFF without probes */
	bool neighbour_given;
	double neighbour_percent; /* of a sample's time */
	/* of a sample's time, for probes within it; 0: only before and after; below 0: none */
	double probe_share;
	bool probe_given;
	int64_t study_block; /* of the lab book, that the first command's run belongs to; 0: none */
	int64_t timeout_ns, linger_ns;
	int64_t slice_ns;     /* of a duet; 0: not given */
	int alone;            /* of a duet; -1 before measure_options_finish: not given */
	enum slicing slicing; /* of a duet */
	bool repeat;          /* of a duet */
	enum order order;     /* ORDER_AUTO before measure_options_choose_order */
	bool order_given;
	bool order_auto;         /* it was */
	const char *in_turn_why; /* with it: why there can be no duet; NULL: there may be */
	enum sort sort;
	enum accounting_backend backend;
};

extern struct measure_options measure_options;
extern const struct option_row measure_option_rows[];

/* After all options are read: checks for contradictions, sets default values, makes parameters of
 * scans. */
int measure_options_finish(struct measure_options *options, struct error *err);

/* Why --order auto takes that many programs in turn, as a main clause, or "" if there is only one.
 * NULL: a duet is possible. */
const char *measure_options_why_in_turn(const struct measure_options *options, size_t n_programs);

/* When it is known how many programs there are: --order auto is a duet, unless the options or their
 * number exclude that. */
void measure_options_choose_order(struct measure_options *options, size_t n_programs);
