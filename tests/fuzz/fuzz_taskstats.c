/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any bytes as the attributes of a taskstats message, and as one struct taskstats of any
 * version. */
#include "lib/host/accounting/taskstats.h"
#include "tests/fuzz/fuzz.h"

#include <errno.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct taskstats_message message;
	struct taskstats_fields fields;
	int r = taskstats_read_message(bytes, n, &message);

	FUZZ_MUST(r == 0 || r == -EBADMSG || r == -ENOTSUP);
	if (r == 0) {
		FUZZ_MUST(message.has_thread || message.has_process);
		FUZZ_MUST(strnlen(message.thread.comm, 16) < 16 &&
			  strnlen(message.process.comm, 16) < 16);
	}
	for (unsigned int version = 0; version < 20; version++) {
		r = taskstats_read(bytes, n, version, &fields);
		FUZZ_MUST(r == 0 || r == -EBADMSG || r == -ENOTSUP);
		if (r == 0)
			FUZZ_MUST(strnlen(fields.comm, 16) < 16);
	}
	return 0;
}
