/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The notes on a session and on each of its results, which the book keeps: see session.h. */
#include "measure/perf.h"
#include "measure/session.h"

#include "lib/report/notes.h"
#include "lib/report/screen.h"

static int note_changes(struct session *s, struct error *err)
{
	_cleanup_(differences_clear) struct differences differences = {};
	int r = profile_changes(s->book, &s->profile, s->environment, &differences, err);

	if (r > 0 && differences.n > 0)
		s->environment_changes = differences_description(&differences, 5);
	return r < 0 ? r : profile_changes_note(&s->notes, s->book, &s->profile, s->environment, err);
}

/* What could not be observed, in one line of 80 columns; the long reason is in -v. */
static void note_unseen(struct session *s)
{
	const struct observer *o = &s->observer;
	const char *missing = s->options->backend == ACCOUNTING_NONE ? "--accounting none"
								     : o->accounting_missing;

	if (o->accounting && accounting_why(o->accounting))
		notes_add(&s->notes, NOTE_OTHER, "Accounting by taskstats, which is less exact than bpf; -v says why");
	else if (o->accounting && !o->cgroup)
		notes_add(&s->notes, NOTE_PROGRAM, "No cgroup v2 (see -v): orphans are not counted in PT");
	else if (!o->accounting)
		notes_add(&s->notes, NOTE_OTHER, "Accounting off (%s): daemons%s", missing,
			o->cgroup ? " not named" : ", orphans not counted");
}

int session_make_notes(struct session *s, struct error *err)
{
	int r = s->options->profile ? note_changes(s, err) : 0;

	if (r == 0)
		note_unseen(s);
	return r;
}

static void note_events(struct result *r)
{
	bool named = r->escapee[0];

	if (r->escaped > 0)
		notes_add(&r->notes, NOTE_PROGRAM,
			"Warning: %s left %s cgroup in %d of %zu samples%s", named ? r->escapee : "the program",
			named ? "the program's" : "its", r->escaped, r->run.n_samples,
			named ? "" : "; PT may lack some");
	if (r->killed > 0)
		notes_add(&r->notes, NOTE_OTHER,
			"Warning: %d process%s left behind and killed after --linger", r->killed,
			r->killed == 1 ? " was" : "es were");
	else if (r->again > 0)
		notes_add(&r->notes, NOTE_OTHER, "%d sample%s stopped (^Z) and taken again", r->again,
			r->again == 1 ? " was" : "s were");
}

static void note_perf(const struct session *s, struct task *t)
{
	_cleanup_(freep) char *text = s->perf ? perf_text(s, t) : NULL;

	if (text)
		notes_add(&t->result.notes, NOTE_OTHER, "perf: %s", text);
}

/* As the book keeps them: with those of the session, and what the machine can resolve. */
static int store(const struct session *s, const struct task *t, struct error *err)
{
	const struct profile *profile = s->options->profile ? &s->profile : NULL;
	_cleanup_(notes_clear) struct notes all = {};
	char resolving[RESOLVING_TEXT_SIZE] = "";
	int r = resolving_text(s->book, s->environment, profile, t->result.run.n_samples, resolving, err);

	notes_add_all(&all, &t->result.notes);
	notes_add_all(&all, &s->notes);
	if (r == 0 && *resolving)
		notes_add(&all, NOTE_RESOLUTION, "%s", resolving);
	return r < 0 ? r : book_put_notes(s->book, t->run.id, all.items, all.n, err);
}

int session_note_result(struct session *s, struct task *t, struct error *err)
{
	notes_clear(&t->result.notes);
	run_notes_add(&t->result.notes, &t->result.run, s->options->profile ? &s->profile : NULL);
	note_events(&t->result);
	note_perf(s, t);
	return store(s, t, err);
}
