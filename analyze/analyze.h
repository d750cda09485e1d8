/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp-analyze: shared by its verbs. */
#pragma once

#include "lib/base/json.h"
#include "lib/base/table.h"
#include "lib/base/tool.h"
#include "lib/report/run_result.h"
#include "lib/book/book.h"

struct analyze_options {
	const char *db;
	const char *profile; /* of the verbs that have --profile; NULL: not given */
	bool json;
	bool recompute;           /* results with what the book holds now */
	bool other_cpus, by_wait; /* see struct analysis_options */
	bool by_et;               /* not by W where it is exact */
};

extern struct analyze_options analyze_options;
extern const struct option_row clocks_options[], compare_options[], cutoffs_options[], daemons_options[],
	export_options[], jitter_options[], list_options[], load_options[], profile_options[],
	remove_options[], sample_size_options[], scatter_options[], show_options[], trend_options[];

#define OTHER_CPUS_OPTION                                                                               \
	{                                                                                               \
		0, "other-cpus", NULL, "also count what daemons used on CPUs other than the program's", \
			NULL, &analyze_options.other_cpus                                               \
	}
#define BY_WAIT_OPTIONS                                                                              \
	{0, "by-wait", NULL, "find long samples by waiting time W (default where W is exact)", NULL, \
		&analyze_options.by_wait},                                                           \
	{                                                                                            \
		0, "by-et", NULL, "find them by their elapsed time, as in the papers", NULL,         \
			&analyze_options.by_et                                                       \
	}

#define RECOMPUTE_OPTION                                                                                    \
	{                                                                                                   \
		0, "recompute", NULL, "with today's profile and correlation, not those of the measurement", \
			NULL, &analyze_options.recompute                                                    \
	}

/* What options may not say together, or need beside them: the sentence for the first rule that is broken. */
struct option_rule {
	bool broken;
	const char *sentence;
};
int analyze_check_options(const struct option_rule *rules, size_t n, struct error *err);
#define NEEDS_PICTURE(option) option " needs a picture: -o FILE.png (or .svg, .pdf)"

option_parser option_run; /* into int64_t: the id of a run */

/* Parses the number of a run; `what` names it in the message. */
int analyze_parse_run(const char *text, const char *what, int64_t *ret, struct error *err);

/* Opens the book to read the run that the operand RUN names. */
int analyze_open(const char *run, struct book **ret_book, int64_t *ret_run, struct error *err);

/* The same, and analyses the run. */
int analyze_load(const char *run, const struct analysis_options *options, struct book **ret_book,
	struct analysis *ret, struct error *err);

/* A run against the profile of --profile; without one no sample is discarded by a cutoff. */
int analyze_discard(struct book *book, int64_t run, struct discarding *ret, struct error *err);

/* The same; without --profile, by the rules that the run was measured with, which must have a profile. The caller frees
 * its name. */
int analyze_discard_own(
	struct book *book, int64_t run, struct discarding *ret, char **ret_profile, struct error *err);

/* "LABEL: 3 7 12", at most 40 of them, wrapped to the terminal; nothing if n is 0. */
void print_numbers(const char *label, const uint32_t *numbers, size_t n);

/* Prints the zooms, the central cluster and the verdict. */
void print_analysis(const struct analysis *analysis);

int verb_list(int argc, char **argv, struct error *err);
int verb_show(int argc, char **argv, struct error *err);
int verb_import(int argc, char **argv, struct error *err);
int verb_export(int argc, char **argv, struct error *err);
int verb_remove(int argc, char **argv, struct error *err);
int verb_cutoffs(int argc, char **argv, struct error *err);
int verb_discard(int argc, char **argv, struct error *err);
int verb_daemons(int argc, char **argv, struct error *err);
int verb_sample_size(int argc, char **argv, struct error *err);
int verb_protocols(int argc, char **argv, struct error *err);
int verb_trend(int argc, char **argv, struct error *err);
int verb_load(int argc, char **argv, struct error *err);
int verb_jitter(int argc, char **argv, struct error *err);
int verb_compare(int argc, char **argv, struct error *err);
int verb_scatter(int argc, char **argv, struct error *err);
int verb_clocks(int argc, char **argv, struct error *err);
