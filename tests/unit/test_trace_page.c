/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pages of the kernel's ring buffer: a recorded one as libtraceevent reads it, and those that no
 * kernel writes. */
#include "tests/unit/check.h"

#include "lib/jitter/trace_decode.h"

#include <traceevent/kbuffer.h>

enum { PAGE = 4096, HEADER = sizeof(uint64_t) + sizeof(long) };

static void load(char *page)
{
	char path[512];
	int fd;

	snprintf(path, sizeof(path), "%s/trace/nested.page", getenv("EMP_DATA"));
	fd = open(path, O_RDONLY);
	assert_int_equal(read(fd, page, PAGE), PAGE);
	close(fd);
}

/* A page of records, each of which is some words. */
static struct trace_page made(char *page, const uint32_t *words, size_t n)
{
	const uint64_t at = 1000;
	const unsigned long size = n * sizeof(*words);
	struct trace_page ret = {};

	memset(page, 0, PAGE);
	memcpy(page, &at, sizeof(at));
	memcpy(page + sizeof(at), &size, sizeof(size));
	memcpy(page + HEADER, words, size);
	assert_true(trace_page_open(&ret, page, PAGE));
	return ret;
}

static uint32_t first_word(uint32_t type, uint32_t time)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	return type << 27 | time;
#else
	return type | time << 5;
#endif
}

TEST(a_recorded_page_has_the_records_that_libtraceevent_reads)
{
	char *page = malloc(PAGE);
	struct kbuffer *theirs = kbuffer_alloc(
		KBUFFER_LSIZE_SAME_AS_HOST, KBUFFER_ENDIAN_SAME_AS_HOST);
	struct trace_page mine;
	struct trace_record record;
	unsigned long long at;
	int n = 0;

	load(page);
	assert_int_equal(kbuffer_load_subbuffer(theirs, page), 0);
	assert_true(trace_page_open(&mine, page, PAGE));
	assert_int_equal(mine.lost, kbuffer_missed_events(theirs));
	for (char *data = kbuffer_read_event(theirs, &at); data;
		data = kbuffer_next_event(theirs, &at)) {
		assert_true(trace_page_next(&mine, &record));
		assert_ptr_equal(record.data, data);
		assert_int_equal(record.size, kbuffer_event_size(theirs));
		assert_int_equal(record.at, at);
		n++;
	}
	assert_false(trace_page_next(&mine, &record));
	assert_true(n > 100);
	kbuffer_free(theirs);
	free(page);
}

TEST(times_may_be_longer_than_a_record_has_room_for)
{
	enum { DATA = 1, PADDING = 29, EXTEND, STAMP };
	const uint32_t words[] = {first_word(EXTEND, 5), 2, first_word(DATA, 7), 0,
		first_word(PADDING, 1), 8, 0, first_word(DATA, 1), 0, first_word(STAMP, 9), 1,
		first_word(0, 3), 12, 0, 0};
	struct trace_record record;
	char page[PAGE];
	struct trace_page from = made(page, words, sizeof(words) / sizeof(*words));
	uint64_t at = 1000 + 5 + (UINT64_C(2) << 27) + 7;

	assert_true(trace_page_next(&from, &record));
	assert_int_equal(record.at, at);
	assert_int_equal(record.size, 4);
	assert_true(trace_page_next(&from, &record));
	assert_int_equal(record.at, at + 2);
	assert_true(trace_page_next(&from, &record)); /* its length is in a word of its own */
	assert_int_equal(record.at, (UINT64_C(1) << 27) + 9 + 3);
	assert_int_equal(record.size, 8);
	assert_false(trace_page_next(&from, &record));
}

TEST(a_length_that_leads_out_of_the_page_ends_it)
{
	const uint32_t lengths[] = {0, 3, 13, 4096, 0x7fffffff, 0x80000000, 0xfffffff8, 0xffffffff};
	struct trace_record record;
	char page[PAGE];

	for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
		const uint32_t data[] = {first_word(0, 1), lengths[i], 0, 0},
			       padding[] = {first_word(29, 1), lengths[i] < 13 ? 4096 : lengths[i],
				       0, 0};
		struct trace_page from = made(page, data, 4);

		assert_false(trace_page_next(&from, &record));
		assert_false(trace_page_next(&from, &record));
		from = made(page, padding, 4);
		assert_false(trace_page_next(&from, &record));
	}
}

TEST(a_page_says_how_many_events_were_lost_before_it)
{
	const unsigned long uncounted = 8 | 1ul << 31, counted = uncounted | 1ul << 30, huge = 4096;
	struct trace_page from;
	char page[PAGE] = {};
	const long lost = 77;

	memcpy(page + HEADER + 8, &lost, sizeof(lost));
	memcpy(page + sizeof(uint64_t), &uncounted, sizeof(uncounted));
	assert_true(trace_page_open(&from, page, PAGE));
	assert_int_equal(from.lost, 1);
	memcpy(page + sizeof(uint64_t), &counted, sizeof(counted));
	assert_true(trace_page_open(&from, page, PAGE));
	assert_int_equal(from.lost, 77);
	/* the number would be behind its end */
	assert_true(trace_page_open(&from, page, HEADER + 8));
	assert_int_equal(from.lost, 1);
	memcpy(page + sizeof(uint64_t), &huge, sizeof(huge));
	assert_false(trace_page_open(&from, page, PAGE));
	assert_false(trace_page_open(&from, page, HEADER - 1));
}

TEST(whatever_the_bytes_are_records_lie_in_the_page)
{
	char *sound = malloc(PAGE), *page = malloc(PAGE); /* ASan sees what reads behind them */

	load(sound);
	srand48((long)check_seed(31));
	for (int i = 0; i < 20000; i++) {
		struct trace_page from;
		struct trace_record record;
		int n = 0;

		memcpy(page, sound, PAGE);
		for (int k = (int)(drand48() * 8); k >= 0; k--)
			page[(size_t)(drand48() * (k ? PAGE : HEADER))] = (char)(drand48() * 256);
		if (!trace_page_open(&from, page, PAGE))
			continue;
		while (trace_page_next(&from, &record)) {
			assert_true(record.data >= page + HEADER && record.size >= 0 &&
				    record.data + record.size <= page + PAGE);
			assert_true(++n <= PAGE / 8);
		}
	}
	free(sound);
	free(page);
}
