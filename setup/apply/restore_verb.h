/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The verb restore, which apply --for uses too. */
#pragma once

#include "setup/apply/restore.h"

int restore_verb(int argc, char **argv, struct error *err);

/* Restores what the journal holds, under the host's lock, and shows the result. A status of tool.h. */
int restore_verb_journal(const struct restore_options *how, struct error *err);
