/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The features whose tables are in the lab book: the one place that knows them all, so that the
 * core need not. */
#include "lib/clocks/clocks.h"
#include "lib/duet/book_duet.h"
#include "lib/jitter/jitter.h"
#include "lib/load/book_load.h"

const struct document_feature *const document_features[] = {
	&load_feature, &duet_feature, &jitter_feature, &clocks_feature, NULL};
