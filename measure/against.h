/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --against inc: INC is the second program of the duet, so that the PT of the first one can be given in units of INC (see
 * lib/protocol/inc_units.h). Only the first one has a result of its own. */
#pragma once

#include "lib/base/error.h"

#include <stdint.h>

struct against;

/* -ENOENT with a sentence: the suite's inc is not there. */
int against_new(struct against **ret, struct error *err);
void against_free(struct against *against);

/* INC, to be added to the commands. It must outlive what is made of it. */
const struct command *against_command(const struct against *against);

/* How long INC should take beside a program of that PT: nearly as long, so that it covers the program, in parts of half a second or less; but
 * long enough that its start does not count. A shorter program runs several times, and INC a little longer than all of them. */
int64_t against_length_ns(int64_t pt_ns);
