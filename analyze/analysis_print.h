/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An analysis as text, for the verbs that show one. */
#pragma once

#include "lib/report/run_result.h"

/* "LABEL: 3 7 12", at most 40 of them, wrapped to the terminal; nothing if n is 0. */
void analysis_print_numbers(const char *label, const uint32_t *numbers, size_t n);

/* Prints the zooms, the central cluster and the verdict. */
void analysis_print(const struct analysis *analysis);
