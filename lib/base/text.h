/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers, times and lists between text and memory.
 *
 * Times are int64_t nanoseconds in the program; this module converts them from and to text. Parsers
 * refuse trailing characters and values out of range, and their sentence quotes the text. */
#pragma once

#include "lib/base/error.h"
#include "lib/base/number.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* A whole number from min to max. -EINVAL with a sentence that names `what`. */
int text_parse_int(const char *text, const char *what, int64_t min, int64_t max, int64_t *ret,
	struct error *err);

/* A time above zero: "1ms", "250us", "1ns", "2s", "1.5h", "3min"; a bare number is seconds. */
int text_parse_duration(const char *text, const char *what, int64_t *ret_ns, struct error *err);

/* A size in bytes above zero: "4096", "64K", "16M", "1G", "2T". */
int text_parse_size(const char *text, const char *what, int64_t *ret, struct error *err);

/* A whole number from 1 to max: "250", "100K", "3.2M", "1G" with K for a thousand. */
int text_parse_count(
	const char *text, const char *what, int64_t max, int64_t *ret, struct error *err);

/* The same for people: "100K", "3.2M"; with all digits where those are more than four. */
const char *text_brief_count(int64_t n);

/* A text that needs no buffer: it, and those of the functions below, are valid until the 100th call
 * after it. One of TEXT_BRIEF_SIZE bytes or more is whole, too, but takes memory. */
enum { TEXT_BRIEF_SIZE = 96 };
const char *text_brief(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* "1 sample", "3 samples". */
const char *text_count(int64_t n, const char *noun);

/* A time for people, four significant digits: "812 ns", "1.234 ms", "12.35 s", "3 h 59 min". */
const char *text_duration(int64_t ns);

/* The unit for `ns`, or a greater one if another time beside it has five digits in that. */
const char *text_unit(double ns, double beside_ns);

/* A time rounded to two significant digits of `step_ns`: a mean of 128.2503 s where the sd is 2.6
 * ms. step_ns 0: four digits. unit: "s", "ms", "us" or "ns"; NULL: the one that fits. */
const char *text_in_unit(double ns, double step_ns, const char *unit);
/* The same without the unit's name; unit may not be NULL. */
const char *text_number_in_unit(double ns, double step_ns, const char *unit);
static inline const char *text_precise(double ns, double step_ns)
{
	return text_in_unit(ns, step_ns, NULL);
}

/* Two figures in one unit; NULL: the one that fits the first, or the upper bound.
 *
 * "127.9 ms ± 4.6 ms": the sd has two significant digits, and the mean is rounded to match. */
const char *text_mean_sd(double mean_ns, double sd_ns, const char *unit);

/* "125.5 … 130.4 ms", rounded to match the sd as a mean is. sd_ns 0: each bound has four
 * significant digits, as a minimum and a maximum should. */
const char *text_interval(double low_ns, double high_ns, double sd_ns, const char *unit);

/* A ratio with two significant digits: "3.6 %", "0.036 %", "36 %", "100 %". */
const char *text_percent(double ratio);

/* Seconds with all digits and no trailing zeros: "0.1", "128", "16384". */
const char *text_seconds(int64_t ns);

/* A moment (ns since 1970) in local time, "2026-11-21 14:03:59". */
const char *text_moment(int64_t realtime_ns);

/* The same in UTC by RFC 3339, for JSON: "2026-11-21T14:03:59.000000001Z". */
const char *text_rfc3339(int64_t realtime_ns);

/* `path` for openat(2) and its kin: where root_fd is a descriptor, an absolute path too is below
 * it. */
const char *text_below(int root_fd, const char *path);

/* "0-3,8" as in /sys, -EINVAL if it is not such a list; or the number of CPUs in the list where ret
 * is NULL. ret is an array of *ret_n numbers, ascending as written, that the caller frees. */
int text_parse_cpu_list(const char *text, int **ret, size_t *ret_n);

/* Bytes of the character at `text`, 0: it is none (RFC 3629: no overlong forms, no surrogates). */
size_t text_utf8_size(const char *text);

/* A copy with each byte that is not UTF-8 replaced by \xNN, for JSON, the book and terminals. The
 * caller frees it. NULL for NULL. */
char *text_utf8(const char *text);

/* Whether a list of words, with blanks or commas between, has this one. NULL is an empty list. */
bool text_has_word(const char *list, const char *word);

/* NULL for NULL. The caller frees it. */
char *text_copy(const char *text);

/* The caller frees it. */
char *text_format(const char *format, ...) __attribute__((format(printf, 1, 2)));
char *text_vformat(const char *format, va_list args) __attribute__((format(printf, 1, 0)));

/* Appends to a text that the caller frees; NULL is an empty one. `separator` goes between. */
void text_append(char **text, const char *separator, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Closes a stream of xopen_memstream(), whose text is returned and whole then. */
char *text_stream_close(FILE *stream, char *const *text);
