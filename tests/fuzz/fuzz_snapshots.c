/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any bytes as the records of two snapshots and of the tasks that ended between them. The first
 * three bytes divide them. */
#include "lib/host/accounting/accounting_internal.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	_cleanup_(snapshot_diff_clear) struct snapshot_diff processes = {};
	_cleanup_(freep) struct task_record *records = NULL;
	size_t n_records = n > 3 ? (n - 3) / sizeof(*records) : 0;
	struct snapshots snapshots;

	if (n_records == 0)
		return 0;
	records = calloc(n_records, sizeof(*records));
	FUZZ_MUST(records);
	memcpy(records, bytes + 3, n_records * sizeof(*records));
	for (size_t i = 0; i < n_records; i++) { /* as the kernel gives them */
		records[i].comm[RECORD_COMM_SIZE - 1] = '\0';
		records[i].run_ns &= INT64_MAX >> 16;
		records[i].tick_ns &= INT64_MAX >> 16;
		records[i].watched_ns &= INT64_MAX >> 16;
		records[i].wait_ns &= INT64_MAX >> 16;
	}

	snapshots = (struct snapshots){
		.before.items = records, .before_ns = records->start_ns, .observer = bytes[2]};
	snapshots.before.n = bytes[0] % (n_records + 1);
	snapshots.after.items = records + snapshots.before.n;
	snapshots.after.n = bytes[1] % (n_records - snapshots.before.n + 1);
	snapshots.exits.items = snapshots.after.items + snapshots.after.n;
	snapshots.exits.n = n_records - snapshots.before.n - snapshots.after.n;

	snapshot_diff_run(&processes, &snapshots);
	for (size_t i = 0; i < processes.n; i++) {
		FUZZ_MUST(processes.items[i].pt_ns >= 0 && processes.items[i].tick_ns >= 0);
		FUZZ_MUST(strnlen(processes.items[i].name, RECORD_COMM_SIZE) < RECORD_COMM_SIZE);
	}
	return 0;
}
