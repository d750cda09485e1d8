/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The notes on the result of one program: warnings, and what may have made its times longer. Apart
 * from the session's own notes, which are on all results alike. */
#pragma once

#include "measure/session.h"

/* Adds them to task->notes. The book keeps them with those on the session, and with what the
 * machine can resolve (task->mdd). */
int task_notes_add(struct task *task, struct error *err);
