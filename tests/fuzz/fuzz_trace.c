/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any bytes as a page of the kernel's ring buffer, from which intervals are made. What events look
 * like is that of a kernel 6.18. */
#include "lib/jitter/intervals.h"
#include "tests/fuzz/fuzz.h"

#include <fcntl.h>

static void must_end(const char *name)
{
	FUZZ_MUST(!name || strlen(name) < UINT16_MAX);
}

static void must_nest(const struct intervals *v)
{
	FUZZ_MUST(v->depth <= INTERVALS_DEEPEST);
	for (size_t i = 0; i < v->n; i++) {
		FUZZ_MUST(v->items[i].source < v->sources->n);
		FUZZ_MUST(v->items[i].depth <= INTERVALS_DEEPEST);
	}
	for (size_t i = 0; i < v->depth; i++)
		FUZZ_MUST(v->open[i].item < v->n);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	static struct trace_decoder *decoder;
	_cleanup_(freep) uint8_t *page = malloc(
		n ?: 1); /* of just this size, so that ASan sees what is read behind it */
	struct jitter_sources sources = {};
	struct trace_page records = {};
	struct trace_event event;
	struct intervals v;
	int64_t n_events = 0;
	struct error err = {};
	int directory;

	if (!decoder) {
		directory = open(TRACE_DESCRIPTIONS, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		FUZZ_MUST(
			directory >= 0 && trace_decoder_new(&decoder, directory, NULL, &err) == 0);
		close(directory);
	}
	FUZZ_MUST(page);
	memcpy(page, bytes, n);

	intervals_begin(&v, 100, &sources);
	if (!trace_page_open(&records, page, n))
		records = (struct trace_page){};
	FUZZ_MUST(records.lost >= 0);
	while (trace_decode(decoder, &records, &event)) {
		FUZZ_MUST(event.kind <= TRACE_WORK && event.what <= TRACE_POINT);
		must_end(event.name);
		must_end(event.prev_name);
		must_end(event.next_name);
		n_events++;
		/* sums of times stay in range */
		intervals_add(&v, &event, (int64_t)(event.at >> 20));
	}

	FUZZ_MUST(v.events == n_events);
	must_nest(&v);
	intervals_drop(&v, v.n / 2);
	must_nest(&v);
	intervals_clear(&v);
	jitter_sources_clear(&sources);
	return 0;
}
