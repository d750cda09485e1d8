/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A page of the kernel's ring buffer: see trace_page.h. */
#include "lib/host/trace/trace_page.h"

#include <string.h>

enum { HEADER = sizeof(uint64_t) + sizeof(long), WORD = sizeof(uint32_t) };

/* In the second word of the page's header, beside the size. */
enum { LOST_SOME = 1 << 1, LOST_COUNTED = 1 << 0, LOST_SHIFT = 30, SIZE_MASK = (1 << 27) - 1 };

/* In the first word of a record, whose other bits are the time since the one before. Below: its length in words; 0: in the next word. */
enum { PADDING = 29, TIME_EXTEND, TIME_STAMP, TIME_BITS = 27, TYPE_BITS = 5 };

static uint32_t word_at(const struct trace_page *page, size_t at)
{
	uint32_t word;

	memcpy(&word, page->data + at, WORD);
	return word;
}

static unsigned int type_of(uint32_t word)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	return word >> TIME_BITS;
#else
	return word & ((1 << TYPE_BITS) - 1);
#endif
}

static uint32_t time_of(uint32_t word)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	return word & ((1 << TIME_BITS) - 1);
#else
	return word >> TYPE_BITS;
#endif
}

static int64_t lost_before(const struct trace_page *page, unsigned long word, size_t bytes)
{
	unsigned int flags = (unsigned int)word >> LOST_SHIFT;
	long lost;

	if (!(flags & LOST_SOME))
		return 0;
	if (!(flags & LOST_COUNTED) || page->size + HEADER + sizeof(lost) > bytes)
		return 1;
	memcpy(&lost, page->data + page->size, sizeof(lost));
	return lost > 0 ? lost : 1;
}

bool trace_page_open(struct trace_page *ret, const void *page, size_t bytes)
{
	unsigned long word;

	if (bytes < HEADER)
		return false;
	memcpy(&word, (const char *)page + sizeof(uint64_t), sizeof(word));
	*ret = (struct trace_page){.data = (const char *)page + HEADER, .size = word & SIZE_MASK};
	memcpy(&ret->at, page, sizeof(ret->at));
	if (ret->size > bytes - HEADER)
		return false;
	ret->lost = lost_before(ret, word, bytes);
	return true;
}

/* The upper five bits of an absolute time are those of the time before. */
static uint64_t stamp(uint64_t before, uint64_t time)
{
	return time | (before & (UINT64_C(0xf8) << 56));
}

bool trace_page_next(struct trace_page *page, struct trace_record *ret)
{
	while (page->next + 2 * WORD <= page->size) { /* no record is shorter */
		uint32_t first = word_at(page, page->next), second = word_at(page, page->next + WORD);
		unsigned int type = type_of(first);
		size_t start = page->next + (type == 0 ? 2 : 1) * WORD, length = type * WORD;
		uint64_t time = time_of(first);

		if (type == TIME_EXTEND || type == TIME_STAMP) {
			time |= (uint64_t)second << TIME_BITS;
			length = WORD;
		} else if (type == PADDING) {
			length = time == 0 ? page->size - start : second; /* of the rest of the page */
		} else if (type == 0) {
			length = second < WORD ? page->size : (second - WORD + 3) & ~(size_t)3;
		}
		if (length > page->size - start)
			break;
		page->next = start + length;
		page->at = type == TIME_STAMP ? stamp(page->at, time) : page->at + time;
		if (type < PADDING) {
			*ret = (struct trace_record){page->at, page->data + start, (int)length};
			return true;
		}
	}
	page->next = page->size;
	return false;
}
