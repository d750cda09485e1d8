/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sampling loop, from the order of the samples to their rows in the book: see sampling.h. */
#include "lib/run/sampling.h"

#include "lib/base/terminal.h"
#include "lib/book/sql.h"
#include "lib/run/turns.h"
#include "lib/host/process/signals.h"

enum { MAX_ESTIMATES = 3, ESTIMATE_SIZE = MAX_ESTIMATES * 48, MOST_TRIES = 10 };

/* The runs that are sampled in turn: all of them, or one after another of a sequence. */
struct sampling_group {
	const struct sampling_plan *plan;
	struct sampling *items;
	size_t n;
	bool together; /* ORDER_DUET, unless the samples are taken in turn after all */
	uint64_t random;
	struct progress *progress;
	uint64_t *done; /* warm-ups and samples of all groups */
};

/* Adds the last lines that the program wrote to standard error, if that is a file. */
static void add_last_lines(int fd, struct error *err)
{
	enum { MOST_LINES = 5 };
	const ssize_t most = sizeof(err->lines) - 1;
	char *lines = err->lines;
	struct stat st;
	ssize_t n = 0;

	if (fd >= 0 && fstat(fd, &st) == 0 && st.st_size > 0)
		n = pread(fd, lines, (size_t)most, st.st_size > most ? st.st_size - most : 0);
	while (n > 0 && lines[n - 1] == '\n')
		n--;
	lines[n > 0 ? n : 0] = '\0';
	for (ssize_t i = n - 1, found = 0; i >= 0; i--) {
		lines[i] = lines[i] ?: '?';
		if (lines[i] == '\n' && ++found == MOST_LINES) {
			memmove(lines, lines + i + 1, (size_t)(n - i));
			break;
		}
	}
}

/* "warm-up 2", "sample 17": what is under way, in messages. */
static const char *sampling_under_way(const struct sampling *s)
{
	const char *what = s->alone ? "a run alone before sample" : "sample";

	if (s->warm_up)
		return text_brief("warm-up %d", s->warm_up);
	return text_brief("%s %u", what, s->run->n_samples + 1);
}

/* 0 if the sample counts, otherwise a failure with a sentence. */
static int check_program_end(const struct sampling *s, const struct exec_result *exec,
	const struct holdback *holdback, struct error *err)
{
	const char *command = s->command ?: s->run->program;
	const char *which = sampling_under_way(s), *killer, *hint = "";
	int status = exec->wait_status, r;

	if (s->ignored_status)
		hint = "; -i measures it anyway, --show-output shows what it prints";

	if (exec->end == PROGRAM_TIMED_OUT)
		r = error_say(err, -ETIMEDOUT,
			"'%.400s' ran longer than %s in %s and was killed, with all it started",
			command, text_duration(s->spec->timeout_ns), which);
	else if (exec->end == PROGRAM_STOPPED)
		r = error_say(err, -ECANCELED,
			"'%.400s' stopped itself in %s and was killed: "
			"there was nothing to resume it",
			command, which);
	else if (exec->end == PROGRAM_FROZEN)
		r = error_say(err, -ECANCELED,
			"'%.400s' froze its own cgroup in %s and was killed: nothing thawed it",
			command, which);
	else if (status == 0)
		return 0;
	else if (interrupt_pending()) /* ^C may end the program before this process reads it */
		return -EINTR;
	else if (s->ignored_status && s->ignored_status[process_exit_status(status)])
		return 0;
	else if ((killer = holdback_killer(holdback)))
		r = error_say(err, -ECANCELED, "'%.400s' %s in %s: %s killed %s", command,
			process_end_text(status), which, killer,
			WIFSIGNALED(status) ? "it" : "one of its processes");
	else
		r = error_say(err, -ECANCELED, "'%.400s' %s in %s%s", command,
			process_end_text(status), which, hint);
	add_last_lines(s->spec->stderr_fd, err);
	return r;
}

static struct source source_of(const struct process_cpu *u)
{
	return (struct source){.name = (char *)u->name,
		.exe = (char *)u->exe,
		.unit = (char *)u->unit,
		.kind = u->kernel ? SOURCE_KERNEL : SOURCE_PROCESS};
}

