/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any bytes as a document for emp-analyze compare. The first byte is the number of the result. */
#include "analyze/compare_document.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	_cleanup_(json_decrefp)
		json_t *document = n > 0 ? json_loadb((const char *)bytes + 1, n - 1,
						   JSON_REJECT_DUPLICATES, NULL)
					 : NULL;
	_cleanup_(compare_document_close) struct compare_document results = {};
	struct compare_input input = {};
	struct error err = {};

	if (!document)
		return 0;
	if (compare_document_open(&results, document, "the file", &err) < 0 ||
		compare_document_read(&input, &results, *bytes % 4, &err) < 0)
		FUZZ_REFUSED(&err);
	else
		for (int clock = 0; clock < N_COMPARISON_CLOCKS; clock++)
			for (size_t i = 0; i < input.sides[clock].n; i++)
				FUZZ_MUST(input.sides[clock].items[i].time_ns >= 0);
	compare_input_clear(&input);
	return 0;
}
