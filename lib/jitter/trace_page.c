/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The records of a page: see trace_page.h. */
#include "lib/jitter/trace_page.h"

enum { HEADER = sizeof(uint64_t) + sizeof(long), WORD = sizeof(uint32_t) };

/* In the second word of the page's header, beside the size. */
enum { LOST_SOME = 1 << 1, LOST_COUNTED = 1 << 0, LOST_SHIFT = 30, SIZE_MASK = (1 << 27) - 1 };

/* In the first word of a record, whose other bits are the time since the one before. Below: its
 * length in words; 0: in the next word. */
enum { PADDING = 29, TIME_EXTEND, TIME_STAMP, TIME_BITS = 27, TYPE_BITS = 5 };

bool trace_page_open(struct trace_page *ret, const void *page, size_t bytes)
{
	unsigned long word, flags;
	long lost;

	if (bytes < HEADER)
		return false;
	memcpy(&word, (const char *)page + sizeof(uint64_t), sizeof(word));
	*ret = (struct trace_page){.data = (const char *)page + HEADER, .size = word & SIZE_MASK};
	memcpy(&ret->at, page, sizeof(ret->at));
	if (ret->size > bytes - HEADER)
		return false;
	flags = (uint32_t)word >> LOST_SHIFT;
	ret->lost = flags & LOST_SOME ? 1 : 0;
	if (ret->lost && flags & LOST_COUNTED && ret->size + HEADER + sizeof(lost) <= bytes) {
		memcpy(&lost, ret->data + ret->size, sizeof(lost));
		ret->lost = lost > 0 ? lost : 1;
	}
	return true;
}

bool trace_page_next(struct trace_page *page, struct trace_record *ret)
{
	while (page->next + 2 * WORD <= page->size) { /* no record is shorter */
		uint32_t words[2];

		memcpy(words, page->data + page->next, sizeof(words));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
		unsigned int type = words[0] >> TIME_BITS;
		uint64_t time = words[0] & ((1 << TIME_BITS) - 1);
#else
		unsigned int type = words[0] & ((1 << TYPE_BITS) - 1);
		uint64_t time = words[0] >> TYPE_BITS;
#endif
		size_t start = page->next + (type == 0 ? 2 : 1) * WORD, length = type * WORD;

		if (type == TIME_EXTEND || type == TIME_STAMP) {
			time |= (uint64_t)words[1] << TIME_BITS;
			length = WORD;
		} else if (type == PADDING) {
			/* of the rest of the page */
			length = time == 0 ? page->size - start : words[1];
		} else if (type == 0) {
			length = words[1] < WORD ? page->size : (words[1] - WORD + 3) & ~(size_t)3;
		}
		if (length > page->size - start)
			break;
		page->next = start + length;
		if (type == TIME_STAMP) /* its upper five bits are those of the time before */
			page->at = time | (page->at & (UINT64_C(0xf8) << 56));
		else
			page->at += time;
		if (type < PADDING) {
			*ret = (struct trace_record){page->at, page->data + start, (int)length};
			return true;
		}
	}
	page->next = page->size;
	return false;
}
