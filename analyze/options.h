/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The options of emp-analyze that its verbs share, and the rows of options that several of them
 * have. */
#pragma once

#include "lib/base/tool.h"
#include "lib/report/run_result.h"

struct analyze_options {
	const char *db;
	const char *profile; /* of the verbs that have --profile; NULL: not given */
	bool json;
	bool recompute;                   /* results with what the book holds now */
	struct analysis_options analysis; /* by_wait_if_exact: unless by_et is given */
	bool by_et;
};

extern struct analyze_options analyze_options;

#define OTHER_CPUS_OPTION                                                                      \
	{                                                                                      \
		0, "other-cpus", NULL,                                                         \
			"also count what daemons used on CPUs other than the program's", NULL, \
			&analyze_options.analysis.other_cpus                                   \
	}
#define EXECUTION_CLOCK_OPTION                                                    \
	{                                                                         \
		0, "clock", "CLOCK", "the times of daemons by this clock:", NULL, \
			&analyze_options.analysis.clock, CHOICES("exact", "tick") \
	}
#define BY_WAIT_OPTIONS                                                                        \
	{0, "by-wait", NULL, "find long samples by waiting time W (default where W is exact)", \
		NULL, &analyze_options.analysis.by_wait},                                      \
	{                                                                                      \
		0, "by-et", NULL, "find them by their elapsed time, as in the papers", NULL,   \
			&analyze_options.by_et                                                 \
	}

#define RECOMPUTE_OPTION                                                                      \
	{                                                                                     \
		0, "recompute", NULL,                                                         \
			"with today's profile and correlation, not those of the measurement", \
			NULL, &analyze_options.recompute                                      \
	}

#define NEEDS_PICTURE(option) option " needs a picture: -o FILE.png (or .svg, .pdf)"

#define LAST_RUN_OPTION                                                                        \
	{                                                                                      \
		0, "last", NULL, "the latest run of all, in place of RUN", .operand = "--last" \
	}

option_parser option_run; /* into int64_t: the number of a run, also of an operand */

/* Into int64_t, ns since 1970: "2026-11-20", "2026-11-20 14:30", or how long ago: "2d", "12h". */
option_parser option_since;

/* That BY_WAIT_OPTIONS do not contradict each other. */
int analyze_check_by(struct error *err);
