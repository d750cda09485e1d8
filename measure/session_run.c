/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Takes the samples of a session: see session_run.h. */
#include "measure/session_run.h"

#include "measure/export.h"
#include "measure/sample_number.h"
#include "measure/shell_start.h"
#include "measure/task_notes.h"
#include "lib/duet/duet_store.h"
#include "lib/host/cpu/cpus.h"
#include "lib/host/process/privilege.h"
#include "lib/host/process/program_content.h"
#include "lib/host/process/signals.h"
#include "lib/host/process/subprocess.h"
#include "lib/jitter/preemptions.h"
#include "lib/jitter/program_trace.h"
#include "lib/report/stored_results.h"
#include "lib/study/book_study.h"

enum { MOST_ERRORS = 1 << 16 };

/* ^C of the terminal ends the command too, and then interrupts the session. */
static int run_hook(const struct task *t, const char *command, const char *what, struct error *err)
{
	const struct measure_options *o = t->session->options;
	int r;

	if (!command)
		return 0;
	if (interrupt_pending())
		return -EINTR;
	r = hook_run(command, o->shell_words, o->show_output, what, err);
	return r < 0 && interrupt_pending() ? -EINTR : r;
}

/* The program's --setup. Of INC, how much it is to do, by the last warm-up of the program and INC's
 * constant, of the book or measured now. */
static int begin_task(struct sampling *sampling, struct error *err)
{
	struct task *t = sampling->data;
	struct session *s = t->session;
	struct inc *inc = s->inc ? &s->inc->inc : NULL;
	int64_t length_ns;
	int r;

	if (!inc || t->command != &s->inc->command)
		return run_hook(t, t->command->setup, "--setup", err);
	r = inc_find_constant(inc, &s->base, s->base.environment, err);
	if (r < 0)
		return r;
	length_ns = inc_length_beside(s->samplings[0].last_pt_ns);
	sampling->increments = (int64_t)(inc->per_second * (double)length_ns / 1e9) + 1;
	inc_program_make(&s->inc->program, inc, &s->base, (double)sampling->increments);
	free(t->run.command);
	t->run.command = run_command_json(s->inc->program.argv);
	return 0;
}

/* Tells the book, before the first warm-up, which block of a study the run belongs to. */
static int join_study(struct task *t, struct error *err)
{
	const int64_t block = t->session->options->study_block;

	if (!block || t->in_study || t != t->session->tasks)
		return 0;
	t->in_study = true;
	return book_add_study_run(t->session->base.book, block, t->run.id, err);
}

/* Every sample reads its input from the beginning and writes its output anew. */
static int prepare_sample(struct sampling *s, struct error *err)
{
	struct task *t = s->data;
	int in = t->spec.stdin_fd, out = t->spec.stdout_fd, r;

	if (!s->warm_up) {
		r = shell_start_take(t, err);
		if (r < 0)
			return r;
	}
	sample_number_set(s->warm_up, s->run->n_samples);
	r = join_study(t, err);
	if (r < 0)
		return r;
	r = run_hook(t, t->command->prepare, "--prepare", err);
	if (r < 0)
		return r;
	if (in >= 0 && lseek(in, 0, SEEK_SET) < 0)
		return error_os(err, -errno, "cannot rewind the input");
	if (out >= 0 && lseek(out, 0, SEEK_SET) == 0 && ftruncate(out, 0) < 0 && errno != EINVAL)
		return error_os(err, -errno, "cannot empty the output");
	r = program_output_begin(&t->output, err);
	if (r == 0 && !s->warm_up)
		r = perf_counters_start(&t->session->perf, err);
	if (r == 0 && t->session->trace)
		r = trace_forget(t->session->trace->trace, err);
	if (r == 0 && s->warm_up && t->session->order == ORDER_DUET && !t->session->inc)
		r = working_set_watch_new(&t->session->watch, t->spec.cpu, err);
	return r;
}

/* Standard error of the next run begins anew; it is kept only of programs that write little, since
 * that takes time. */
static int conclude_sample(struct sampling *s, struct error *err)
{
	struct task *t = s->data;
	int errors = t->spec.stderr_fd;
	struct stat st;
	int r;

	if (t->session->watch)
		working_set_watch_end(TAKE(t->session->watch), &t->working_set);
	r = program_output_copy(&t->output, err);
	if (r < 0)
		return r;
	if (errors >= 0 && fstat(errors, &st) == 0 && S_ISREG(st.st_mode)) {
		if (st.st_size > 0 && ftruncate(errors, 0) < 0)
			return error_os(err, -errno, "cannot empty standard error");
		if (st.st_size > MOST_ERRORS)
			t->spec.stderr_fd = t->session->null;
		t->spec.short_stderr = false;
	}

	/* Also after an interruption, as --cleanup. */
	if (!t->command->conclude)
		return 0;
	return hook_run(t->command->conclude, t->session->options->shell_words,
		t->session->options->show_output, "--conclude", err);
}

