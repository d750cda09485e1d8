/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The verbs of emp-setup and the options that they share. */
#pragma once

#include "lib/base/error.h"

#include <stdbool.h>

struct options {
	bool json;
	bool details;       /* all there is to know of every check */
	const char *policy; /* a name or a file; NULL: this distribution's */
	const char *root;   /* a captured machine to look at; NULL: this one */
};

extern struct options options;

/* The descriptor for options.root: AT_FDCWD where it is this machine. */
int root_open(int *ret, struct error *err);

int verb_audit(int argc, char **argv, struct error *err);
int verb_fingerprint(int argc, char **argv, struct error *err);
