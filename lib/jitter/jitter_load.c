/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A jitter run of the book: see jitter_load.h. */
#include "lib/jitter/jitter_load.h"

#include "lib/base/cleanup.h"
#include "lib/host/system/policy.h"
#include "lib/report/run_result.h"

#include <fcntl.h>

/* Where there is no policy, sources have the remedies that every machine has. */
static int load_policy(struct book *book, struct jitter_run *run, struct error *err)
{
	_cleanup_(machine_clear) struct machine machine;
	bool here = false;
	int r;

	machine_read(&machine, AT_FDCWD);
	r = run_is_from(book, &run->run, machine.id, &here, err);
	if (r == 0 && here &&
		policy_load(&run->policy, policy_directories(), NULL, &machine, &(struct error){}) < 0)
		run->policy = NULL;
	return r;
}

int jitter_run_load(struct book *book, int64_t id, struct jitter_run *ret, struct error *err)
{
	_cleanup_(jitter_run_clear) struct jitter_run run = {};
	int r = book_get_run(book, id, &run.run, err);

	if (r == 0)
		r = book_get_jitter(book, id, &run.jitter, err);
	if (r == 0)
		r = book_sources(book, &run.sources, err);
	if (r == 0)
		r = jitter_table_make(&run.frequency, &run.jitter, JITTER_FREQUENCY, &run.sources, err);
	if (r == 0)
		r = jitter_table_make(&run.time, &run.jitter, JITTER_TIME, &run.sources, err);
	if (r == 0)
		r = load_policy(book, &run, err);
	if (r == 0)
		r = document_make_context(book, run.run.environment, run.run.started_ns, &run.context, err);
	if (r < 0)
		return r;
	run.all = jitter_all_cpus(&run.jitter);
	*ret = TAKE_STRUCT(run);
	return 0;
}

void jitter_run_clear(struct jitter_run *run)
{
	run_clear(&run->run);
	jitter_clear(&run->jitter);
	sources_clear(&run->sources);
	jitter_table_clear(&run->frequency);
	jitter_table_clear(&run->time);
	policy_free(run->policy);
	json_decref(run->context);
	*run = (struct jitter_run){};
}

const char *jitter_run_outside(const struct jitter_run *run)
{
	for (size_t i = 0; i < run->frequency.n; i++)
		if (run->frequency.rows[i].source->kind == SOURCE_OUTSIDE)
			return run->frequency.rows[i].source->name;
	return "nothing";
}

struct remedy jitter_run_remedy(const struct jitter_run *run, const struct source *source)
{
	const struct policy *policy = source->unit ? run->policy : NULL;
	const struct remedy_facts facts = {
		.source = source,
		.cpu = run->all.cpu,
		.never = policy ? policy_never(policy, source->unit) : NULL,
		.listed = policy && policy_stop(policy, source->unit),
	};

	return jitter_remedy(&facts);
}
