/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The patterns by which this machine groups the names of processes. */
#pragma once

#include "lib/protocol/name_groups.h"
#include "lib/record/run.h"

/* From the file EMP_NAMES, else /etc/emp/policies/names.ini; if it does not exist, names_default. */
int names_load(struct names *ret, struct error *err);
/* The text of that file, which the caller frees; "" if it does not exist. */
int names_text(char **ret, struct error *err);
/* Those that the run was measured with; if that is not known, today's. */
int names_load_of(const struct run *run, struct names *ret, struct error *err);
