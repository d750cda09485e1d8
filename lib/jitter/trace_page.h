/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A page of the kernel's ring buffer, record by record: events/header_page and header_event of
 * tracefs, kernel/trace/ring_buffer.c. libtraceevent's kbuffer believes the lengths in a page; here
 * one that leads out of the page ends it. The bytes may be anything. */
#pragma once

#include "lib/base/base.h"

struct trace_page {
	const char *data;
	size_t size, next; /* of the data; of the next record in it */
	uint64_t at;       /* the time of the last record */
	/* events before the page: 0, or the number; 1 where the kernel does not say it */
	int64_t lost;
};

struct trace_record {
	uint64_t at;
	const char *data;
	int size;
};

/* Whether `bytes` are enough for a page. It must stay as long as its records are read. */
bool trace_page_open(struct trace_page *ret, const void *page, size_t bytes);
/* The next record; false: there is none. */
bool trace_page_next(struct trace_page *page, struct trace_record *ret);
