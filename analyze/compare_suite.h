/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The results of two documents, compared in pairs of the same name. */
#pragma once

#include "analyze/compare_file.h"

/* Shows the comparisons. Returns the status of the verdict that weighs most. */
int compare_suites(const struct compare_file files[2], struct error *err);
