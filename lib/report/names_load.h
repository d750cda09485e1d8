/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The patterns by which this machine groups the names of processes. */
#pragma once

#include "lib/protocol/name_groups.h"

/* From the file EMP_NAMES, else /etc/emp/policies/names.ini; if it does not exist, names_default. */
int names_load(struct names *ret, struct error *err);
