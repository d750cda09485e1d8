/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The directory of a run of the load, DIRECTORY/emp-load-XXXXXX, with one for each slave. It is locked while its owner
 * lives, so that the next run can remove what a killed one has left. */
#pragma once

#include "lib/base/cleanup.h"
#include "lib/base/error.h"

struct directory;

/* Removes abandoned ones first. */
int directory_new(struct directory **ret, const char *below, struct error *err);
/* With all that is in it. */
void directory_free(struct directory *directory);
DEFINE_FREEP(directory)

/* Makes the directory of a slave, which the caller frees. */
int directory_add(const struct directory *directory, const char *name, char **ret, struct error *err);
