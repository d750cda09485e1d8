/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the commands of one call of emp-measure need, opened: see session.h. */
#include "measure/session.h"

#include "measure/sample_number.h"
#include "measure/shell_start.h"
#include "measure/streams.h"
#include "lib/host/process/privilege.h"
#include "lib/host/process/slices.h"
#include "lib/host/process/subprocess.h"
#include "lib/host/system/leftovers.h"
#include "lib/jitter/preemptions.h"
#include "lib/jitter/program_trace.h"
#include "lib/record/profile.h"

#include <sys/random.h>

#define PRELOAD "LD_PRELOAD="

/* --fast-clock: the programs read their own CPU time through libemp-clock, which is preloaded after
 * the libraries that LD_PRELOAD names already. */
static int preload_fast_clock(struct error *err)
{
	_cleanup_(freep) char *library = NULL;
	const char *present = "";
	int r = suite_file_find("libemp-clock-preload.so", &library, err);

	if (r < 0)
		return r;
	for (char **variable = privilege_environment(); *variable && !*present; variable++)
		if (!strncmp(*variable, PRELOAD, strlen(PRELOAD)))
			present = *variable + strlen(PRELOAD);
	/* the environment points to it until the end */
	privilege_environment_put(
		text_format(PRELOAD "%s%s%s", present, *present ? ":" : "", library));
	return 0;
}

/* How the program is started. out: where it writes; -1: where this process does. */
static struct command_spec task_spec(const struct task *t, int out)
{
	const struct session *s = t->session;
	const struct measure_options *o = s->options;

	return (struct command_spec){
		.argv = t->command->argv,
		.path = t->command->path,
		.cpu = o->cpu,
		.affinity = o->affine ? &o->affinity : NULL,
		.new_session = o->new_session,
		.stdin_fd = s->in,
		.stdout_fd = t->output.memory >= 0 ? t->output.stdout_fd : out,
		.stderr_fd = out >= 0 ? s->errors : -1,
		.short_stderr = out >= 0,
		.cgroup = s->base.observer.cgroup,
		.accounting = s->base.observer.accounting,
		.prober = s->base.observer.prober,
		.timeout_ns = o->timeout_ns,
		.linger_ns = o->linger_ns,
	};
}

/* The run as the book will have it. */
static int describe_run(struct task *t, struct error *err)
{
	const struct session *s = t->session;
	const struct measure_options *o = s->options;
	const struct command *command = t->command;
	const char *file = strrchr(command->argv[0], '/');
	bool duet = s->order == ORDER_DUET;
	int r = 0;

	t->run = (struct run){
		.program = text_utf8(file ? file + 1 : command->argv[0]),
		.name = command->named ? xstrdup(command->name) : NULL,
		.kind = duet ? RUN_DUET : RUN_MEASURE,
		.profile = text_copy(o->profile),
		.profile_id = s->profile.id,
		.other_cpus = o->other_cpus,
		.unprofiled_share_ppm = llround(o->unprofiled_percent * (PPM / 100)),
		.neighbour_rule = s->rules.neighbour,
		.neighbour_limit_ppm = discard_rules_by_neighbour(&s->rules)
					       ? s->rules.neighbour_limit_ppm
					       : 0,
		.cpu = o->cpu,
	};
	run_session_describe(&s->base, command->argv, &t->run);
	if (duet) {
		free(t->run.wait_source);
		t->run.wait_source = xstrdup("elapsed");
	}
	if (s->rules.neighbour == NEIGHBOUR_ADJUST || s->rules.neighbour == NEIGHBOUR_AUTO)
		r = neighbour_slope_load(s->base.book, &t->run, err);
	return r < 0 ? r : names_text(&t->run.name_patterns, err);
}

static int task_fill(
	struct session *s, const struct command *command, const char *suffix, struct error *err)
{
	const struct measure_options *o = s->options;
	struct task *t = &s->tasks[s->n];
	int out = -1, r;