/* The rows of a sample: the sample itself, and the executions in it, which the caller frees.
 * Sources that the book may not have yet are 0; *ret_known: there are none. */
static struct execution *make_rows(
	struct book *book, uint32_t n, struct raw_sample *o, struct sample *ret, bool *ret_known)
{
	struct execution *executions = xcalloc(o->usages.n, sizeof(*executions));
	const struct exec_result *p = &o->exec;

	fields_init(&sample_table, ret);
	ret->n = n;
	ret->start_ns = p->start_ns;
	ret->et_ns = p->et_ns;
	ret->pt_ns = p->pt_ns;
	ret->user_ns = p->user_ns;
	ret->system_ns = p->system_ns;
	ret->max_rss_bytes = p->max_rss_bytes;
	ret->max_rss_at_most = !o->knows_peak;
	ret->observer_ns = o->observer_ns;
	ret->lost = (int64_t)o->usages.lost;
	ret->exit_status = process_exit_status(p->wait_status);
	ret->left_behind = p->left_behind;
	ret->incomplete = o->usages.incomplete;
	ret->wait_ns = o->wait_ns;
	ret->et_late_ns = p->late_ns;
	ret->held_back_ns = o->held_back_ns;
	ret->neighbour_ppm = o->probed.neighbour_ppm;
	ret->neighbour_error_ppm = o->probed.error_ppm;
	ret->probe_ns = o->probed.probe_ns;

	o->changes.sample = n;
	*ret_known = true;
	for (size_t i = 0; i < o->usages.n; i++) {
		const struct process_cpu *u = &o->usages.items[i];
		const struct source who = source_of(u);

		executions[i] = (struct execution){
			.sample = n,
			.pid = u->pid,
			.pt_ns = u->pt_ns,
			.tick_ns = u->tick_ns,
			.cpu = u->cpu,
			.same_cpu_ns = u->same_cpu_ns,
			.source = book_known_source(book, &who),
		};
		*ret_known &= executions[i].source > 0;
	}
	return executions;
}

/* In a transaction: an id of a source is void if it is rolled back. */
static int store_rows(struct book *book, int64_t run, const struct raw_sample *o,
	const struct sample *sample, struct execution *executions, struct error *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < o->usages.n; i++) {
		const struct source who = source_of(&o->usages.items[i]);

		r = book_source(book, &who, &executions[i].source, err);
	}
	if (r == 0)
		r = book_add_sample(book, run, sample, executions, o->usages.n, err);
	return r == 0 ? book_add_rows(book, run, &counters_table, &o->changes, 1, err) : r;
}

int sample_store_rows(
	struct book *book, int64_t run, uint32_t n, struct raw_sample *o, struct error *err)
{
	struct sample sample;
	bool known;
	_cleanup_(freep) struct execution *executions = make_rows(book, n, o, &sample, &known);
	const char *held = held_back_text(&o->held);
	int r = store_rows(book, run, o, &sample, executions, err);

	return r == 0 && held ? book_put_held_back(book, run, held, err) : r;
}

/* Likewise, with the part that its program had if it alternated with others. */
static int store_sample(const struct sampling_plan *plan, const struct sampling *s,
	const struct raw_sample *o, const struct sample *sample, struct execution *executions,
	struct error *err)
{
	struct book *book = plan->session->book;
	int64_t run = s->run->id;
	int r = store_rows(book, run, o, sample, executions, err);

	if (r < 0 || o->part.position == 0)
		return r;
	return plan->together.store->part(book, run, sample->n, &o->part, err);
}

/* Adds the control groups that held the program back to those of the run, each once. */
static int store_held_back(
	struct book *book, struct run *run, const struct held_back *held, struct error *err)
{
	const char *text = held_back_text(held);

	if (!text || (run->held_back_by && strstr(run->held_back_by, text)))
		return 0;
	text_append(&run->held_back_by, "; ", "%s", text);
	return book_put_held_back(book, run->id, run->held_back_by, err);
}

/* A warm-up is not stored; a run without the others of ORDER_DUET is no sample. */
static int store_or_count(const struct sampling_plan *plan, struct sampling *s,
	struct raw_sample *o, struct error *err)
{
	_cleanup_(freep) struct execution *executions = NULL;
	struct book *book = plan->session->book;
	const char *killer;
	struct sample sample;
	bool known;
	int r = 0;

