/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Loads in the lab book: their fields, and the SQL. */
#include "lib/load/book_load.h"

#include "lib/book/sql.h"

const char *const coordination_names[N_COORDINATIONS + 1] = {
	[LOAD_CONSTANT] = "constant-load",
	[LOAD_NO_TEARDOWN] = "no-teardown",
	[LOAD_BEFORE] = "before",
};

static const struct field load_fields[] = {
	{FIELD(load_row, FIELD_ENUM, coordination), .words = coordination_names,
		.n_words = N_COORDINATIONS},
	{FIELD(load_row, FIELD_TEXT, cpus), IS_OPTIONAL},
	{FIELD(load_row, FIELD_TEXT, file)},
	{FIELD(load_row, FIELD_TEXT, no_page_waits), IS_OPTIONAL},
};
const struct field_table load_table = {
	"load", "run, ", load_fields, ELEMENTS(load_fields), sizeof(struct load_row)};

static const struct field load_sample_fields[] = {
	{FIELD(load_sample, FIELD_UINT32, sample), .min = 1},
	{FIELD(load_sample, FIELD_INT64, release_ns), IS_TIME},
	{FIELD(load_sample, FIELD_INT64, driver_ns), IS_TIME},
	{FIELD(load_sample, FIELD_INT64, idle_ns), UNLESS_NEGATIVE, IS_TIME},
	{FIELD(load_sample, FIELD_INT64, cpus), UNLESS_NEGATIVE, .min = 1, .max = 1000000},
};
const struct field_table load_sample_table = FIELD_TABLE(load_sample, "run, ", load_sample_fields);

const char *const page_wait_kind_names[N_PAGE_WAIT_KINDS] = {
	[PAGE_WAIT_WORKER] = "slave",
	[PAGE_WAIT_READ] = "read",
	[PAGE_WAIT_WRITE] = "write",
};

#define KIND .words = page_wait_kind_names, .n_words = N_PAGE_WAIT_KINDS
/* So many waits of that length add up without overflow in a reader. */
#define COUNT_MAX (INT64_C(1) << 48)
#define TOTAL_MAX (INT64_C(1) << 60)

static const struct field page_wait_fields[] = {
	{FIELD(page_wait, FIELD_UINT32, sample), .min = 1},
	{FIELD(page_wait, FIELD_ENUM, kind), KIND},
	{FIELD(page_wait, FIELD_INT64, count), .max = COUNT_MAX},
	{FIELD(page_wait, FIELD_INT64, total_ns), .max = TOTAL_MAX},
	{FIELD(page_wait, FIELD_INT64, ready_ns), UNLESS_NEGATIVE, .max = TOTAL_MAX},
	{FIELD(page_wait, FIELD_INT64, lost), .max = COUNT_MAX},
};
const struct field_table page_wait_table = FIELD_TABLE(page_wait, "run, ", page_wait_fields);

static const struct field page_wait_bin_fields[] = {
	{FIELD(page_wait_bin, FIELD_UINT32, sample), .min = 1},
	{FIELD(page_wait_bin, FIELD_ENUM, kind), KIND},
	{FIELD(page_wait_bin, FIELD_INT64, low_ns), .max = TOTAL_MAX},
	{FIELD(page_wait_bin, FIELD_INT64, high_ns), UNLESS_NEGATIVE, .min = 1, .max = TOTAL_MAX},
	{FIELD(page_wait_bin, FIELD_INT64, count), .min = 1, .max = COUNT_MAX},
	{FIELD(page_wait_bin, FIELD_INT64, total_ns), .max = TOTAL_MAX},
};
const struct field_table page_wait_bin_table = FIELD_TABLE(
	page_wait_bin, "run, ", page_wait_bin_fields);

void page_waits_clear(struct page_waits *waits)
{
	free(waits->items);
	free(waits->bins);
	*waits = (struct page_waits){};
}

const struct document_feature load_feature = {
	.rows = (const struct run_rows[]){{"load", &load_table, .single = true},
		{"load_samples", &load_sample_table}, {"page_waits", &page_wait_table},
		{"page_wait_bins", &page_wait_bin_table}, {}}};

int book_get_load(struct book *book, int64_t run, struct load_row *ret, struct error *err)
{
	return sql_one(book, err, &load_table, "WHERE run = ?", ret, "i", run);
}
