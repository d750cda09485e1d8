/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Options of emp-study that several verbs share. */
#pragma once

#include "lib/base/tool.h"
#include "lib/study/study_session.h"

extern struct study_options study_options;
