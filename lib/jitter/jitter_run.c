/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads a jitter run: see jitter_run.h. */
#include "lib/jitter/jitter_run.h"

#include "lib/host/system/machine.h"
#include "lib/host/system/policy.h"
#include "lib/report/run_result.h"

void jitter_run_clear(struct jitter_run *run)
{
	run_clear(&run->run);
	jitter_clear(&run->jitter);
	sources_clear(&run->sources);
	jitter_table_clear(&run->frequency);
	jitter_table_clear(&run->time);
	policy_free(run->policy);
	json_decref(run->context);
}

int jitter_run_load(struct book *book, int64_t id, struct jitter_run *run, struct error *err)
{
	_cleanup_(machine_clear) struct machine machine;
	bool here = false;
	int r = book_get_run(book, id, &run->run, err);

	machine_read(&machine, AT_FDCWD);
	if (r == 0)
		r = book_get_jitter(book, id, &run->jitter, err);
	if (r == 0)
		r = book_sources(book, &run->sources, err);
	if (r == 0)
		r = jitter_table_make(
			&run->frequency, &run->jitter, JITTER_FREQUENCY, &run->sources, err);
	if (r == 0)
		r = jitter_table_make(&run->time, &run->jitter, JITTER_TIME, &run->sources, err);
	if (r == 0)
		r = run_is_from(book, &run->run, machine.id, &here, err);
	if (r == 0)
		r = document_make_context(
			book, run->run.environment, run->run.started_ns, &run->context, err);
	/* without a policy, sources have the remedies that every machine has */
	if (here && policy_load(&run->policy, NULL, NULL, &machine, NULL) < 0)
		run->policy = NULL;
	run->all = jitter_all_cpus(&run->jitter);
	return r;
}
