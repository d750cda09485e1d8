/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The processes on the other threads of a core: see sibling_note.h. */
#include "measure/sibling_note.h"

#include "lib/host/cpu/cpus.h"

#include <math.h>

enum { MOST_NAMES = 2 };
static const double WORTH_NOTING = 0.01;

/* What a process used in samples after which it was on one of the siblings. */
struct sibling_user {
	const char *name;
	int64_t pt_ns;
};

struct sibling_walk {
	int *siblings;
	size_t n_siblings;
	struct sources sources;
	struct sibling_user *users; /* by the source's id */
	int64_t used_ns;
};

static int add_to_sibling(void *data, const struct execution *e, struct error *err)
{
	struct sibling_walk *w = data;

	for (size_t i = 0; i < w->n_siblings; i++) {
		if (e->cpu != w->siblings[i] || e->source < 1 || e->source > w->sources.n)
			continue;
		w->users[e->source - 1].name = w->sources.items[e->source - 1].name;
		w->users[e->source - 1].pt_ns += e->pt_ns;
		w->used_ns += e->pt_ns;
	}
	return 0;
}

static int by_most(const void *a, const void *b)
{
	const struct sibling_user *x = a, *y = b;

	return (x->pt_ns < y->pt_ns) - (x->pt_ns > y->pt_ns);
}

static void add_note(struct task *t, const struct sibling_walk *w, double time_ns)
{
	_cleanup_(freep) char *cpus = NULL, *names = NULL;

	for (size_t i = 0; i < w->n_siblings; i++)
		text_append(&cpus, ", ", "%d", w->siblings[i]);
	qsort(w->users, w->sources.n, sizeof(*w->users), by_most);
	for (size_t i = 0; i < w->sources.n && i < MOST_NAMES && w->users[i].pt_ns > 0; i++)
		text_append(&names, ", ", "%s %s", w->users[i].name,
			text_percent(fmin(1, (double)w->users[i].pt_ns / time_ns)));
	notes_add(&t->notes, NOTE_NOISE, "Same core (CPU %s): %s of the time", cpus, names);
}

int sibling_note_add(struct task *t, struct error *err)
{
	struct book *book = t->session->base.book;
	struct sibling_walk w = {};
	double time_ns = 0;
	int r = 0;

	if (t->run.cpu >= 0)
		cpu_siblings(t->run.cpu, &w.siblings, &w.n_siblings);
	if (w.n_siblings > 0)
		r = book_sources(book, &w.sources, err);
	w.users = xcalloc(w.sources.n, sizeof(*w.users));
	if (r == 0 && w.n_siblings > 0)
		r = book_each_execution(book, t->run.id, add_to_sibling, &w, err);
	for (size_t i = 0; i < t->result.n_samples; i++)
		time_ns += (double)t->result.samples[i].et_ns;
	if (r == 0 && (double)w.used_ns > WORTH_NOTING * time_ns)
		add_note(t, &w, time_ns);
	free(w.siblings);
	free(w.users);
	sources_clear(&w.sources);
	return r;
}