/* Whether the samples so far decide how many there will be. */
static bool keeps_samples(const struct session *s)
{
	return s->options->retain || discard_rules_by_neighbour(&s->rules);
}

/* Adds one more sample to those so far; --retain: its executions, too. */
static int filter_sample(struct task *t, const struct sample *sample,
	const struct execution *executions, size_t n, struct error *err)
{
	uint32_t last = 0;
	int r = 0;

	for (size_t i = 0; i < n; i++)
		last = executions[i].source > last ? executions[i].source : last;
	if (last > t->sources.n) { /* a new daemon */
		sources_clear(&t->sources);
		r = book_sources(t->session->base.book, &t->sources, err);
	}
	if (r < 0)
		return r;
	*array_add(t->samples, t->n_samples) = *sample;
	t->clean.samples = t->samples;
	t->clean.n_samples = t->n_samples;
	for (size_t i = 0; r == 0 && i < n; i++)
		r = sample_filter_add(&t->clean, &executions[i], err);
	return r;
}

static int sample_taken(struct sampling *s, const struct sample *sample,
	const struct execution *executions, size_t n_executions, struct error *err)
{
	struct task *t = s->data;
	struct session *session = t->session;
	size_t before = t->n_perf;
	int r = 0;

	for (size_t i = 0; i < session->perf.n; i++)
		array_add(t->perf, t->n_perf);
	if (session->perf.n > 0)
		r = perf_counters_stop(&session->perf, t->perf + before, err);
	if (r == 0 && session->trace)
		r = program_trace_take(
			session->trace, s->pid, array_add(t->preemptions, t->n_preemptions), err);
	if (r == 0)
		r = program_output_take(&t->output, sample->n, session->options->check,
			session->options->shell_words, err);
	if (r < 0 && interrupt_pending())
		r = -EINTR;
	if (r < 0 || !keeps_samples(session))
		return r;
	if (!session->options->retain)
		n_executions = 0;
	return filter_sample(t, sample, executions, n_executions, err);
}

/* How many of the samples so far had no neighbour; of several programs that are compared in pairs,
 * those of rounds in which none had one. */
static size_t count_clean_rounds(const struct task *t)
{
	const struct session *s = t->session;
	const struct task *tasks = s->order == ORDER_SEQUENCE ? t : s->tasks;
	size_t n_tasks = s->order == ORDER_SEQUENCE ? 1 : s->n, clean = 0;

	for (size_t i = 0; i < t->n_samples; i++) {
		bool beside = false;

		for (size_t k = 0; k < n_tasks; k++)
			beside |= i < tasks[k].n_samples &&
				  sample_has_neighbour(
					  &tasks[k].samples[i], s->rules.neighbour_limit_ppm);
		clean += !beside;
	}
	return clean;
}

/* 1 while too few samples are clean: with --retain by all causes, else because of neighbours. */
static int more_samples(struct sampling *s, struct error *err)
{
	struct task *t = s->data;
	const struct session *session = t->session;
	const struct measure_options *o = session->options;
	int most = o->retain ? o->max_runs : o->neighbour_runs;
	_cleanup_(discarding_clear) struct discarding so_far = {};

	if (!keeps_samples(session) || s->run->n_samples >= (uint32_t)most)
		return 0;
	if (!o->retain)
		return count_clean_rounds(t) < (size_t)o->runs;
	so_far = sample_filter_judge(&t->clean);
	return so_far.pt.kept.n < (size_t)o->retain;
}

/* Stores the digest of the output and, if there are several commands, that of the program. */
static int store_work(struct task *t, struct error *err)
{
	const struct session *s = t->session;
	const struct command *c = t->command;
	const char *const beside[] = {c->setup, c->prepare, c->conclude, c->output};
	const struct program_content_query query = {
		.path = c->path,
		.argv = c->argv,
		.environment = privilege_environment(),
		.beside = beside,
		.n_beside = ELEMENTS(beside),
		.call_ns = s->opened_ns,
		.since_ns = t->run.started_ns,
	};
	int r = 0;

	if (session_n_shown(s) > 1)
		t->run.program_digest = program_content(&query);
	if (t->run.program_digest)
		r = book_put_program_digest(s->base.book, t->run.id, t->run.program_digest, err);
	t->run.output_digest = program_output_digest(&t->output);
	if (r == 0 && t->run.output_digest)
		r = book_put_output_digest(s->base.book, t->run.id, t->run.output_digest, err);
	return r;
}

/* Runs --cleanup, then reads the result. Also after a failure or an interruption, so that the
 * samples so far can be shown. */
