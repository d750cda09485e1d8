/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A night: studies one after another, each planned when it begins, so that all of them end within the
 * limit of the night. In the book it is a study without blocks of its own. */
#pragma once

#include "lib/study/study_session.h"

/* `night` has its file; prints the plan if it is a dry run. A status, or a failure. */
int study_night_run(struct study_session *night, struct error *err);
/* One that was loaded. */
int study_night_resume(struct study_session *night, struct error *err);
