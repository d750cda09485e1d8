/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What apply will change: see plan.h. */
#include "setup/apply/plan.h"

#include "lib/base/array.h"

#include <errno.h>

/* The value found first remains the one to restore. */
static void change_wish(struct entry *there, struct entry *entry)
{
	free(there->want);
	there->want = TAKE(entry->want);
	free(TAKE(there->held));
	there->persistent = there->persistent || entry->persistent;
	if (there->block == BLOCK_NONE)
		there->block = entry->block;
	entry_clear(entry);
}

int plan_add(struct plan *plan, struct entry *entry, struct error *err)
{
	size_t *place = array_add(plan->order, plan->n_order);
	struct entry *there;
	int r;

	if (!place || !entry->id || !entry->name || !entry->old || !entry->want) {
		entry_clear(entry);
		return error_oom(err);
	}
	there = journal_find(&plan->journal, entry->name);
	if (there) {
		*place = (size_t)(there - plan->journal.entries);
		change_wish(there, entry);
		return 0;
	}
	*place = plan->journal.n;
	r = journal_add(&plan->journal, entry, err);
	plan->n_order -= r < 0;
	return r;
}

void plan_clear(struct plan *plan)
{
	journal_clear(&plan->journal);
	free(plan->order);
	*plan = (struct plan){};
}
