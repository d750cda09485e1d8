/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The verbs of emp-setup, and their options. */
#pragma once

#include "lib/base/base.h"

struct options {
	bool json;
	bool verbose;
	const char *policy; /* a name or a file; NULL: this distribution's */
	bool all;           /* checks of level C too */
	bool dry_run, persistent, run_for, force, forget;
	bool in_container; /* apply changes the host of this container */
	bool at_boot;      /* only forget what the reboot undid */
	bool diff, save;
	const char *db;          /* the book; NULL: the user's own */
	const char *only, *skip; /* comma-separated ids */
	/* comma-separated units to stop that policies only stop if they are named */
	const char *stop;
	bool wait;         /* for what stopped units have left behind */
	int kill_after;    /* for tests: see crash_point(); 0: never */
	int isolate;       /* this CPU gets its core for itself; -1: none */
	int cpu;           /* that programs will be timed on; -1: not known */
	int64_t within_ns; /* how far ahead timers matter */
	int root_fd;       /* of a captured machine to look at; AT_FDCWD: this one */
};

extern struct options options;

/* Each returns a status of tool.h. */
int audit_verb(int argc, char **argv, struct error *err);
int apply_verb(int argc, char **argv, struct error *err);
int restore_verb(int argc, char **argv, struct error *err);
int status_verb(int argc, char **argv, struct error *err);
int fingerprint_verb(int argc, char **argv, struct error *err);
int fingerprint_verify_verb(int argc, char **argv, struct error *err);
