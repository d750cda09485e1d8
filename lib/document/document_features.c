/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables of the core and of features: see document_features.h. */
#include "lib/document/document_features.h"

#include "lib/book/sql.h"

static const struct run_rows core_rows[] = {
	{"warnings", &note_table},
	{"programs", &run_program_table},
	{"program_samples", &sample_program_table},
	{"resume_points", &resume_point_table},
	{},
};

const struct run_rows *document_run_rows(size_t i)
{
	for (const struct run_rows *rows = core_rows; rows->member; rows++)
		if (i-- == 0)
			return rows;
	for (const struct document_feature *const *feature = document_features; *feature; feature++)
		for (const struct run_rows *rows = (*feature)->rows; rows && rows->member; rows++)
			if (i-- == 0)
				return rows;
	return NULL;
}

int document_companions(
	struct book *book, int64_t run, int64_t **ret, size_t *ret_n, struct error *err)
{
	int r = 0;

	*ret = NULL;
	*ret_n = 0;
	for (const struct document_feature *const *feature = document_features;
		r >= 0 && *ret_n == 0 && *feature; feature++) {
		const struct run_rows *companions = &(*feature)->companions;

		if (!companions->member)
			continue;
		free(TAKE(*ret));
		r = sql_all(book, err, companions->table, companions->select, ret, ret_n, "i", run);
	}
	return r < 0 ? r : 0;
}