static int end_task(struct sampling *sampling, struct error *err)
{
	struct task *t = sampling->data;
	struct session *s = t->session;
	struct error *e = err;
	int cleaned = 0, r = 0;

	if (t->command->cleanup)
		cleaned = hook_run(t->command->cleanup, s->options->shell_words,
			s->options->show_output, "--cleanup", err);
	if (cleaned < 0)
		e = NULL;
	if (t->run.n_samples > 0) {
		r = store_work(t, e);
		r = r < 0 ? r
			  : run_result_read(
				    s->base.book, t->run.id, &s->rules, RESULT_ALL, &t->result, e);
		r = r ?: run_result_add_between(s->base.book, &t->result, false, e);
		if (r == 0 && s->inc && t->command != &s->inc->command)
			r = inc_units_load(s->base.book, t->run.id, &s->rules, &t->inc, e);
		if (r >= 0)
			r = task_notes_add(t, e);
		r = r ?: result_store(s->base.book, &t->result, e);
	}
	if (r == 0)
		r = export_results(s, false, e);
	return cleaned < 0 ? cleaned : r;
}

/* The CPUs that the programs of a duet share. */
static struct duet_place session_place(const struct session *s)
{
	int cpu = s->options->cpu;

	if (cpu < 0)
		return (struct duet_place){CPU_COUNT(&s->duet.cpus), -1, s->options->repeat};
	return (struct duet_place){1, cpu_own_cache(AT_FDCWD, cpu), s->options->repeat};
}

/* Why a duet is not taken, whose program `c` loses that share of its PT in it. */
static char *why_in_turn(const struct duet_candidate *c, const char *name, double share, int cpus)
{
	if (share < INFINITY)
		return text_format("refilling caches may take %s of the PT of '%s' in a duet",
			text_percent(share), name);
	if (c->pt_ns < DUET_LEAST_SLICES * duet_slices_ns[0] * cpus ||
		duet_turn_bytes(c, duet_slices_ns[0], cpus) < INFINITY)
		return text_format("'%s' is too short for a duet", name);
	return text_format("what memory '%s' touches is not known", name);
}

/* The shortest slice that costs the programs next to nothing; else that which costs least, or 1 if
 * that is too much. */
static int choose_cheap_slice(struct session *s, const struct duet_candidate *c, struct error *err)
{
	const struct measure_options *o = s->options;
	struct duet_place place = session_place(s);
	double least = INFINITY, refill;
	size_t dearest = 0, other;
	int64_t best_ns = 0;

	for (size_t i = 0; i < N_DUET_SLICES && !(least <= DUET_CHEAP); i++) {
		int64_t slice_ns = duet_slices_ns[i];
		enum slicing can = alternation_slicing(slice_ns, o->cpu, s->tasks[0].spec.cgroup);
		double share;
		size_t by;

		if (!o->slicing && !can)
			continue;
		if (o->slicing == SLICING_SCHEDULER && can != SLICING_SCHEDULER)
			continue;
		share = duet_dearest(c, s->n, slice_ns, &place, &by);
		if (best_ns && share >= least)
			continue;
		least = share;
		best_ns = slice_ns;
		dearest = by;
	}
	if (!best_ns) { /* the kernel's own slices, of some 3 ms */
		best_ns = duet_slices_ns[0];
		least = duet_dearest(c, s->n, best_ns, &place, &dearest);
	}
	if (least <= DUET_BEARABLE)
		return session_set_slice(s, best_ns, err);
	place.repeat = true;
	refill = duet_dearest(c, s->n, best_ns, &place, &other);
	if (refill <= DUET_BEARABLE)
		s->in_turn_because = text_format(
			"'%s' is much shorter than the longest program; try %s--repeat",
			s->tasks[dearest].name, o->order_auto ? "--order duet " : "");
	else
		s->in_turn_because = why_in_turn(
			&c[other], s->tasks[other].name, refill, place.cpus);
	return 1;
}

/* Programs that use several CPUs at once get all of them, unless the user has chosen one. 1: with
 * --order auto, they are taken in turn because one waits. */
static int choose_cpus(struct session *s, const struct duet_candidate *c, struct error *err)
{
	const struct measure_options *o = s->options;
	const char *parallel = NULL;

	for (size_t i = 0; i < s->n; i++)
		if (working_set_is_parallel(&c[i].set))
			parallel = s->tasks[i].name;
	if (parallel && o->cpu >= 0 && o->cpu_chosen && o->slicing != SLICING_SCHEDULER)
		return session_use_all_cpus(s, err);
	if (parallel && o->cpu >= 0)
		notes_add(&s->notes, NOTE_NOISE,
			"Warning: threads of '%s' share CPU %d: --cpu LIST gives them several",
			parallel, o->cpu);
	for (size_t i = 0; o->order_auto && !parallel && i < s->n; i++)
		if (!duet_computes(&c[i])) {
			s->in_turn_because = text_format(
				"'%s' waits for something other than a CPU", s->tasks[i].name);
			return 1;
		}
	return 0;
}

