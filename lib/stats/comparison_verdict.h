/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The words that a comparison, a trend or a gate ends in, in all tools, and the exit status of
 * each. What a word means is in emp-analyze(1), VERDICTS. */
#pragma once

#include "lib/base/base.h"
#include "lib/base/tool.h"

/* In the order of weight: of several verdicts, the greatest is that of all. */
enum comparison_verdict {
	COMPARISON_NONE, /* nothing was compared */
	COMPARISON_SAME_PROGRAM,
	COMPARISON_EQUAL,
	COMPARISON_FASTER,
	COMPARISON_CANNOT_TELL,
	COMPARISON_UNMEASURABLE,
	COMPARISON_SLOWER,
	COMPARISON_DIFFERENT_WORK,
	N_COMPARISON_VERDICTS
};

/* "faster", "cannot tell". NULL: none. */
extern const char *const comparison_verdict_words[N_COMPARISON_VERDICTS];

/* What the user asks of a verdict. */
struct comparison_rules {
	double fail_if_slower; /* a gate: percent that are allowed; below 0: no gate */
	/* percent; without a gate: differences up to this are none; below 0: EQUAL_WITHIN */
	double equal_within;
	bool strict; /* what cannot be told is a failure */
};

#define EQUAL_WITHIN 2.0
#define COMPARISON_RULES ((struct comparison_rules){.fail_if_slower = -1, .equal_within = -1})

/* The rows of --equal-within and --strict, beside a --fail-if-slower of the tool. */
#define VERDICT_OPTIONS(rules)                                                                   \
	{0, "equal-within", "PERCENT",                                                           \
		"without a gate: differences within this are none (default: 2)", option_percent, \
		&(rules).equal_within},                                                          \
	{                                                                                        \
		0, "strict", NULL,                                                               \
			"exit status 4 if a verdict is 'cannot tell' or 'unmeasurable'", NULL,   \
			&(rules).strict                                                          \
	}

#define EQUAL_WITHIN_NO_GATE \
	"--equal-within is for comparisons without --fail-if-slower, which says what is allowed"

/* How much is allowed, as a share: by the gate, or else within which two times are equal. */
double comparison_rules_margin(const struct comparison_rules *rules);

/* Of a ratio of times (above 1: slower) and its interval (NAN: none). With a gate, slower and
 * faster are changes beyond what is allowed, and equal is an interval within that on both sides.
 * Without one, any interval beyond 1 is faster or slower. */
enum comparison_verdict comparison_rules_apply(
	const struct comparison_rules *rules, double ratio, double ratio_low, double ratio_high);

/* What is known of a ratio, and what will be, with more samples. Errors are shares of the
 * ratio. */
struct verdict_forecast {
	double ratio, error; /* as measured, with its standard error */
	double df;           /* of that error */
	double next_error;   /* of the ratio to come */
	double hidden;       /* the bias that the clock's steps or sharing may give the ratio */
	/* a difference of so many of these errors is shown, if it also exceeds `hidden` */
	double shown_from;
	/* half the interval to come, without `hidden`, if the errors are right */
	double half;
	/* Whether times are equal may be judged by other values than whether they differ. In these,
	 * equal_share of the difference is left, with the error equal_error (NAN: they are the
	 * same values). Something else must be true of them, too, with the chance equal_chance. */
	double equal_share, equal_error, equal_chance;
};

/* What will be known of a comparison (`of`) with so many more samples or runs. */
typedef struct verdict_forecast verdict_forecast(const void *of, double more);

/* The least number of more samples or runs, up to `most`, with which the verdict will not be
 * COMPARISON_CANNOT_TELL in four cases of five; INFINITY: more do not help. The chance of a verdict
 * is the mean over what the ratio and the noise may be, both of which are uncertain. */
double verdict_missing(const struct comparison_rules *rules, verdict_forecast *forecast,
	const void *of, double most);

/* The exit status: STATUS_DONE, STATUS_NOT_FIT (slower, with a gate), STATUS_CANNOT_TELL (with
 * strict), STATUS_ERROR (different work). */
enum status comparison_verdict_status(
	const struct comparison_rules *rules, enum comparison_verdict verdict);

/* Of two verdicts, the one that weighs more. */
static inline enum comparison_verdict comparison_verdict_worse(
	enum comparison_verdict a, enum comparison_verdict b)
{
	return a > b ? a : b;
}

/* Why times mean too little for a verdict. */
enum unmeasurable_cause {
	MEASURABLE,
	UNMEASURABLE_QUOTA,
	UNMEASURABLE_HELD_BACK, /* by a freezer, memory.high and the like */
	UNMEASURABLE_STOLEN,
	UNMEASURABLE_SHORT,
	UNMEASURABLE_DISTURBED,
	UNMEASURABLE_CPU_KINDS,
	UNMEASURABLE_SPEED_STEP,
	UNMEASURABLE_SHARED, /* what sharing a CPU in a duet costs is not known */
	N_UNMEASURABLE_CAUSES
};

struct unmeasurable_text {
	const char *cause;  /* "held back by a quota" */
	const char *remedy; /* "measure without a quota" */
};

extern const struct unmeasurable_text unmeasurable_texts[N_UNMEASURABLE_CAUSES];

/* What is known of the work of the two programs, beside their times. */
enum compared_work {
	WORK_NOT_CHECKED,
	WORK_SAME_PROGRAM, /* equal by content: what differs is noise */
	WORK_DIFFERENT,    /* their outputs differ */
	/* The output of one is not what --check wants, or differs between its samples: of the
	 * reference, or of the other. */
	WORK_FAILED_IN_REFERENCE,
	WORK_FAILED,
	WORK_VARIES_IN_REFERENCE,
	WORK_VARIES,
};
