/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp-calibrate: its options and verbs, and what they print. */
#pragma once

#include "lib/base/tool.h"
#include "lib/run/session.h"

#include <stdio.h>

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
	profile_options[], jitter_options[], clocks_options[];

/* " --db FILE" for commands that are suggested, as a shell needs it; "" if the option was not given. */
const char *calibrate_db(void);

/* A name for commands that are suggested, as a shell needs it; the next call overwrites it. */
const char *calibrate_quoted(const char *name);

/* Standard output; with --json standard error. */
FILE *screen_file(void);
void screen_print(const char *format, ...) __attribute__((format(printf, 1, 2)));

int verb_run(int argc, char **argv, struct error *err);
int verb_resume(int argc, char **argv, struct error *err);
int verb_revalidate(int argc, char **argv, struct error *err);
int verb_status(int argc, char **argv, struct error *err);
int verb_constant(int argc, char **argv, struct error *err);
int verb_clocks(int argc, char **argv, struct error *err);
int verb_profile(int argc, char **argv, struct error *err);
int verb_jitter(int argc, char **argv, struct error *err);