	s->last_pt_ns = o->exec.pt_ns;
	s->last_et_ns = o->exec.et_ns;
	s->last_wait_ns = o->wait_ns;
	if (s->warm_up)
		return 0;
	if (s->alone) {
		s->n_alone++;
		return plan->together.store->alone(book, s, &o->exec, err);
	}

	executions = make_rows(book, s->run->n_samples + 1, o, &sample, &known);
	if (!known || o->part.position > 0 ||
		!book_keep_sample(book, s->run, &sample, executions, o->usages.n, &o->changes)) {
		book_sync_by_second(book);
		r = BOOK_ATOMIC_RETRIED(
			book, store_sample(plan, s, o, &sample, executions, err), err);
	}
	if (r == 0)
		r = store_held_back(book, s->run, &o->held, err);
	if (r < 0) /* -EBUSY: the wait for another program's lock was interrupted */
		return r == -EBUSY && interrupt_pending() ? -EINTR : r;

	s->run->n_samples++;
	s->taken++;
	s->pt_ns += sample.pt_ns;
	s->observer_ns += o->observer_ns;
	s->before_ns += o->exec.before_ns;
	s->pid = o->exec.pid;
	s->escaped += o->exec.escaped;
	if (o->escaped[0])
		memcpy(s->escapee, o->escaped, sizeof(s->escapee));
	killer = holdback_killed_here(counters_holdback(plan->session->observer.counters));
	if (killer) {
		s->limited++;
		snprintf(s->limit, sizeof(s->limit), "%s", killer);
	}
	s->left_behind += sample.left_behind;
	s->killed += o->exec.killed;
	s->et_ns += sample.et_ns;
	s->end_delay_ns += o->exec.end_delay_ns;
	if (o->probed.waited_ns > 0)
		s->waited_ns += o->probed.waited_ns;
	return plan->hooks.taken ? plan->hooks.taken(s, &sample, executions, o->usages.n, err) : 0;
}

/* The program of one run, or those of all runs together. 1: this process was stopped meanwhile
 * (^Z), so that the times mean nothing. */
static int observe_in_turn(const struct sampling_group *g, struct sampling *items, size_t n,
	struct raw_sample *ret, struct error *err)
{
	const struct sampling_plan *plan = g->plan;
	bool together = g->together && !items[0].warm_up && !items[0].alone;
	struct counter_reader *counters = plan->session->observer.counters;
	int r;

	if (interrupt_pending())
		return -EINTR;
	interrupt_drain(interrupt_continued_fd); /* forget earlier stops */
	if (together) {
		_cleanup_(freep) const struct command_spec **specs = xcalloc(
			n, sizeof(struct command_spec *));
		struct alternation_plan alternation = *plan->together.plan;

		for (size_t i = 0; i < n; i++)
			specs[i] = items[i].spec;
		alternation.first = items[0].run->n_samples % n;
		r = observe_together(
			&alternation, plan->together.all, specs, n, counters, ret, err);
	} else {
		r = observe_sample(items[0].spec, counters, ret, err);
	}
	/* a program that was killed because another one did not end has not failed itself */
	for (size_t i = 0; r == 0 && i < n; i++)
		if (!together || ret[i].part.repetitions > 0)
			r = check_program_end(
				&items[i], &ret[i].exec, counters_holdback(counters), err);
	return r == 0 && interrupt_drain(interrupt_continued_fd) ? 1 : r;
}

static int call_hook(int (*hook)(struct sampling *, struct error *), struct sampling *items,
	size_t n, struct error *err)
{
	int r = 0;

	for (size_t i = 0; hook && r == 0 && i < n; i++)
		r = hook(&items[i], err);
	return r;
}

/* One warm-up or sample of one run, or a sample of each of n runs whose programs alternate; taken
 * again if this process was stopped. */
static int take_in_turn(
	struct sampling_group *g, struct sampling *items, size_t n, struct error *err)
{
	const struct sampling_hooks *hooks = &g->plan->hooks;
	_cleanup_(freep) struct raw_sample *seen = xcalloc(n, sizeof(*seen));
	const struct sampling *s = &items[0];
	char text[ESTIMATE_SIZE] = "";
	int tries = 0, stopped, used = 0, r;
	bool fit = g->n <= MAX_ESTIMATES, begun;

