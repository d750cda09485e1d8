/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the fuzzers share. LLVMFuzzerTestOneInput() gets any bytes, from libFuzzer, or from
 * replay.c, which gives it the kept corpus. An abort is a fault. */
#pragma once

#include "lib/base/cleanup.h"
#include "lib/base/error.h"

#include <ftw.h>
#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

/* `call` is for its own sentence: what was refused without one is a fault. */
#define FUZZ_REFUSED(err)                  \
	do {                               \
		if (!*(err)->text)         \
			abort();           \
		*(err) = (struct error){}; \
	} while (0)

#define FUZZ_MUST(condition)                                                                    \
	do {                                                                                    \
		if (!(condition)) {                                                             \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
			abort();                                                                \
		}                                                                               \
	} while (0)

/* The bytes as text, as parsers get it. */
static inline char *fuzz_text(const uint8_t *bytes, size_t n)
{
	char *text = malloc(n + 1);

	FUZZ_MUST(text);
	memcpy(text, bytes, n);
	text[n] = '\0';
	return text;
}

static inline int fuzz_remove(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
	return remove(path);
}

static char fuzz_path[128];

static inline void fuzz_remove_directory(void)
{
	nftw(fuzz_path, fuzz_remove, 8, FTW_DEPTH | FTW_PHYS);
}

/* A directory in memory, removed at the end. */
static inline const char *fuzz_directory(void)
{
	if (!*fuzz_path) {
		snprintf(fuzz_path, sizeof(fuzz_path), "%s/emp-fuzz-XXXXXX",
			getenv("TMPDIR") ?: "/dev/shm");
		FUZZ_MUST(mkdtemp(fuzz_path));
		atexit(fuzz_remove_directory);
	}
	return fuzz_path;
}
