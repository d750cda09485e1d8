/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A duet on its way into the lab book: see duet_store.h. */
#include "lib/duet/duet_store.h"

#include "lib/book/sql.h"
#include "lib/duet/book_duet.h"
#include "lib/host/cpu/cpus.h"

#include <fcntl.h>

static int store_duet_run(struct book *book, const struct sampling *s, int64_t reference,
	const struct alternation_plan *plan, struct error *err)
{
	const struct duet_row row = {.reference = reference,
		.frozen = plan->slicing == SLICING_FREEZER,
		.signalled = plan->slicing == SLICING_SIGNALS,
		.cpus = plan->cpu < 0 ? CPU_COUNT(&plan->cpus) : 0,
		.slice_ns = plan->slice_ns,
		.increments = s->increments,
		.working_set = s->working_set,
		.own_cache = plan->cpu < 0 ? -1 : cpu_own_cache(AT_FDCWD, plan->cpu)};

	return book_add_rows(book, s->run->id, &duet_table, &row, 1, err);
}

static int store_duet_part(struct book *book, int64_t run, uint32_t n,
	const struct alternation_part *part, struct error *err)
{
	const struct duet_sample row = {.sample = n,
		.position = part->position,
		.repetitions = part->repetitions,
		.together_ns = part->together_ns,
		.turns = part->turns};

	return book_add_rows(book, run, &duet_sample_table, &row, 1, err);
}

static int store_duet_alone(struct book *book, const struct sampling *s,
	const struct exec_result *exec, struct error *err)
{
	const struct duet_alone row = {.n = s->n_alone,
		.after = s->run->n_samples,
		.start_ns = exec->start_ns,
		.et_ns = exec->et_ns,
		.pt_ns = exec->pt_ns};

	return book_add_rows(book, s->run->id, &duet_alone_table, &row, 1, err);
}

const struct together_store duet_store = {
	.run = store_duet_run, .part = store_duet_part, .alone = store_duet_alone};
