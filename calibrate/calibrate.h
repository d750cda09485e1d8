/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp-calibrate: its options and verbs. */
#pragma once

#include "lib/base/tool.h"
#include "lib/run/observer.h"
#include "lib/record/book/book.h"

struct calibrate_options {
	const char *db;
	bool json;
	bool quiet;
	bool verbose;
	int cpu; /* -1: not pinned */
	enum accounting_backend backend;
	bool ignore_audit;   /* run although the machine is not fit */
	bool ignore_changes; /* resume although the environment has changed */
};

extern struct calibrate_options calibrate_options;
extern const struct option_row run_options[], resume_options[], revalidate_options[], constant_options[],
	profile_options[];

/* The book that --db names; its path too, which the caller frees. */
int calibrate_open_book(enum book_mode mode, struct book **ret, char **ret_path, struct error *err);

/* INC as a program to run: its file (the caller frees it). */
int calibrate_find_inc(char **ret, struct error *err);

/* " --db FILE" for commands that are suggested, as a shell needs it; "" if the option was not given. */
const char *calibrate_db(void);

/* --accounting as it was given: "auto", "bpf", … */
const char *calibrate_backend(void);

int verb_run(int argc, char **argv, struct error *err);
int verb_resume(int argc, char **argv, struct error *err);
int verb_revalidate(int argc, char **argv, struct error *err);
int verb_status(int argc, char **argv, struct error *err);
int verb_constant(int argc, char **argv, struct error *err);
int verb_profile(int argc, char **argv, struct error *err);
