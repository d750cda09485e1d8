/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One sample of the sampling loop: see sample.h. */
#include "lib/run/sample.h"

#include "lib/base/text.h"
#include "lib/host/process/process.h"
#include "lib/host/process/signals.h"
#include "lib/record/book/book_counters.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>

/* 0 if the sample counts, otherwise a failure with a sentence. */
static int check_end(const struct sampling *s, const struct spawned *spawned, struct error *err)
{
	const char *program = s->run->program;
	const char *hint = s->ignored_status ? "; -i measures it anyway" : "";
	int status = spawned->wait_status;
	char which[32], time[TEXT_TIME_SIZE];

	snprintf(which, sizeof(which), "%s %u", s->warm_up ? "warm-up" : "sample",
		s->warm_up ? (unsigned)s->warm_up : s->run->n_samples + 1);
	if (spawned->end == SPAWN_TIMED_OUT)
		return error_say(err, -ETIMEDOUT,
			"'%s' ran longer than %s in %s and was killed, with all it started", program,
			text_duration(time, s->spawn->timeout_ns), which);
	if (spawned->end == SPAWN_STOPPED)
		return error_say(err, -ECANCELED,
			"'%s' stopped itself in %s and was killed: there was nothing to resume it", program,
			which);
	if (status == 0)
		return 0;
	if (interrupt_pending()) /* ^C goes to the program too, and may end it before this process reads it */
		return -EINTR;
	if (s->ignored_status && s->ignored_status[process_exit_status(status)])
		return 0;
	if (WIFSIGNALED(status))
		return error_say(err, -ECANCELED, "'%s' was killed by signal %d (SIG%s) in %s%s", program,
			WTERMSIG(status), sigabbrev_np(WTERMSIG(status)) ?: "?", which, hint);
	return error_say(err, -ECANCELED, "'%s' ended with exit status %d in %s%s", program,
		WEXITSTATUS(status), which, hint);
}

static int add_executions(struct book *book, const struct usages *usages, struct execution *executions,
	uint32_t n, struct error *err)
{
	for (size_t i = 0; i < usages->n; i++) {
		const struct usage *u = &usages->items[i];
		struct execution *e = &executions[i];
		int r;

		*e = (struct execution){.sample = n, .pid = u->pid, .pt_ns = u->pt_ns, .tick_ns = u->tick_ns};
		r = book_source(book, u->name, u->exe, u->unit, u->kernel ? SOURCE_KERNEL : SOURCE_PROCESS,
			&e->source, err);
		if (r < 0)
			return r;
	}
	return 0;
}

static int store_rows(const struct sampling_plan *plan, struct sampling *s, const struct observation *o,
	const struct sample *sample, struct execution *executions, struct error *err)
{
	int r;

	r = add_executions(plan->book, &o->usages, executions, sample->n, err);
	if (r == 0)
		r = book_add_sample(plan->book, s->run->id, sample, executions, o->usages.n, err);
	if (r == 0)
		r = book_add_counters(plan->book, s->run->id, sample->n, &o->changes, err);
	return r == 0 ? book_commit(plan->book, err) : r;
}

static struct sample make_sample(uint32_t n, const struct observation *o)
{
	const struct spawned *p = &o->spawned;

	return (struct sample){
		.n = n,
		.start_ns = p->start_ns,
		.et_ns = p->et_ns,
		.pt_ns = p->pt_ns,
		.user_ns = p->user_ns,
		.system_ns = p->system_ns,
		.max_rss_bytes = p->max_rss_bytes,
		.observer_ns = o->observer_ns,
		.lost = (int64_t)o->usages.lost,
		.exit_status = process_exit_status(p->wait_status),
		.left_behind = p->left_behind,
		.incomplete = o->usages.incomplete,
	};
}

static int store(
	const struct sampling_plan *plan, struct sampling *s, const struct observation *o, struct error *err)
{
	struct sample sample = make_sample(s->run->n_samples + 1, o);
	_cleanup_(freep) struct execution *executions = calloc(o->usages.n + 1, sizeof(*executions));
	int r;

	if (!executions)
		return error_oom(err);
	r = book_begin_sample(plan->book, err);
	if (r < 0)
		return r;
	r = store_rows(plan, s, o, &sample, executions, err);
	if (r < 0) {
		book_rollback(plan->book);
		return r;
	}
	s->run->n_samples++;
	s->taken++;
	s->pt_ns += sample.pt_ns;
	s->observer_ns += o->observer_ns;
	s->lost += sample.lost;
	s->failures += o->spawned.wait_status != 0;
	s->left_behind += sample.left_behind;
	s->killed += o->spawned.killed;
	return plan->hooks.taken ? plan->hooks.taken(s, &sample, executions, o->usages.n, err) : 0;
}

/* 1: this process was stopped meanwhile. */
static int observe(
	const struct sampling_plan *plan, struct sampling *s, struct observation *ret, struct error *err)
{
	int r;

	if (interrupt_pending())
		return -EINTR;
	interrupt_was_stopped(); /* forget earlier stops */
	r = observe_sample(s->spawn, plan->counters, ret, err);
	if (r == 0)
		r = check_end(s, &ret->spawned, err);
	if (r == 0 && interrupt_was_stopped()) {
		s->again++;
		return 1;
	}
	return r;
}

int sample_take(const struct sampling_plan *plan, struct sampling *s, struct error *err)
{
	struct observation observation;
	int r = observe(plan, s, &observation, err);

	return r != 0 || s->warm_up ? r : store(plan, s, &observation, err);
}
