/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A run as it happens: see sampling.h. */
#include "lib/run/sampling.h"

#include "lib/base/clock.h"
#include "lib/base/progress.h"
#include "lib/host/process/signals.h"
#include "lib/record/book/book_counters.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>

/* A sample as it was observed, and what moved meanwhile that should not. */
struct observed {
	struct observation observation;
	struct counters moved;
};

/* What ended the program badly, as a sentence; 0 if nothing did or failures do not count. */
static int check_end(
	const struct sampling *s, const struct spawned *spawned, const char *which, struct error *err)
{
	char time[TEXT_TIME_SIZE];
	int status = spawned->wait_status;

	if (spawned->end == SPAWN_TIMED_OUT)
		return error_say(err, -ETIMEDOUT,
			"'%s' ran longer than %s (%s) and was ended, with all it had started",
			s->run->program, text_duration(time, s->spawn->timeout_ns), which);
	if (spawned->end == SPAWN_STOPPED)
		return error_say(err, -ECANCELED,
			"'%s' stopped itself in %s, and was ended: nobody would have let it go on",
			s->run->program, which);
	if (status == 0)
		return 0;
	if (interrupt_pending()) /* a ^C of the terminal is the program's too, and may end it before we hear of
				 ours */
		return -EINTR;
	if (s->ignore_failure)
		return 0;
	if (WIFSIGNALED(status))
		return error_say(err, -ECANCELED,
			"'%s' was killed by signal %d (SIG%s) in %s; -i measures it all the same",
			s->run->program, WTERMSIG(status), sigabbrev_np(WTERMSIG(status)) ?: "?", which);
	return error_say(err, -ECANCELED, "'%s' ended with exit status %d in %s; -i measures it all the same",
		s->run->program, WEXITSTATUS(status), which);
}

static int add_executions(struct sampling *s, const struct usages *usages, struct execution *executions,
	uint32_t n, struct error *err)
{
	for (size_t i = 0; i < usages->n; i++) {
		const struct usage *u = &usages->items[i];
		struct execution *e = &executions[i];
		_cleanup_(freep) char *name = text_utf8(u->name); /* may be cut amid a character */
		int r;

		*e = (struct execution){.sample = n, .pid = u->pid, .pt_ns = u->pt_ns, .tick_ns = u->tick_ns};
		if (!name)
			return error_oom(err);
		r = book_daemon(s->book, name, u->exe, u->unit, u->kernel, &e->daemon, err);
		if (r < 0)
			return r;
	}
	return 0;
}

static int store_in_transaction(
	struct sampling *s, const struct observed *observed, const struct sample *sample, struct error *err)
{
	const struct observation *o = &observed->observation;
	_cleanup_(freep) struct execution *executions = calloc(o->usages.n ?: 1, sizeof(*executions));
	int r;

	if (!executions)
		return error_os(err, -ENOMEM, "cannot store a sample");
	r = add_executions(s, &o->usages, executions, sample->n, err);
	if (r < 0)
		return r;
	r = book_add_sample(s->book, s->run->id, sample, executions, o->usages.n, err);
	if (r == 0)
		r = book_add_counters(s->book, s->run->id, sample->n, &observed->moved, err);
	return r < 0 ? r : book_commit(s->book, err);
}

static int store(struct sampling *s, const struct observed *observed, struct error *err)
{
	const struct observation *o = &observed->observation;
	const struct spawned *p = &o->spawned;
	struct sample sample = {
		.n = s->run->n_samples + 1,
		.start_ns = p->start_ns,
		.et_ns = p->et_ns,
		.pt_ns = p->pt_ns,
		.user_ns = p->user_ns,
		.system_ns = p->system_ns,
		.max_rss_bytes = p->max_rss_bytes,
		.observer_ns = o->observer_ns,
		.lost = (int64_t)o->usages.lost,
		.exit_status = spawn_exit_status(p->wait_status),
		.left_behind = p->left_behind,
		.incomplete = o->usages.incomplete,
	};
	int r;

	r = book_begin_sample(s->book, err);
	if (r < 0)
		return r;
	r = store_in_transaction(s, observed, &sample, err);
	if (r < 0) {
		book_rollback(s->book);
		return r;
	}
	s->run->n_samples++;
	s->observer_ns += o->observer_ns;
	s->lost += (int64_t)o->usages.lost;
	s->failures += p->wait_status != 0;
	s->left_behind += p->left_behind;
	s->killed += p->killed;
	return 0;
}

