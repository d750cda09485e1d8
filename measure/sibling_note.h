/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which processes of this machine used the other hardware threads of the program's core, where the
 * kernel shows them: on a machine that is not virtual, they are the neighbour. */
#pragma once

#include "measure/session.h"

/* Adds a note on them to task->notes, if they used more than 1 % of the time of the samples. A
 * process counts for the CPU that it ran on last in a sample. */
int sibling_note_add(struct task *task, struct error *err);
