/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Restoring the files of a journal.
 *
 * The kernel changes some files along with others: a governor changes preferences, the turbo switch
 * of all policies rewrites that of each policy. So what is restored is decided before anything is
 * written. All of it is written in an order that suits the kernel, and what does not hold its value
 * then is written once more. */
#pragma once

#include "setup/apply/restoring.h"

void restore_files(struct restore *restore);
