/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any bytes as the journal of emp-setup. What is accepted is the same after it was saved and
 * loaded. */
#include "setup/apply/journal.h"
#include "tests/fuzz/fuzz.h"

#include <fcntl.h>

static void write_journal(const uint8_t *bytes, size_t n)
{
	_cleanup_(closep) int fd = -1;
	static char directory[256];
	char path[300];

	snprintf(directory, sizeof(directory), "%s/state", fuzz_directory());
	mkdir(directory, 0700);
	journal_directory = directory;
	snprintf(path, sizeof(path), "%s/journal", directory);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	FUZZ_MUST(fd >= 0 && write(fd, bytes, n) == (ssize_t)n);
}

static bool same_text(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static void must_be_same(const struct journal *a, const struct journal *b)
{
	FUZZ_MUST(a->n == b->n && a->since_ns == b->since_ns && same_text(a->boot_id, b->boot_id));
	for (size_t i = 0; i < a->n; i++) {
		const struct entry *x = &a->entries[i], *y = &b->entries[i];

		FUZZ_MUST(same_text(x->id, y->id) && same_text(x->name, y->name) &&
			  same_text(x->old, y->old) && same_text(x->want, y->want) &&
			  same_text(x->held, y->held));
		FUZZ_MUST(x->kind == y->kind && x->file_kind == y->file_kind &&
			  x->block == y->block && x->persistent == y->persistent);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	_cleanup_(journal_clear) struct journal journal = {}, again = {};
	struct error err = {};

	write_journal(bytes, n);
	if (journal_load(&journal, &err) < 0) {
		FUZZ_REFUSED(&err);
		return 0;
	}
	FUZZ_MUST(journal_save(&journal, &err) == 0 && journal_load(&again, &err) == 1);
	must_be_same(&journal, &again);
	for (size_t i = 0; i < journal.n; i++) {
		FUZZ_MUST(journal_find(&journal, journal.entries[i].name));
		FUZZ_MUST(journal_mark(&journal, i, &err) == 0);
	}
	journal_drop_stale(&journal);
	return 0;
}
