/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The differences between two fingerprints, in the machine and in its settings. */
#pragma once

#include "lib/base/json.h"

#include <stdbool.h>
#include <stddef.h>

struct difference {
	bool identity; /* of the machine itself; false: of its settings */
	char *what;    /* "kernel.release", "units.cron.service", "frequency.policies.0-3.governor" */
	char *before,
		*now; /* "nothing" where the machine has none; of a list's item "present", "gone", "absent" */
};

struct differences {
	struct difference *items; /* identity first, then as in the documents */
	size_t n;
};

/* Compares two documents of emp-setup fingerprint, without the volatile values and without what only one of them
 * records. */
int environment_diff(const json_t *before, const json_t *now, struct differences *ret, struct error *err);
void difference_clear(struct difference *difference);
void differences_clear(struct differences *differences);

/* "kernel.release was 6.1, is 6.2; …" of at most `most` of them, and how many more; the caller frees it. */
int differences_description(
	const struct differences *differences, size_t most, char **ret, struct error *err);