	do {
		stopped = 0;
		r = call_hook(hooks->prepare, items, n, err);
		begun = r == 0;
		if (begun)
			r = stopped = observe_in_turn(g, items, n, seen, err);
		for (size_t i = 0; r == 0 && i < n; i++)
			r = store_or_count(g->plan, &items[i], &seen[i], err);
		for (size_t i = 0; stopped > 0 && i < n; i++)
			items[i].again++;
		if (begun) { /* also after a failure, which is the first */
			int concluded = call_hook(hooks->conclude, items, n, r < 0 ? NULL : err);

			r = r < 0 ? r : concluded;
		}
		if (r == 0 && stopped > 0 && ++tries == MOST_TRIES)
			r = error_say(err, -ECANCELED,
				"this process was stopped in each of %d tries of %s %u: '%.400s' "
				"seems to stop its parent (SIGSTOP, SIGTSTP)",
				tries, s->warm_up ? "warm-up" : "sample",
				s->warm_up ? (unsigned)s->warm_up : s->run->n_samples + 1,
				s->command ?: s->run->program);
	} while (r == 0 && stopped > 0);
	*g->done += n;
	if (!progress_is_due(g->progress, *g->done))
		return r;
	/* The mean PT of each run so far, if they fit on a line. */
	for (size_t i = 0; fit && i < g->n; i++) {
		const struct sampling *one = &g->items[i];

		fit = one->taken > 0;
		if (fit)
			used += snprintf(text + used, sizeof(text) - (size_t)used, "%s%s",
				i ? " / " : "", text_duration(one->pt_ns / one->taken));
	}
	progress_step(g->progress, *g->done, fit ? text : NULL);
	return r;
}

/* Whether a run is to get one more sample: 1, or 0. */
static int wants_more(const struct sampling_group *g, struct sampling *s, struct error *err)
{
	return s->run->n_samples < s->samples ? 1 : call_hook(g->plan->hooks.more, s, 1, err);
}

/* A sample of all runs if any needs one, and before it the runs alone that are due. 1:
 * one was taken, 0: none. */
static int take_round_together(struct sampling_group *g, struct error *err)
{
	const struct sampling *first = &g->items[0];
	uint32_t alone = g->plan->together.alone;
	bool any = false;
	int r = 0;

	for (size_t i = 0; r >= 0 && i < g->n; i++) {
		r = wants_more(g, &g->items[i], err);
		any |= r > 0;
	}
	if (r < 0 || !any)
		return r < 0 ? r : 0;
	r = 0;
	while (r == 0 && first->n_alone < alone &&
		(first->run->n_samples + 1 >= first->samples ||
			(uint64_t)first->run->n_samples * alone >=
				(uint64_t)first->n_alone * first->samples))
		for (size_t i = 0, backwards = first->n_alone % 2; r == 0 && i < g->n; i++) {
			struct sampling *s = &g->items[backwards ? g->n - 1 - i : i];

			s->alone = true;
			r = take_in_turn(g, s, 1, err);
			s->alone = false;
		}
	if (r == 0)
		r = take_in_turn(g, g->items, g->n, err);
	return r < 0 ? r : 1;
}

/* One sample of each run that needs one. 1: at least one was taken, 0: none. */
static int take_sampling_round(struct sampling_group *g, size_t *order, struct error *err)
{
	uint64_t round = 0;
	int any = 0;

	if (g->together)
		return take_round_together(g, err);
	/* the rounds so far, also of runs that are resumed */
	for (size_t i = 0; i < g->n; i++)
		round = g->items[i].run->n_samples > round ? g->items[i].run->n_samples : round;
	turns_balanced(order, g->n, round);
	/* Fisher and Yates */
	for (size_t i = g->plan->order == ORDER_SHUFFLE ? g->n : 0; i > 1; i--) {
		size_t k = random_next(&g->random) % i, other = order[k];

		order[k] = order[i - 1];
		order[i - 1] = other;
	}
	for (size_t i = 0; i < g->n; i++) {
		struct sampling *s = &g->items[order[i]];
		int r = wants_more(g, s, err);

		if (r > 0) {
			any = 1;
			s->begun_ns = s->begun_ns ?: clock_ns(CLOCK_MONOTONIC);
			r = take_in_turn(g, s, 1, err);
		}
		if (r < 0)
			return r;
	}
	return any;
}

