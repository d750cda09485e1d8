/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What differs between a jitter run and its baseline, on the screen and as a document. */
#pragma once

#include "lib/jitter/jitter_run.h"
#include "lib/jitter/jitter_show.h"

/* STATUS_NOT_FIT, with a sentence: new sources took more than view->fail_if_new. */
int jitter_changes_show(
	const struct jitter_pair *pair, const struct jitter_view *view, struct error *err);
