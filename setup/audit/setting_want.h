/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The values that settings should have where no text can say it: they depend on the machine, or on
 * what a file holds now. Apart from the table of checks, which names these functions. */
#pragma once

#include "setup/audit/facts.h"

/* Finds `want` of a file; the caller frees it. NULL: it is not known. */
typedef char *setting_want_of(const struct facts *facts, const struct setting_file *file);

setting_want_of want_frequency_limits, want_uncore, want_interrupts, want_mthp, want_hung,
	want_vmstat, want_ksm, want_power_profile;