static enum run_state state_after(int outcome)
{
	if (outcome == 0)
		return RUN_DONE;
	return outcome == -EINTR ? RUN_INTERRUPTED : RUN_FAILED;
}

/* Also after a failure of the samples, `outcome`. */
static int end_sampling(
	const struct sampling_group *g, struct sampling *s, int outcome, struct error *err)
{
	enum run_state state = state_after(outcome);
	int r, called;

	if (s->escaped) /* PT after an escape: see program.c, and with bpf accounting observer.c */
		text_append(&s->run->notes, "; ", "in %s, %s left the program's cgroup",
			text_count(s->escaped, "sample"), s->escapee[0] ? s->escapee : "a process");
	r = book_end_run(g->plan->session->book, s->run->id, state, s->run->notes, err);
	called = call_hook(g->plan->hooks.end, s, 1, r < 0 ? NULL : err);
	return r < 0 ? r : called;
}

/* Begins the run, if it is new, and takes its warm-ups. */
static int begin_sampling(struct sampling_group *g, struct sampling *s, struct error *err)
{
	int r = call_hook(g->plan->hooks.begin, s, 1, err);

	if (r == 0 && !s->run->id)
		r = book_begin_run(g->plan->session->book, s->run, err);
	if (s->run->n_samples < s->samples)
		for (s->warm_up = 1; r == 0 && s->warm_up <= s->warm_ups; s->warm_up++)
			r = take_in_turn(g, s, 1, err);
	s->warm_up = 0;
	return r;
}

/* ORDER_DUET: after all warm-ups the caller may still change the plan, which is then stored. */
static int begin_together(struct sampling_group *g, struct error *err)
{
	const struct sampling_together *together = &g->plan->together;
	int r = call_hook(g->plan->hooks.ready, &g->items[0], 1, err);

	if (r > 0) /* nothing runs alone */
		*g->done += g->n * together->alone;
	if (r != 0)
		return r < 0 ? r : 0;
	g->together = true;
	for (size_t i = 0; r == 0 && i < g->n; i++)
		r = together->store->run(g->plan->session->book, &g->items[i], g->items[0].run->id,
			together->plan, err);
	return r;
}

/* Ends all runs that were begun, also after a failure; the first failure is returned. */
static int sample_group(struct sampling_group *g, struct error *err)
{
	_cleanup_(freep) size_t *order = xcalloc(g->n, sizeof(*order));
	int taken = 0, outcome;

	for (size_t i = 0; taken == 0 && i < g->n; i++)
		taken = begin_sampling(g, &g->items[i], err);
	if (taken == 0 && g->plan->order == ORDER_DUET)
		taken = begin_together(g, err);
	while (taken == 0 && (taken = take_sampling_round(g, order, err)) > 0)
		taken = 0;

	outcome = taken;
	for (size_t i = 0; i < g->n; i++) {
		int r = 0;

		if (g->items[i].run->id)
			r = end_sampling(g, &g->items[i], taken, outcome ? NULL : err);
		outcome = outcome ?: r;
	}
	return outcome;
}

int sampling_run(const struct sampling_plan *plan, struct error *err)
{
	_cleanup_(progress_end) struct progress progress;
	size_t size = plan->order == ORDER_SEQUENCE ? 1 : plan->n;
	uint64_t planned = 0, done = 0;
	int r = 0;

	for (size_t i = 0; i < plan->n; i++) {
		const struct sampling *s = &plan->items[i];

		if (s->run->n_samples < s->samples)
			planned += s->samples - s->run->n_samples + (uint64_t)s->warm_ups +
				   plan->together.alone;
	}
	progress_begin(&progress, plan->label ?: plan->items[0].run->program, planned, plan->quiet);
	for (size_t i = 0; r == 0 && i < plan->n; i += size) {
		struct sampling_group g = {
			.plan = plan,
			.items = &plan->items[i],
			.n = size,
			.random = plan->seed,
			.progress = &progress,
			.done = &done,
		};

		r = sample_group(&g, err);
	}
	return r;
}
