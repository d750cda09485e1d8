/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command of apply --for, and the restore after it, which nothing but a kill -9 prevents. */
#pragma once

#include "lib/base/error.h"

#include <stddef.h>

/* Finds the file of a command; the caller frees it. Positive with a sentence: it cannot be executed, and this is the
 * status that a shell would give (127: it does not exist, 126). */
int run_for_find(const char *name, char **ret_path, struct error *err);

/* Runs it, then restores all entries but the `first` ones. Meanwhile CPUs stay out of deep idle states, where the
 * kernel allows to ask for that. The caller holds no lock: the command may audit, or apply more. The exit status of
 * the command, or of the restore if that is not STATUS_DONE. */
int run_for(char *const *argv, const char *path, size_t first, struct error *err);
