/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Words that a command line can have of a book: runs, profiles and so on. */
#pragma once

#include "lib/base/base.h"

struct book;

enum book_words {
	BOOK_RUNS, /* by their ids */
	BOOK_RUN_NAMES,
	BOOK_PROFILES,
	BOOK_CALIBRATIONS,
	N_BOOK_WORDS
};

struct book_word {
	char *word, *about; /* about: NULL if there is nothing to say of it */
};

/* Those that begin with `typed`; of runs and their names, the latest 100. The caller frees them
 * with book_words_free. */
int book_words(struct book *book, enum book_words which, const char *typed, struct book_word **ret,
	size_t *ret_n, struct error *err);
void book_words_free(struct book_word *words, size_t n);
