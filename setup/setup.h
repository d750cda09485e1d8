/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The verbs of emp-setup and the options that they share. */
#pragma once

#include "lib/base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct options {
	bool json;
	bool details;       /* all there is to know of every check */
	const char *policy; /* a name or a file; NULL: this distribution's */
	bool all;           /* checks of level C too */
	bool dry_run, for_good, run_for, force, forget;
	bool at_boot; /* only forget what the reboot undid */
	bool diff, save;
	const char *db;          /* the book; NULL: the user's own */
	const char *profile;     /* of verify */
	const char *only, *skip; /* ids with commas between */
	int kill_after;          /* a switch for tests: see crash_point.h */
	int64_t within_ns;       /* how far ahead timers matter */
	const char *root;        /* a captured machine to look at; NULL: this one */
};

extern struct options options;

/* The descriptor for options.root: AT_FDCWD where it is this machine. */
int root_open(int *ret, struct error *err);

/* The host's lock, which emp-calibrate takes too: nothing is set while samples are taken. */
struct lock;
int setup_lock(struct lock *ret, const char *what, struct error *err);

int verb_audit(int argc, char **argv, struct error *err);
int verb_fingerprint(int argc, char **argv, struct error *err);
int verb_apply(int argc, char **argv, struct error *err);
int verb_restore(int argc, char **argv, struct error *err);
int verb_verify(int argc, char **argv, struct error *err);
int verb_status(int argc, char **argv, struct error *err);

/* "now", or the file of a document; a status of tool.h. */
int fingerprint_diff(const char *before_name, const char *now_name, struct error *err);

/* Takes back what the journal holds, under the lock, and tells it. A status of tool.h. */
struct taking_back;
int restore_journal(struct taking_back *how, struct error *err);