	*t = (struct task){
		.command = command,
		.name = text_format("%s%s", command->name, suffix),
		.sampling = &s->samplings[s->n++],
		.in = -1,
		.errors = -1,
		.output = PROGRAM_OUTPUT_NONE,
		.clean = {.rules = s->rules, .sources = &t->sources},
		.session = s,
	};
	t->clean.rules.patterns = s->patterns.rows;
	/* which of both auto comes to is decided by all samples, and adjusting discards none */
	if (s->rules.neighbour == NEIGHBOUR_AUTO)
		t->clean.rules.neighbour = NEIGHBOUR_DISCARD;
	else if (s->rules.neighbour == NEIGHBOUR_ADJUST)
		t->clean.rules.neighbour = NEIGHBOUR_OFF;
	s->names[t - s->tasks] = t->name;
	t->in_messages = command->named ? text_format("%s: %s", t->name, command->text)
					: xstrdup(t->name);

	*t->sampling = (struct sampling){
		.run = &t->run,
		.spec = &t->spec,
		.command = t->in_messages,
		.warm_ups = o->warm_ups,
		.samples = (uint32_t)o->runs,
		/* INC, the last one, must not fail */
		.ignored_status = s->inc ? NULL : o->ignored_status,
		.data = t,
	};

	r = streams_open_output(s, command, &out, err);
	if (r == 0 && (o->same_output || o->check))
		r = program_output_open(&t->output, streams_place(s, command), out, err);
	if (r < 0)
		return r;
	t->spec = task_spec(t, out);
	return describe_run(t, err);
}

int session_fill_tasks(struct session *s, const struct commands *commands, struct error *err)
{
	struct inc_command *inc;
	int r = 0;

	s->tasks = xcalloc(commands->n + 1, sizeof(*s->tasks));
	s->samplings = xcalloc(commands->n + 1, sizeof(*s->samplings));
	s->names = xcalloc(commands->n + 1, sizeof(char *));
	s->filters = xcalloc(commands->n + 1, sizeof(*s->filters));
	s->comparisons = xcalloc(commands->n + 1, N_COMPARISON_CLOCKS * sizeof(*s->comparisons));
	for (size_t i = 0; r == 0 && i < commands->n; i++)
		r = task_fill(s, &commands->items[i], "", err);
	if (r == 0 && s->options->aa)
		r = task_fill(s, &commands->items[0], " (again)", err);
	if (r < 0 || !s->options->against_inc)
		return r;

	if (commands->n != 1)
		return error_say(err, -EINVAL,
			"--against inc measures one command, and there are %zu", commands->n);
	s->inc = inc = xcalloc(1, sizeof(*inc));
	r = suite_file_find("emp-inc", &inc->inc.path, err);
	if (r < 0)
		return error_prefix(err, r, "--against inc");

	inc->inc.cpu = s->options->cpu;
	inc->inc.quiet = s->options->quiet || s->options->silent;
	inc_program_make(&inc->program, &inc->inc, &s->base, 1);
	inc->command = (struct command){.name = (char *)"INC",
		.text = (char *)"inc",
		.argv = inc->program.argv,
		.path = inc->inc.path,
		.output = "null"};
	return task_fill(s, &inc->command, "", err);
}

/* In the guard: a frozen process does not notice that its parent has died. */
static void thaw_below(int parent_fd, const void *data)
{
	_cleanup_(closedirp) DIR *dir = fdopendir(parent_fd);
	struct dirent *entry;
	char path[320];

	while (dir && (entry = readdir(dir))) {
		_cleanup_(closep) int fd = -1;

		snprintf(path, sizeof(path), "%s/cgroup.freeze", entry->d_name);
		fd = strcmp(entry->d_name, "..") ? openat(dirfd(dir), path, O_WRONLY | O_CLOEXEC)
						 : -1;
		if (fd >= 0 && write(fd, "0", 1) < 0)
			continue;
	}
}

/* A reading of the prober ends a turn. If readings are a slice apart, they alone shall: where the
 * scheduler's slice ends between two readings, that turn is in two parts. So its slice, which is
 * returned, is as long as the kernel allows, and is used up only once in as many turns as take so
 * long together. In slices that are hardly shorter than that, there are no readings. */
static int64_t align_readings(const struct session *s, enum slicing slicing, int64_t slice_ns)
{
	static const int64_t ALIGNED_MOST_NS = SLICE_MOST_NS / 4;
	const struct measure_options *o = s->options;
	struct prober *prober = s->base.observer.prober;
	int64_t period_ns = 0;

	if (slicing == SLICING_SCHEDULER && slice_ns >= DEFAULT_SLICE_NS && !o->probe_given &&
		!o->trace)
		period_ns = slice_ns <= ALIGNED_MOST_NS ? slice_ns : PROBER_NEVER;
	if (!prober)
		return slice_ns;
	prober_set_period(prober, period_ns);
	return period_ns > 0 ? SLICE_MOST_NS : slice_ns;
}

