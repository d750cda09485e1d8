/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Results of the protocol as tables for people, one form for every tool. */
#pragma once

#include "lib/base/table.h"
#include "lib/record/run.h"

/* Prints the cutoffs of a profile: a row a daemon. */
int cutoffs_print(const struct profile *profile, struct error *err);
