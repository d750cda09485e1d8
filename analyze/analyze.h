/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp-analyze: shared by its verbs. */
#pragma once

#include "lib/base/table.h"
#include "lib/base/tool.h"
#include "lib/protocol/comparison.h"
#include "lib/record/peak_memory.h"
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
extern const struct option_row clocks_options[], compare_options[], cutoffs_options[],
	daemons_options[], export_options[], jitter_options[], list_options[], load_options[],
	profile_options[], remove_options[], sample_size_options[], scatter_options[],
	show_options[], trend_options[];

#define OTHER_CPUS_OPTION                                                                      \
	{                                                                                      \
		0, "other-cpus", NULL,                                                         \
			"also count what daemons used on CPUs other than the program's", NULL, \
			&analyze_options.analysis.other_cpus                                   \
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

option_parser option_run; /* into int64_t: the number of a run, also of an operand */
/* The run that an operand names: by its number; or the latest that was given this name; or "last"
 * or --last. Returns how many runs it may mean. */
int analyze_find_run(struct book *book, const char *operand, int64_t *ret, struct error *err);

#define LAST_RUN_OPTION                                                                        \
	{                                                                                      \
		0, "last", NULL, "the latest run of all, in place of RUN", .operand = "--last" \
	}
/* Into int64_t, ns since 1970: "2026-11-20", "2026-11-20 14:30", or how long ago: "2d", "12h". */
option_parser option_since;

/* That BY_WAIT_OPTIONS do not contradict each other. */
int analyze_check_by(struct error *err);

/* Opens the book to read the run that the operand RUN names. */
int analyze_open(const char *run, struct book **ret_book, int64_t *ret_run, struct error *err);

/* The same, and analyses the run by the options. */
int analyze_load(const char *run, struct book **ret_book, struct analysis *ret, struct error *err);

/* A run against the profile of --profile; without one no sample is discarded by a cutoff. */
int analyze_discard(struct book *book, int64_t run, struct run_result *ret, struct error *err);

/* "LABEL: 3 7 12", at most 40 of them, wrapped to the terminal; nothing if n is 0. */
void print_numbers(const char *label, const uint32_t *numbers, size_t n);

/* Prints the zooms, the central cluster and the verdict. */
void print_analysis(const struct analysis *analysis);

verb_function verb_list, verb_show, verb_import, verb_export, verb_remove, verb_cutoffs,
	verb_discard, verb_daemons, verb_sample_size, verb_protocols, verb_trend, verb_load,
	verb_jitter, verb_compare, verb_scatter, verb_clocks;

/* Of emp-analyze compare. One side of a comparison: a run of the book, or a result in a document
 * that hyperfine, pyperf or emp-measure wrote; its times by enum comparison_clock. That of
 * COMPARISON_PT is empty where only elapsed times are known. */
struct compare_input {
	char *name;
	struct comparison_side sides[N_COMPARISON_CLOCKS];
	/* of a run of the book; of a result in a file only the mark of its profile and the digests
	 * of its run, whose id is 0 */
	struct discarding discarding;
	char *digest; /* of the environment; NULL: unknown */
	char *call;   /* that took the samples: see struct comparison_origin; NULL: unknown */
	/* in a document: why its duet is no reason for a verdict; NULL: none */
	char *duet_doubt;
	char *profile;        /* that discarded samples of it; NULL: none */
	bool profile_missing; /* from the book */
	struct peak_memory memory;
};

void compare_input_clear(struct compare_input *input);
/* A run of the book. Its samples are discarded by the profile that it was measured with, or by
 * --profile. */
int compare_read_run(
	struct book *book, const char *text, struct compare_input *side, struct error *err);

/* A document of results. The texts are the document's. */
struct compare_document {
	const json_t *document;
	const char *path; /* for messages */
	const struct format *format;
	struct compare_result {
		const json_t *json;
		const char *name, *unit; /* unit NULL: seconds */
		/* compare_document_match: its result in the other document, from 1; 0: none */
		size_t match;
	} * results;
	size_t n;
};

/* -EINVAL: it is of another program, or of a version that is not known. */
int compare_document_open(
	struct compare_document *ret, const json_t *document, const char *path, struct error *err);
void compare_document_close(struct compare_document *document);

/* `number` is that of the result, from 1; 0: there must be one result only, else -EINVAL, and the
 * sentence lists them. */
int compare_document_read(struct compare_input *ret, const struct compare_document *document,
	int64_t number, struct error *err);

/* Finds the results of the same name, of several the first with the first and so on. Returns their
 * number. */
size_t compare_document_match(struct compare_document *a, struct compare_document *b);