/* The slice of a duet by the last warm-ups, unless it is given. 1: the programs are taken in turn
 * instead. */
static int choose_slice(struct sampling *first, struct error *err)
{
	struct session *s = ((struct task *)first->data)->session;
	const struct measure_options *o = s->options;
	_cleanup_(freep) struct duet_candidate *c = xcalloc(s->n, sizeof(*c));
	int64_t slice_ns = duet_slice_for(s->samplings[0].last_pt_ns);
	int r = 0, cpus;

	for (size_t i = 0; i < s->n; i++)
		c[i] = (struct duet_candidate){s->samplings[i].last_pt_ns, s->tasks[i].working_set,
			s->samplings[i].last_et_ns, s->samplings[i].last_wait_ns};
	if (!s->inc)
		r = choose_cpus(s, c, err);
	if (r != 0)
		return r < 0 ? r : session_take_in_turn(s, err) ?: 1;
	if (s->inc && !o->slice_ns &&
		alternation_slicing(slice_ns, o->cpu, s->tasks[0].spec.cgroup))
		r = session_set_slice(s, slice_ns, err);
	else if (!s->inc && !o->slice_ns && o->warm_ups > 0)
		r = choose_cheap_slice(s, c, err);
	if (r > 0)
		return session_take_in_turn(s, err) ?: 1;
	cpus = session_place(s).cpus;
	for (size_t i = 0; i < s->n; i++) {
		double bytes = duet_turn_bytes(&c[i], s->duet.slice_ns, cpus);

		s->samplings[i].working_set = bytes < INFINITY ? llround(bytes) : -1;
	}
	return r;
}

char *session_different_work(const struct session *s, size_t i)
{
	const struct task *tasks[] = {&s->tasks[0], &s->tasks[i]};
	const struct written *usual[2];
	const char *noun = s->options->check ? "what --check makes of the output" : "the output";
	char *text = NULL;

	for (size_t k = 0; k < 1 + (i > 0); k++) {
		_cleanup_(freep) char *unlike = program_output_unlike(&tasks[k]->output);
		_cleanup_(freep) char *refused = program_output_refused(&tasks[k]->output);

		usual[k] = program_output_usual(&tasks[k]->output);
		if (refused)
			text_append(&text, "; ", "--check failed in %s of '%s'", refused,
				tasks[k]->name);
		else if (unlike)
			text_append(&text, "; ", "%s of '%s' differs in %s from that in sample %u",
				noun, tasks[k]->name, unlike, usual[k]->sample);
	}
	if (!text && i > 0 && usual[0] && usual[1] &&
		strcmp(usual[0]->digest, usual[1]->digest) != 0)
		text_append(&text, "", "%s of '%s' differs from that of '%s'", noun, tasks[1]->name,
			tasks[0]->name);
	return text;
}

int session_run(struct session *s, struct error *err)
{
	const struct measure_options *o = s->options;
	const struct sampling_plan plan = {
		.session = &s->base,
		.items = s->samplings,
		.n = s->n,
		.order = s->order,
		.seed = s->seed,
		.together = {.plan = &s->duet,
			.all = &s->together,
			.alone = s->order == ORDER_DUET ? (uint32_t)o->alone : 0,
			.store = &duet_store},
		.hooks = {begin_task, prepare_sample, conclude_sample, sample_taken, more_samples,
			end_task, choose_slice},
		.label = s->n == 1 ? NULL : "emp-measure",
		.quiet = o->quiet || o->silent,
	};
	unsigned long long samples = 0;
	long long first, last;
	int r;

	r = sampling_run(&plan, err);
	if (r != -EINTR)
		return r == -ETIMEDOUT ? STATUS_TIME_OUT : r;
	first = last = (long long)s->tasks[0].run.id;
	for (size_t i = 0; i < s->n; i++) {
		samples += s->tasks[i].run.n_samples;
		/* in a sequence, some may not have begun */
		last = (long long)s->tasks[i].run.id ?: last;
	}
	if (samples == 0)
		return error_say(
			err, STATUS_INTERRUPTED, "interrupted before the first sample was taken");
	if (first == last)
		return error_say(err, STATUS_INTERRUPTED,
			"interrupted: run %lld keeps the %s taken so far", first,
			text_count(samples, "sample"));
	return error_say(err, STATUS_INTERRUPTED,
		"interrupted: runs %lld to %lld keep the %s taken so far", first, last,
		text_count(samples, "sample"));
}