int session_set_slice(struct session *s, int64_t slice_ns, struct error *err)
{
	const struct measure_options *o = s->options;
	int64_t turn_ns;
	enum slicing slicing;
	int r = alternation_choose(
		o->slicing, slice_ns, o->cpu, s->tasks[0].spec.cgroup, &slicing, err);

	if (r < 0)
		return error_prefix(err, r, "--slices-by");
	s->duet = (struct alternation_plan){
		.slicing = slicing, .slice_ns = slice_ns, .cpu = o->cpu, .repeat = o->repeat};
	if (o->affine)
		s->duet.cpus = o->affinity;
	else if (o->cpu < 0 && sched_getaffinity(0, sizeof(cpu_set_t), &s->duet.cpus) < 0)
		return error_os(err, -errno, "cannot see which CPUs the programs may use");
	turn_ns = align_readings(s, slicing, slice_ns);
	for (size_t i = 0; i < s->n; i++) {
		s->tasks[i].spec.slice_ns = slicing == SLICING_SCHEDULER ? turn_ns : 0;
	}
	if (slicing == SLICING_FREEZER && s->guard < 0) {
		/* Opened again: a copy would share the lock, and the cgroup would have an owner
		 * until the guard has ended. */
		_cleanup_(closep) int fd = open(
			s->base.observer.cgroup->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

		if (fd < 0)
			return error_os(err, -errno, "cannot open the cgroup %s",
				s->base.observer.cgroup->path);
		s->guard = r = guard_new(thaw_below, fd, NULL, err);
	}
	return r < 0 ? r : 0;
}

/* By the observer: what the programs of a duet have in common, and a cgroup for each. */
static int give_cgroups(struct session *s, struct error *err)
{
	int r = 0;

	s->together = (struct command_spec){.cpu = s->options->cpu,
		.cgroup = s->base.observer.cgroup,
		.accounting = s->base.observer.accounting,
		.prober = s->base.observer.prober};
	for (size_t i = 0; r == 0 && i < s->n; i++) {
		struct command_spec *spec = &s->tasks[i].spec;

		spec->cpu = s->together.cpu;
		spec->accounting = s->together.accounting;
		spec->prober = s->together.prober;
		spec->cgroup = NULL;
		if (s->together.cgroup)
			r = cgroup_new_in(&spec->cgroup, s->together.cgroup->path, err);
	}
	return r;
}

/* Gives each program a cgroup, standard error and an input of its own, so that all can run at
 * once. */
static int make_duet(struct session *s, struct error *err)
{
	const char *input = s->options->input;
	int r;

	if (s->n < 2)
		return error_say(err, -EINVAL,
			"--order duet needs two commands or more: give each as one operand, or "
			"--aa");
	r = give_cgroups(s, err);
	for (size_t i = 0; r == 0 && i < s->n; i++) {
		struct task *t = &s->tasks[i];

		t->spec.number = (unsigned int)i;
		t->spec.has_partners = true;
		s->filters[i] = &t->clean;
		t->clean.duet = s->filters;
		t->clean.n_duet = s->n;
		if (r == 0 && t->spec.stderr_fd >= 0) {
			r = streams_open_errors(&t->errors, err);
			t->spec.stderr_fd = t->errors;
		}
		/* programs that read one file at the same time must not share their place in it */
		if (r == 0 && input && strcmp(input, "null")) {
			r = streams_open_input(input, &t->in, err);
			t->spec.stdin_fd = t->in;
		}
	}
	return r == 0 ? session_set_slice(s, s->options->slice_ns ?: DEFAULT_SLICE_NS, err) : r;
}

/* The observer watches one CPU or none, so it is opened again. */
int session_use_all_cpus(struct session *s, struct error *err)
{
	struct observer *observer = &s->base.observer;
	int r = 0;

	s->chosen.cpu = -1;
	s->chosen.neighbour = s->rules.neighbour = NEIGHBOUR_OFF;
	for (size_t i = 0; i < s->n; i++)
		cgroup_free(TAKE(s->tasks[i].spec.cgroup));
	guard_free(s->guard);
	s->guard = -1;
	observer_close(observer);
	r = observer_open(observer, s->options->backend, -1, err);
	if (r == 0)
		r = give_cgroups(s, err);
	for (size_t i = 0; r == 0 && i < s->n; i++) {
		struct task *t = &s->tasks[i];

		t->clean.rules.neighbour = NEIGHBOUR_OFF;
		t->run.cpu = -1;
		t->run.neighbour_rule = NEIGHBOUR_OFF;
		t->run.neighbour_limit_ppm = 0;
		r = book_put_all_cpus(s->base.book, t->run.id, err);
	}
	return r == 0 ? session_set_slice(s, s->duet.slice_ns, err) : r;
}

int session_take_in_turn(struct session *s, struct error *err)
{
	int r = 0;

	s->order = ORDER_INTERLEAVE;
	if (s->base.observer.prober)
		prober_set_period(s->base.observer.prober, 0);
	for (size_t i = 0; r == 0 && i < s->n; i++) {
		struct task *t = &s->tasks[i];

		t->spec.has_partners = false;
		t->spec.slice_ns = 0;
		t->clean.duet = NULL;
		t->clean.n_duet = 0;
		t->run.kind = RUN_MEASURE;
		free(t->run.wait_source);
		t->run.wait_source = xstrdup(s->base.observer.wait_source);
		r = book_put_in_turn(s->base.book, t->run.id, t->run.wait_source, err);
	}
	return r;
}

/* The notes on all results alike. */
static int add_session_notes(struct session *s, struct error *err)
{
	_cleanup_(freep) char *idle = holdback_idle(AT_FDCWD);
	const struct observer *o = &s->base.observer;
	cpu_set_t allowed = s->options->affinity;
	int r = 0;

	if (!s->options->affine && sched_getaffinity(0, sizeof(allowed), &allowed) < 0)
		CPU_ZERO(&allowed);
	core_types_note(&s->notes, AT_FDCWD, s->options->cpu, &allowed,
		s->options->profile ? &s->profile : NULL);
	if (s->base.beside)
		notes_add(&s->notes, NOTE_NOISE, "Warning: beside %s", s->base.beside);
	if (idle)
		notes_add(&s->notes, NOTE_NOISE,
			"Warning: %s has cpu.idle: all others get the CPU first", idle);

	if (s->options->profile)
		r = profile_changes_note(&s->notes, s->base.book, &s->profile, s->base.environment,
			&s->environment_changes, err);
	profile_for_inc(&s->profile, s->base.inc_digest);
	if (r == 0)
		r = other_inc_note(&s->notes, s->base.book,
			&(struct run){.environment = s->base.environment,
				.inc_digest = s->base.inc_digest},
			s->rules.profile, err);

	/* what could not be observed, in one line of 80 columns; the long reason is in -v */
	if (!o->accounting)
		notes_add(&s->notes, NOTE_PROGRAM, "Accounting off (%s): daemons%s",
			s->options->backend == ACCOUNTING_NONE ? "--accounting none"
							       : o->accounting_missing,
			o->cgroup ? " not named" : ", orphans not counted");
	else if (*accounting_state(o->accounting)->why.text)
		notes_add(&s->notes, NOTE_OTHER,
			"Accounting by taskstats, which is less exact than bpf; -v says why");
	else if (!o->cgroup)
		notes_add(&s->notes, NOTE_PROGRAM,
			"No cgroup v2 (see -v): orphans are not counted in PT");
	return r;
}

/* Probes within samples would be recorded by --trace as interruptions. */
static int open_prober(struct session *s, struct error *err)
{
	const struct measure_options *o = s->options;
	const struct prober_options options = {.cpu = o->cpu,
		.share = o->trace ? 0 : o->probe_share,
		.wait = discard_rules_by_neighbour(&s->rules)};

	if (o->cpu < 0 || o->probe_share < 0)
		return 0;
	return prober_new(&s->base.observer.prober, &options, err);
}

int session_open(struct session *s, const struct measure_options *options,
	const struct commands *commands, struct error *err)
{
	int r;

	s->chosen = *options;
	s->options = options = &s->chosen;
	s->order = options->order;
	if (options->in_turn_why && *options->in_turn_why)
		s->in_turn_because = xstrdup(options->in_turn_why);
	s->opened_ns = clock_ns(CLOCK_REALTIME);
	s->shell_start = shell_start_new();
	s->rules = (struct discard_rules){
		.profile = options->profile ? &s->profile : NULL,
		.other_cpus = options->other_cpus,
		.unprofiled_share = options->unprofiled_percent / 100,
		.neighbour = options->neighbour,
		.neighbour_limit_ppm = llround(fmax(1, options->neighbour_percent * (PPM / 100))),
	};
	leftovers_remove(true);

	CPU_ZERO(&s->cpus);
	if (options->cpu >= 0 && !options->cpu_chosen)
		CPU_SET(options->cpu, &s->cpus);
	else if (options->affine)
		s->cpus = options->affinity;
	s->base.cpus = CPU_COUNT(&s->cpus) > 0 ? &s->cpus : NULL;

	r = run_session_open(&s->base, options->db, BOOK_MEASURE,
		options->ignore_lock ? RUN_LOCK_IGNORED : RUN_LOCK_FREE, err);
	if (r < 0)
		return r;
	run_session_ask_environment(&s->base);
	if (r == 0 && options->profile)
		r = book_get_profile(s->base.book, 0, options->profile, &s->profile, err);
	if (r == 0)
		r = observer_open(&s->base.observer, options->backend, options->cpu, err);
	if (r == 0)
		r = run_session_environment(&s->base, err);
	if (r == 0)
		r = open_prober(s, err);

	if (r == 0)
		r = add_session_notes(s, err);
	if (r == 0 && options->retain)
		r = names_load(&s->patterns, NULL, err);
	if (r == 0 && options->perf)
		r = perf_counters_open(&s->perf, options->perf, err);
	if (r == 0 && options->trace)
		r = program_trace_open(&s->trace, options->cpu, err);

	sample_number_begin();
	if (r == 0 && options->fast_clock)
		r = preload_fast_clock(err);
	if (r == 0)
		r = streams_open(s, err);
	if (r == 0)
		r = session_fill_tasks(s, commands, err);
	if (r == 0 && s->order == ORDER_DUET)
		r = make_duet(s, err);
	if (r == 0 && getrandom(&s->seed, sizeof(s->seed), 0) < 0)
		r = error_os(err, -errno, "cannot choose a random order");
	return r;
}

/* Uses the results that the session has read, if it has those of all programs. */
int session_duet(const struct session *s, struct duet_report *ret, struct error *err)
{
	_cleanup_(freep)
		const struct run_result **results = xcalloc(s->n + 1, sizeof(struct run_result *));
	bool all = true;

	for (size_t i = 0; i < s->n; i++) {
		results[i] = &s->tasks[i].result;
		all &= s->tasks[i].run.id > 0 &&
		       results[i]->discarding.run.id == s->tasks[i].run.id;
	}
	return duet_report_load(
		s->base.book, s->tasks[0].run.id, &s->rules, all ? results : NULL, ret, err);
}

static void clear_tasks(struct session *s)
{
	for (size_t i = 0; i < s->n; i++) {
		struct task *t = &s->tasks[i];

		free(t->name);
		free(t->in_messages);
		program_output_close(&t->output);
		free(t->perf);
		for (size_t k = 0; k < t->n_preemptions; k++)
			preemptions_clear(&t->preemptions[k]);
		free(t->preemptions);
		run_clear(&t->run);
		sample_filter_clear(&t->clean);
		sources_clear(&t->sources);
		free(t->samples);
		run_result_clear(&t->result);
		notes_clear(&t->notes);
		closep(&t->in);
		closep(&t->errors);
		if (t->spec.cgroup != s->base.observer.cgroup)
			cgroup_free(t->spec.cgroup);
	}
	free(s->tasks);
	free(s->samplings);
	free(s->names);
	free(s->filters);
	free(s->comparisons);
}

void session_close(struct session *s)
{
	if (s->watch)
		working_set_watch_end(s->watch, &(struct working_set){});
	clear_tasks(s);
	guard_free(s->guard);
	free(s->environment_changes);
	free(s->in_turn_because);
	notes_clear(&s->notes);
	names_clear(&s->patterns);
	profile_clear(&s->profile);
	run_session_close(&s->base);
	closep(&s->in);
	for (size_t i = 0; i < s->n_outputs; i++)
		closep(&s->outputs[i].fd);
	free(s->outputs);
	if (s->inc)
		free(s->inc->inc.path);
	free(s->inc);
	shell_start_free(s->shell_start);
	perf_counters_clear(&s->perf);
	program_trace_free(s->trace);
	closep(&s->null);
	closep(&s->errors);
	*s = SESSION_NEW;
}
