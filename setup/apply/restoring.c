/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What becomes of an entry: see restoring.h. */
#include "setup/apply/restoring.h"

#include "setup/options.h"

/* Keeps an entry that a plain apply still owns. `restored`: it has its value again from before the
 * first --for. */
static void keep_applied(struct entry *e, bool restored)
{
	if (restored) {
		if (!entry_is_kept(e)) {
			free(e->want);
			e->want = xstrdup(e->prior);
		}
		free(e->held);
		e->held = xstrdup(e->prior);
	}
	e->back = e->old;
	free(TAKE(e->prior));
}

void restore_settle(struct restore *r, struct entry *e, struct settlement s)
{
	const bool stays = s.outcome == OUTCOME_FAILED || s.outcome == OUTCOME_LEFT_ALONE;
	const bool forgotten = stays && options.forget;
	_cleanup_(freep) char *note = NULL;

	if (stays && !*s.before) /* of what a damaged journal has lost */
		s.before = NULL;
	if (e->adopted && !s.note)
		s.note = "somebody else had set this value while it was applied";
	if (s.ways && !forgotten)
		note = text_format("%s; %s", s.note, s.ways);
	report_entry(&r->report, e, forgotten ? OUTCOME_FORGOTTEN : s.outcome, s.before, s.now,
		note ?: s.note);

	if (e->back && e->back == e->prior && s.outcome != OUTCOME_ABSENT)
		keep_applied(e, !stays);
	else if (!stays || options.forget)
		entry_clear(e);
	else { /* what is left alone has no owner; what failed is still applied */
		free(e->owners);
		e->owners = e->changed_externally ? xstrdup("") : NULL;
	}
}

void restore_leave_changed(struct restore *r, struct entry *e)
{
	restore_settle(r, e,
		(struct settlement){OUTCOME_LEFT_ALONE, e->back, e->now, "changed by somebody else",
			.ways = "--force restores it, --forget keeps it"});
}
