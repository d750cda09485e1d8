/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A plan, and how it joins what is applied already: see plan.h. */
#include "setup/apply/plan.h"

#include "setup/apply/block.h"
#include "setup/apply/limits.h"
#include "setup/apply/owners.h"
#include "setup/apply/plan_files.h"
#include "setup/apply/plan_units.h"
#include "setup/options.h"

const char *plan_owner(struct plan *plan)
{
	return plan->owner = plan->owner ?: owner_new();
}

bool plan_has(const struct plan *plan, const char *name)
{
	for (size_t i = 0; i < plan->n_order; i++)
		if (!strcmp(plan_entry(plan, i)->name, name))
			return true;
	return false;
}

/* Whether somebody else has set the present value, which is the old one of the new entry. */
static bool is_from_others(const struct entry *there, const struct entry *entry)
{
	const char *now = entry->old;

	if (!now || !strcmp(now, there->old))
		return false;
	if (there->kind == ENTRY_UNIT && !there->changed_externally)
		return strcmp(now, there->want) != 0 &&
		       (!there->held || strcmp(now, there->held) != 0);
	/* what a restore has left alone is not applied, whatever it holds */
	return there->changed_externally || (there->owners && !*there->owners);
}

/* The value found first remains the one to go back to, unless somebody else has set another
 * meanwhile. */
static void join_old(struct entry *there, const struct entry *entry)
{
	const bool from_others = is_from_others(there, entry);

	if (entry_is_untouched(there)) {
		free(there->old);
		there->old = xstrdup(entry->old);
	} else if (from_others) {
		entry_adopt(there, entry->old);
		there->adopted = true;
	}
}

/* The value that apply --for goes back to, which need not be the one found first. `needed`: by a
 * process of an earlier one, whose value stays. */
static void join_prior(struct entry *there, const struct entry *entry, bool needed)
{
	if (!options.run_for || (!needed && entry_is_applied(there)))
		free(TAKE(there->prior));
	if (options.run_for && !needed && entry_is_applied(there)) {
		there->prior = text_copy(entry->old);
		there->unblocked = !entry_is_blocked(there); /* that apply was killed */
	}
}

/* What is wanted from now on. */
static void join_want(struct entry *there, struct entry *entry)
{
	if (entry_is_kept(there)) {
		free(there->id);
		there->id = TAKE(entry->id);
		there->file_kind = entry->file_kind;
	}
	there->begun = there->kind == ENTRY_UNIT && !strcmp(entry->old, entry->want) &&
		       entry_is_reached(there); /* by an earlier apply */

	free(there->want);
	there->want = TAKE(entry->want);
	free(TAKE(there->held));
	free(there->last);
	there->last = there->kind == ENTRY_FILE ? text_copy(entry->old) : NULL;
	there->persistent = there->persistent || entry->persistent;
	there->loses = entry->loses;
	there->was_set = entry->was_set;
	if (there->block == BLOCK_NONE)
		there->block = entry->block;
}

/* Adds what a new entry wants to one that is applied already (`there`). */
static void plan_join(struct plan *plan, struct entry *there, struct entry *entry)
{
	const bool needed = entry_needed_by(there) > 0;

	join_old(there, entry);
	join_prior(there, entry, needed);
	there->gained = !entry_has_owner(there, plan_owner(plan));
	entry_add_owner(there, plan_owner(plan));
	if (!entry_is_kept(entry))
		join_want(there, entry);
}

void plan_add(struct plan *plan, struct entry *entry)
{
	struct entry *there = journal_find(&plan->journal, entry->name);
	pid_t needed_by = there ? entry_needed_by(there) : 0;

	if (there && entry_is_kept(entry) && plan_has(plan, entry->name)) {
		entry_clear(entry);
		return;
	}
	if (needed_by > 0 && !entry_is_kept(entry) && !entry_is_kept(there) &&
		strcmp(there->want, entry->want) != 0) {
		const char *why = text_brief(
			"process %d (emp-setup apply --for) needs it as it is", needed_by);

		report_entry(&plan->report, entry, OUTCOME_REFUSED, entry->old, entry->old, why);
		entry_clear(entry);
		return;
	}
	if (there) { /* what is set already needs not be kept, but owned */
		size_t place = (size_t)(there - plan->journal.entries);

		if (!entry_is_kept(entry) || entry_is_kept(there))
			*array_add(plan->order, plan->n_order) = place;
		plan_join(plan, there, entry);
		entry_clear(entry);
		return;
	}

	entry->gained = true;
	entry->last = entry->kind == ENTRY_FILE ? text_copy(entry->old) : NULL;
	entry->owners = xstrdup(plan_owner(plan));
	*array_add(plan->order, plan->n_order) = plan->journal.n;
	*array_add(plan->journal.entries, plan->journal.n) = TAKE_STRUCT(*entry);
}

void plan_clear(struct plan *plan)
{
	facts_clear(&plan->facts);
	units_free(plan->units);
	journal_clear(&plan->journal);
	free(plan->order);
	free(plan->owner);
	unit_reasons_clear(&plan->busy);
	report_clear(&plan->report);
	*plan = (struct plan){};
}

int plan_make(struct plan *plan, struct error *err)
{
	int r;

	if (!plan->journal.since_ns)
		plan->journal.since_ns = clock_ns(CLOCK_REALTIME);
	if (!plan->journal.boot_id)
		plan->journal.boot_id = journal_boot_id();
	r = plan_units(plan, err);
	if (r < 0)
		return r;
	return plan_files(plan, err);
}
