/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The notes on a session and on each of its results, which the book keeps: see session.h. */
#include "measure/perf.h"
#include "measure/session.h"

#include "lib/report/environment_changes.h"
#include "lib/report/resolving_text.h"
#include "lib/report/run_screen.h"

static int note_changes(struct session *s, struct error *err)
{
	_cleanup_(differences_clear) struct differences differences = {};
	int r = profile_changes(s->book, &s->profile, s->environment, &differences, err);

	if (r > 0 && differences.n > 0)
		s->environment_changes = differences_description(&differences, 5);
	return r < 0 ? r : profile_changes_note(&s->notes, s->book, &s->profile, s->environment, err);
}

/* What could not be observed, in one line of 80 columns; the long reason is in -v. */
static int note_unseen(struct session *s, struct error *err)
{
	const struct observer *o = &s->observer;
	const char *missing = s->options->backend == ACCOUNTING_NONE ? "--accounting none"
								     : o->accounting_missing;

	if (o->accounting && accounting_why(o->accounting))
		return notes_add(&s->notes, NOTE_OTHER, err,
			"Accounting by taskstats, which is less exact than bpf; -v says why");
	if (o->accounting)
		return o->cgroup ? 0
				 : notes_add(&s->notes, NOTE_PROGRAM, err,
					   "No cgroup v2 (see -v): orphans are not counted in PT");
	return notes_add(&s->notes, NOTE_OTHER, err, "Accounting off (%s): daemons%s", missing,
		o->cgroup ? " not named" : ", orphans not counted");
}

int session_make_notes(struct session *s, struct error *err)
{
	int r = s->options->profile ? note_changes(s, err) : 0;

	return r < 0 ? r : note_unseen(s, err);
}

static int note_events(struct result *r, struct error *err)
{
	bool named = r->escapee[0];
	int added = 0;

	if (r->escaped > 0)
		added = notes_add(&r->notes, NOTE_PROGRAM, err,
			"Warning: %s left %s cgroup in %d of %zu samples%s", named ? r->escapee : "the program",
			named ? "the program's" : "its", r->escaped, r->run.n_samples,
			named ? "" : "; PT may lack some");
	if (added < 0)
		return added;
	if (r->killed > 0)
		return notes_add(&r->notes, NOTE_OTHER, err,
			"Warning: %d process%s left behind and killed after --linger", r->killed,
			r->killed == 1 ? " was" : "es were");
	if (r->again > 0)
		return notes_add(&r->notes, NOTE_OTHER, err, "%d sample%s stopped (^Z) and taken again", r->again,
			r->again == 1 ? " was" : "s were");
	return 0;
}

static int note_perf(const struct session *s, struct task *t, struct error *err)
{
	_cleanup_(freep) char *text = s->perf ? perf_text(s, t) : NULL;

	return text ? notes_add(&t->result.notes, NOTE_OTHER, err, "perf: %s", text) : 0;
}

/* As the book keeps them: with those of the session, and what the machine can resolve. */
static int store(const struct session *s, const struct task *t, struct error *err)
{
	const struct profile *profile = s->options->profile ? &s->profile : NULL;
	_cleanup_(notes_clear) struct notes all = {};
	char resolving[RESOLVING_TEXT_SIZE] = "";
	int r = notes_add_all(&all, &t->result.notes, err);

	if (r == 0)
		r = notes_add_all(&all, &s->notes, err);
	if (r == 0)
		r = resolving_text(s->book, s->environment, profile, t->result.run.n_samples, resolving, err);
	if (r == 0 && *resolving)
		r = notes_add(&all, NOTE_RESOLUTION, err, "%s", resolving);
	return r < 0 ? r : book_put_notes(s->book, t->run.id, all.items, all.n, err);
}

int session_note_result(struct session *s, struct task *t, struct error *err)
{
	int r;

	notes_clear(&t->result.notes);
	r = run_notes_add(&t->result.notes, &t->result.run, s->options->profile ? &s->profile : NULL, err);
	if (r == 0)
		r = note_events(&t->result, err);
	if (r == 0)
		r = note_perf(s, t, err);
	return r < 0 ? r : store(s, t, err);
}
