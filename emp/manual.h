/* SPDX-License-Identifier: GPL-2.0-or-later */
/* EMP's manual pages as text: the installed ones, or those of the build tree. They are what scdoc
 * writes, a small part of what man(7) has; so nothing need be installed that renders pages. */
#pragma once

#include "lib/base/base.h"

/* A paragraph, a row of a table, or a line of an example. */
struct passage {
	char *page;     /* "emp-measure(1)" */
	char *section;  /* "OPTIONS" */
	char *text;     /* on one line */
	size_t heading; /* how much of the text names what it is about; 0: none of it */
};

struct manual {
	struct passage *passages;
	size_t n;
};

void manual_clear(struct manual *manual);

/* The passages of all pages, in their order. Pages that are not there are left out; if none is,
 * -ENOENT with a sentence. */
int manual_read(struct manual *ret, struct error *err);

/* Those of a page that is given as text. */
void manual_parse(struct manual *into, const char *page, char *roff);
