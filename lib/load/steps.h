/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Carrying out the steps of a script, in a slave. */
#pragma once

#include "lib/load/load_file.h"

struct steps {
	const struct script *script;
	uint64_t random;
	int null, output;                    /* descriptors: /dev/null; -1 or that of the commands' output */
	int64_t major_faults, max_rss_bytes; /* of all commands so far */
};

/* `seed` decides on all pauses that are drawn. */
int steps_begin(
	struct steps *ret, const struct script *script, uint64_t seed, bool show_output, struct error *err);

/* The files that `flush` reads, in the current directory. */
int steps_make_files(const struct steps *steps, struct error *err);

/* Each step once. -ECANCELED, with a sentence that names the line, if a command fails. */
int steps_take(struct steps *steps, struct error *err);
