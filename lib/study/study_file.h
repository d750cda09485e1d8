/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The file of a study: an INI file of programs, lengths and steps of settings, see emp-study(1).
 * Pure: text in, struct out. */
#pragma once

#include "lib/base/tool.h"
#include "lib/study/book_study.h"

/* How the steps of settings are combined. */
enum study_order {
	STUDY_ONE_AFTER_ANOTHER, /* none, the first, the first two, …: as the papers' EMPv1 to v4 */
	STUDY_EACH_LEFT_OUT,     /* none, all, all without the first, all without the second, … */
	STUDY_EACH_ALONE,        /* none, the first, the second, … */
	N_STUDY_ORDERS
};

/* A step of settings, which emp-setup applies. */
struct study_step {
	char *name;
	char *apply; /* ids of its checks, with commas between; NULL: none */
	char *stop;  /* units, likewise */
	int line;
	bool empty; /* it changes nothing on this machine: study_settings.h */
};

/* A program with one size. A section with several sizes makes several of them. */
struct study_subject {
	char *name;    /* "INC0.1", "sort 100K"; unique */
	char *program; /* of the section: "INC", "sort" */
	double size;   /* seconds of INC, or n; NAN: none */
	char **argv;   /* with the size in place of {size} */
	char *line;    /* the command as the file has it, for a shell if `shell` */
	bool shell, inc;
	int64_t expected_ns; /* of one execution; 0: not known */
	uint32_t samples;    /* in all rounds; 0: as the study says */
};

struct study_file {
	char *name; /* of the file, without folder and suffix */
	enum study_kind what;
	char *text;    /* what it shows, for people; NULL: nothing is said */
	char *source;  /* the whole file */
	char *policy;  /* of emp-setup; NULL: that of the machine */
	char *options; /* more options of emp-measure, as a command line; NULL: none */
	int rounds;
	uint32_t samples;    /* of each subject and step, in all rounds */
	int64_t max_time_ns; /* 0: no limit */
	enum study_order order;
	struct study_subject *subjects;
	size_t n_subjects;
	struct study_step *steps;
	size_t n_steps;
	double scale;   /* of a night: of the lengths of INC in its studies */
	char **studies; /* of a night: names or files of others, ends with NULL; NULL: none */
};

/* -EINVAL, with a sentence that names the file and the line. */
int study_parse(struct study_file *ret, const char *text, const char *path, struct error *err);
void study_file_clear(struct study_file *file);

/* Finds the study `name`: a file if it has a slash or ends in ".ini", otherwise one of those that
 * ship with EMP. -ENOENT with a sentence. */
int study_read(struct study_file *ret, const char *name, struct error *err);

/* A factor, into a double: of --scale, and of a file. */
option_parser study_parse_scale;

/* Changes the lengths of INC by a factor, and what follows from them. */
int study_file_scale(struct study_file *file, double factor, struct error *err);
/* Measures this command in place of the file's programs; -EINVAL where these have sizes. */
int study_file_replace(struct study_file *file, char *const *command, struct error *err);

/* The names of those that ship with EMP, sorted; ends with NULL; argv_freep(). */
int study_names(char ***ret, struct error *err);

extern const char *const study_order_names[N_STUDY_ORDERS + 1]; /* ends with NULL */
extern const char *const study_order_texts[N_STUDY_ORDERS];     /* for people */

/* The combinations of steps, in the order of the file: NULL is that without settings. How many
 * there are, 1 at least; the label of the i-th ("ntp": with those before it, "without ntp"), which the caller
 * frees; and whether the step k belongs to it. */
size_t study_n_combinations(const struct study_file *file);
char *study_combination_label(const struct study_file *file, size_t i);
bool study_combination_has(const struct study_file *file, size_t i, size_t k);
/* Whether it is the same as another one on this machine, by study_settings_check(). */
bool study_combination_is_empty(const struct study_file *file, size_t i);
/* How many are not. */
size_t study_n_measured_combinations(const struct study_file *file);
/* By its label. -ENOENT without a sentence. */
int study_combination_find(const struct study_file *file, const char *label, size_t *ret);
