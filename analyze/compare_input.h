/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One side of a comparison: a run of the book, or a result in a file that hyperfine, pyperf or emp-measure wrote. */
#pragma once

#include "analyze/analyze.h"
#include "analyze/compare_document.h"
#include "lib/protocol/comparison.h"

/* Whether it is the number of a run in the book. */
bool compare_input_is_run(const char *text);

/* `text` is the number of a run in the book, or FILE, or FILE:N for the N-th result in it. Samples of a run of the
 * book are discarded by the profile that it was measured with, or by --profile; what emp-measure discarded by name stays
 * discarded. -EINVAL: FILE holds several
 * results and N is missing; the sentence lists them. */
int compare_input_read(struct compare_input *ret, struct book *book, const char *text, struct error *err);
