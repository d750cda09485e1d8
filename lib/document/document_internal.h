/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A document that is being read, which the modules that read it look into. */
#pragma once

#include "lib/base/base.h"

struct document_stream {
	struct error *err;
	int fd;
	char *path; /* of the file */
	char *name; /* of the last member */
	char *buffer;
	size_t capacity, at, end; /* buffer[at] is the next byte */
	int64_t offset;           /* of buffer[0] in the file */
	bool first;               /* no value of the object or array has been read yet */
	int e;                    /* errno of a failure to read */
	/* the last value that was kept, until the next call; only its brackets and quotes were
	 * checked */
	const char *text;
	size_t size;
	/* a run that was imported from it names a profile that it does not have */
	bool names_profile;
};
