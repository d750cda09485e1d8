/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A study while it is measured: see study_session.h. */
#include "lib/study/study_session.h"

#include "lib/record/fields.h"

void study_session_close(struct study_session *session)
{
	fields_free(&study_block_table, session->blocks, session->n_blocks);
	study_file_clear(&session->file);
	study_row_clear(&session->row);
	book_freep(&session->book);
}

int study_run(struct study_session *session, const struct study_options *options, const char *name,
	struct error *err)
{
	session->options = options;
	return study_read(&session->file, name, err);
}

int study_resume(struct study_session *session, const struct study_options *options, int64_t id,
	struct error *err)
{
	session->options = options;
	return 0;
}