int sampling_begin(struct sampling *s, struct error *err)
{
	return s->run->id ? 0 : book_begin_run(s->book, s->run, err);
}

static int64_t own_ns(void)
{
	return clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

/* Reading the counters, outside the snapshots, is part of the observer's cost. */
static int observe(struct sampling *s, struct observed *ret, struct error *err)
{
	struct observation *o = &ret->observation;
	int64_t cost_ns = -own_ns();
	int r;

	counters_begin(s->counters);
	cost_ns += own_ns();
	r = observe_sample(s->spawn, o, err);
	if (r < 0)
		return r;
	cost_ns -= own_ns();
	ret->moved = counters_end(s->counters);
	o->observer_ns += cost_ns + own_ns();
	counters_set(&ret->moved, COUNTER_VOLUNTARY, o->spawned.voluntary_switches);
	counters_set(&ret->moved, COUNTER_INVOLUNTARY, o->spawned.involuntary_switches);
	return 0;
}

/* `which` is how a sentence about it calls it. 1: we were stopped
 * meanwhile, and who knows what these times are. */
static int observe_well(struct sampling *s, const char *which, struct observed *ret, struct error *err)
{
	int r;

	if (interrupt_pending())
		return -EINTR;
	interrupt_was_stopped(); /* before this */
	r = observe(s, ret, err);
	if (r == 0)
		r = check_end(s, &ret->observation.spawned, which, err);
	if (r == 0 && interrupt_was_stopped()) {
		s->again++;
		return 1;
	}
	return r;
}

int sampling_warm_up(struct sampling *s, int i, struct error *err)
{
	struct observed observed;
	char which[32];

	snprintf(which, sizeof(which), "warm-up %d", i);
	return observe_well(s, which, &observed, err);
}

int sampling_sample(struct sampling *s, struct error *err)
{
	struct observed observed;
	char which[32];
	int r;

	snprintf(which, sizeof(which), "sample %u", s->run->n_samples + 1);
	r = observe_well(s, which, &observed, err);
	return r != 0 ? r : store(s, &observed, err);
}

int sampling_end(struct sampling *s, int outcome, struct error *err)
{
	struct error ignored = {};

	if (outcome == 0)
		return book_end_run(s->book, s->run->id, "done", s->run->notes, err);
	book_end_run(
		s->book, s->run->id, outcome == -EINTR ? "interrupted" : "failed", s->run->notes, &ignored);
	return outcome;
}

static int take_all(struct sampling *s, struct error *err)
{
	_cleanup_(progress_end) struct progress progress;
	int r = 0;

	progress_begin(&progress, s->run->program, (uint64_t)(s->warm_ups + s->samples), s->quiet);
	for (int i = 1; r == 0 && i <= s->warm_ups; i++) {
		while ((r = sampling_warm_up(s, i, err)) > 0)
			;
		progress_step(&progress, (uint64_t)i);
	}
	while (r == 0 && s->run->n_samples < (uint32_t)s->samples) {
		while ((r = sampling_sample(s, err)) > 0)
			;
		progress_step(&progress, (uint64_t)s->warm_ups + s->run->n_samples);
	}
	return r;
}

int sampling_run(struct sampling *s, struct error *err)
{
	int r = sampling_begin(s, err);

	return r < 0 ? r : sampling_end(s, take_all(s, err), err);
}
