/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A directory of a test's own, and lab books in it. */
#pragma once

#include "tests/unit/check.h"

#include "lib/book/book.h"

#include <ftw.h>
#include <sys/stat.h>

struct scratch {
	char directory[64];
	char path[96]; /* of a book in it, not made yet */
	struct book *book;
	struct error err;
};

static inline int scratch_remove(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
	return remove(path);
}

static inline int scratch_make(void **state)
{
	struct scratch *s = calloc(1, sizeof(*s));

	strcpy(s->directory, "/tmp/emp-test-XXXXXX");
	if (!mkdtemp(s->directory) || chmod(s->directory, 0755) < 0)
		return -1;
	snprintf(s->path, sizeof(s->path), "%s/emp.db", s->directory);
	*state = s;
	return 0;
}

static inline int scratch_clear(void **state)
{
	struct scratch *s = *state;

	book_free(s->book);
	nftw(s->directory, scratch_remove, 8, FTW_DEPTH | FTW_PHYS);
	free(s);
	return 0;
}

/* With a book that is open and empty. */
static inline int scratch_with_book(void **state)
{
	struct scratch *s;

	if (scratch_make(state) < 0)
		return -1;
	s = *state;
	return book_open(&s->book, s->path, BOOK_WRITE, &s->err);
}

/* A test whose parameter is such a directory, `s`. */
#define TEST_IN_BOOK(name) TEST_IN_SCRATCH(name, scratch_with_book)
#define TEST_IN_DIRECTORY(name) TEST_IN_SCRATCH(name, scratch_make)
#define TEST_IN_SCRATCH(name, setup)              \
	static void name##_in(struct scratch *s); \
	TEST_WITH(name, setup, scratch_clear)     \
	{                                         \
		name##_in(*state);                \
	}                                         \
	static void name##_in(struct scratch *s)

/* 0, or the sentence is shown. */
#define assert_done(s, call)                                      \
	do {                                                      \
		if ((call) < 0)                                   \
			fail_msg("%s: %s", #call, (s)->err.text); \
	} while (0)

/* The sentence has these words in it. */
#define assert_says(s, words)                                                 \
	do {                                                                  \
		if (!strstr((s)->err.text, words))                            \
			fail_msg("'%s' is not in: %s", words, (s)->err.text); \
	} while (0)

static inline struct run scratch_run(const char *program)
{
	return (struct run){.program = strdup(program),
		.kind = RUN_SHORT,
		.task_length_ns = 100000000,
		.resolution_ns = 1,
		.cpu = -1};
}

static inline struct sample scratch_sample(uint32_t n)
{
	return (struct sample){.n = n,
		.start_ns = 1700000000000000000 + n,
		.et_ns = 1000 + n,
		.pt_ns = 900 + n,
		.user_ns = -1,
		.system_ns = -1,
		.max_rss_bytes = -1,
		.observer_ns = -1,
		.exit_status = -1};
}

/* Opens the book, again if it is open. */
static inline void scratch_open(struct scratch *s, enum book_mode mode)
{
	book_free(TAKE(s->book));
	assert_done(s, book_open(&s->book, s->path, mode, &s->err));
}

/* A run in the book. */
static inline struct run scratch_begin(struct scratch *s, const char *program)
{
	struct run run = scratch_run(program);

	assert_done(s, book_begin_run(s->book, &run, &s->err));
	return run;
}

static inline uint32_t scratch_source(struct scratch *s, const char *name, enum source_kind kind)
{
	uint32_t id = 0;

	assert_done(s, book_source(s->book, &(struct source){.name = (char *)name, .kind = kind},
			       &id, &s->err));
	return id;
}

/* Gives a run its nth sample, with these executions. */
static inline void scratch_add(struct scratch *s, int64_t run, uint32_t n,
	const struct execution *executions, size_t n_executions)
{
	struct sample sample = scratch_sample(n);

	assert_done(s, book_add_sample(s->book, run, &sample, executions, n_executions, &s->err));
}

/* Two structs have the same values in all fields of their table. */
static inline void assert_same_fields(const struct field_table *table, const void *a, const void *b)
{
	for (const struct field *f = table->fields; f < table->fields + table->n; f++) {
		bool same;

		if (f->type == FIELD_TEXT)
			same = strcmp(*field_text(f, a) ?: "NULL", *field_text(f, b) ?: "NULL") ==
			       0;
		else if (f->type == FIELD_CHARS)
			same = memcmp((const char *)a + f->offset, (const char *)b + f->offset,
				       f->size) == 0;
		else if (f->type == FIELD_REAL)
			same = *field_real(f, a) == *field_real(f, b);
		else
			same = field_get(f, a) == field_get(f, b);
		if (!same)
			fail_msg("'%s' of '%s' is not the same", f->name, table->table);
	}
}

/* Stores the run, which it frees, with five samples a second apart: their PTs are so many ns and up
 * to 5 more. Returns its id. */
static inline int64_t scratch_add_run(struct scratch *s, struct run run, int64_t pt_ns)
{
	static int64_t now;
	int64_t id;

	assert_done(s, book_begin_run(s->book, &run, &s->err));
	for (uint32_t n = 1; n <= 5; n++) {
		struct sample sample = scratch_sample(n);

		sample.start_ns = ++now * NS_PER_S;
		sample.pt_ns = pt_ns + n;
		assert_done(s, book_add_sample(s->book, run.id, &sample, NULL, 0, &s->err));
	}
	id = run.id;
	run_clear(&run);
	return id;
}
