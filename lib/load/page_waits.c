/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The fields of page waits: see page_waits.h. */
#include "lib/load/page_waits.h"

#include "lib/base/cleanup.h"

const char *const page_wait_kind_names[N_PAGE_WAIT_KINDS] = {
	[PAGE_WAIT_SLAVE] = "slave",
	[PAGE_WAIT_READ] = "read",
	[PAGE_WAIT_WRITE] = "write",
};

#define KIND .words = page_wait_kind_names, .n_words = N_PAGE_WAIT_KINDS
#define UNLESS_NEGATIVE .presence = FIELD_OPTIONAL, .unknown = -1
/* So many waits of that length add up without overflow in a reader. */
#define COUNT_MAX (INT64_C(1) << 48)
#define TOTAL_MAX (INT64_C(1) << 60)

static const struct field fields[] = {
	{FIELD(page_wait, FIELD_UINT32, sample), .min = 1},
	{FIELD(page_wait, FIELD_ENUM, kind), KIND},
	{FIELD(page_wait, FIELD_INT64, count), .max = COUNT_MAX},
	{FIELD(page_wait, FIELD_INT64, total_ns), .max = TOTAL_MAX},
	{FIELD(page_wait, FIELD_INT64, ready_ns), UNLESS_NEGATIVE, .max = TOTAL_MAX},
	{FIELD(page_wait, FIELD_INT64, lost), .max = COUNT_MAX},
};
const struct field_table page_wait_table = {
	"page_wait", "run, ", fields, ELEMENTS(fields), sizeof(struct page_wait)};

static const struct field bin_fields[] = {
	{FIELD(page_wait_bin, FIELD_UINT32, sample), .min = 1},
	{FIELD(page_wait_bin, FIELD_ENUM, kind), KIND},
	{FIELD(page_wait_bin, FIELD_INT64, low_ns), .max = TOTAL_MAX},
	{FIELD(page_wait_bin, FIELD_INT64, high_ns), UNLESS_NEGATIVE, .min = 1, .max = TOTAL_MAX},
	{FIELD(page_wait_bin, FIELD_INT64, count), .min = 1, .max = COUNT_MAX},
	{FIELD(page_wait_bin, FIELD_INT64, total_ns), .max = TOTAL_MAX},
};
const struct field_table page_wait_bin_table = {
	"page_wait_bin", "run, ", bin_fields, ELEMENTS(bin_fields), sizeof(struct page_wait_bin)};

void page_waits_clear(struct page_waits *waits)
{
	free(waits->items);
	free(waits->bins);
	*waits = (struct page_waits){};
}
