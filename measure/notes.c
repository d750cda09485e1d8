/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The notes on a session and on each of its results, which the book keeps: see session.h. */
#include "measure/session.h"

#include "lib/report/notes.h"
#include "lib/report/screen.h"

int session_make_notes(struct session *s, struct error *err)
{
	_cleanup_(differences_clear) struct differences differences = {};
	const struct observer *o = &s->base.observer;
	int64_t environment = s->base.environment;
	int r = 0;

	if (s->options->profile) {
		r = profile_changes(s->base.book, &s->profile, environment, &differences, err);
		if (r > 0 && differences.n > 0)
			s->environment_changes = differences_description(&differences, 5);
		if (r >= 0)
			r = profile_changes_note(&s->notes, s->base.book, &s->profile, environment, err);
	}
	if (r < 0)
		return r;
	/* what could not be observed, in one line of 80 columns; the long reason is in -v */
	if (o->accounting && accounting_why(o->accounting))
		notes_add(&s->notes, NOTE_OTHER,
			"Accounting by taskstats, which is less exact than bpf; -v says why");
	else if (o->accounting && !o->cgroup)
		notes_add(&s->notes, NOTE_PROGRAM, "No cgroup v2 (see -v): orphans are not counted in PT");
	else if (!o->accounting)
		notes_add(&s->notes, NOTE_OTHER, "Accounting off (%s): daemons%s",
			s->options->backend == ACCOUNTING_NONE ? "--accounting none" : o->accounting_missing,
			o->cgroup ? " not named" : ", orphans not counted");
	return r;
}

/* The book keeps them with those of the session, and with what the machine can resolve. */
int session_note_result(struct session *s, struct task *t, struct error *err)
{
	const struct profile *profile = s->options->profile ? &s->profile : NULL;
	_cleanup_(freep) char *perf = s->perf ? perf_text(s, t) : NULL;
	_cleanup_(notes_clear) struct notes all = {};
	struct result *result = &t->result;
	char resolving[RESOLVING_TEXT_SIZE] = "";
	int r = resolving_text(
		s->base.book, s->base.environment, profile, result->run.n_samples, resolving, err);

	notes_clear(&result->notes);
	run_notes_add(&result->notes, &result->run, profile);

	bool named = result->escapee[0];

	if (result->escaped > 0)
		notes_add(&result->notes, NOTE_PROGRAM, "Warning: %s left %s cgroup in %d of %zu samples%s",
			named ? result->escapee : "the program", named ? "the program's" : "its",
			result->escaped, result->run.n_samples, named ? "" : "; PT may lack some");
	if (result->killed > 0)
		notes_add(&result->notes, NOTE_OTHER,
			"Warning: %d process%s left behind and killed after --linger", result->killed,
			result->killed == 1 ? " was" : "es were");
	else if (result->again > 0)
		notes_add(&result->notes, NOTE_OTHER, "%d sample%s stopped (^Z) and taken again",
			result->again, result->again == 1 ? " was" : "s were");
	if (perf)
		notes_add(&result->notes, NOTE_OTHER, "perf: %s", perf);
	notes_add_all(&all, &result->notes);
	notes_add_all(&all, &s->notes);
	if (r == 0 && *resolving)
		notes_add(&all, NOTE_RESOLUTION, "%s", resolving);
	return r < 0 ? r : book_put_notes(s->base.book, t->run.id, all.items, all.n, err);
}
