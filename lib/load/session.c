/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All runs of a load: see session.h. */
#include "lib/load/session.h"

#include "lib/book/sql.h"
#include "lib/host/process/pinning.h"
#include "lib/host/process/privilege.h"
#include "lib/host/process/signals.h"
#include "lib/host/system/leftovers.h"
#include "lib/report/screen.h"

#include <signal.h>
#include <sys/prctl.h>

int load_read(struct load *ret, char **ret_text, const char *path, struct error *err)
{
	_cleanup_(freep) char *text = NULL;
	int r = file_read_text(path, &text);

	if (r < 0)
		return error_os(err, r, "cannot read '%s'", path);
	r = load_parse(ret, text, path, err);
	if (r < 0)
		return r;
	for (int cpu = 0; ret->cpu_list && cpu < CPU_SETSIZE; cpu++) {
		r = CPU_ISSET(cpu, &ret->cpus) ? pinning_check(cpu, AT_FDCWD, err) : 0;
		if (r < 0)
			return error_prefix(err, r, "%s: cpus", path);
	}
	*ret_text = TAKE(text);
	return 0;
}

int load_session_open(struct load_session *s, const struct load_options *options, const char *path,
	struct error *err)
{
	int r = interrupt_init();

	if (r < 0)
		return error_os(err, r, "cannot catch signals");
	r = load_read(&s->load, &s->text, path, err);
	if (r < 0)
		return r;
	s->options = options;
	if (options->coordination >= 0)
		s->load.coordination = (enum coordination)options->coordination;
	s->load.runs = options->runs ?: s->load.runs;
	if (!s->load.cpu_list && sched_getaffinity(0, sizeof(s->load.cpus), &s->load.cpus) < 0)
		return error_os(err, -errno, "cannot read which CPUs may be used");
	if (setenv("EMP_LOAD_FILE_DIR", s->load.file_directory, 1) < 0)
		xalloc_fail();
	r = run_session_open(&s->base, options->db, BOOK_MEASURE,
		options->ignore_lock ? RUN_LOCK_IGNORED : RUN_LOCK_FREE, err);
	if (r == 0)
		leftovers_remove(false);
	if (r == 0 && options->profile)
		r = book_get_profile(s->base.book, 0, options->profile, &s->profile, err);
	if (r == 0)
		r = run_session_environment(&s->base, err);
	if (r == 0)
		r = observer_open(&s->base.observer, options->backend, -1, err);
	if (r == 0)
		r = load_limits_begin(&s->limits, &s->load, err);
	if (r < 0)
		return r;
	profile_for_inc(&s->profile, s->base.inc_digest);
	s->run = (struct run){
		.kind = RUN_LOAD,
		.program = text_utf8(s->load.name),
		.backend = xstrdup(s->base.observer.backend),
		.pt_source = xstrdup("cgroup"),
		.profile = text_copy(options->profile),
		.notes = xstrdup(coordination_names[s->load.coordination]),
		.resolution_ns = 1,
		.environment = s->base.environment,
		.inc_digest = text_copy(s->base.inc_digest),
		.cpu = -1,
	};
	s->work = (struct load_work){.coordination = s->load.coordination, .file = s->text};
	for (size_t k = 0; k < load_n_workers(&s->load); k++)
		*array_add(s->work.programs, s->work.n_programs) = (struct run_program){
			.n = (uint32_t)k + 1, .name = xstrdup(load_script_of(&s->load, k)->name)};
	return names_text(&s->run.name_patterns, err);
}

static int store_load_sample(struct load_session *s, struct load_result *result, struct error *err)
{
	const struct page_waits *waits = &result->page_waits;
	struct book *book = s->base.book;
	int r = sample_store_rows(book, s->run.id, result->start.sample, &result->raw, err);

	if (r == 0)
		r = book_add_rows(
			book, s->run.id, &sample_program_table, result->parts, result->n, err);
	if (r == 0)
		r = book_add_rows(book, s->run.id, &page_wait_table, waits->items, waits->n, err);
	if (r == 0)
		r = book_add_rows(
			book, s->run.id, &page_wait_bin_table, waits->bins, waits->n_bins, err);
	return r == 0 ? book_add_rows(book, s->run.id, &load_sample_table, &result->start, 1, err)
		      : r;
}

/* Taken again if this process was stopped (^Z) meanwhile: the slaves went on without their
 * driver. */
static int take_unstopped(
	const struct load_session *s, uint32_t n, struct load_result *ret, struct error *err)
{
	enum { MOST_TRIES = 10 };

	for (int tries = 0; tries < MOST_TRIES; tries++) {
		int r;

		interrupt_drain(interrupt_continued_fd); /* forget earlier stops */
		r = interrupt_pending() ? -EINTR : load_run_once(s, n, ret, err);
		if ((r < 0 && r != -ETIMEDOUT) || !interrupt_drain(interrupt_continued_fd))
			return r;
		load_result_clear(ret);
	}
	return error_say(err, -ECANCELED,
		"this process was stopped in each of %d tries of a run: a command of '%.400s' seems to stop it (SIGSTOP, SIGTSTP)",
		MOST_TRIES, s->load.name);
}

/* Warm-ups, then runs that are stored. */
static int take_load_samples(struct load_session *s, struct error *err)
{
	int total = s->options->warm_ups + s->load.runs, r = 0;
	_cleanup_(progress_end) struct progress progress;

	progress_begin(&progress, s->load.name, (uint64_t)total, s->options->quiet);
	for (int i = 0; r == 0 && i < total; i++) {
		_cleanup_(load_result_clear) struct load_result result = {};

		r = take_unstopped(s, s->run.n_samples + 1, &result, err);
		if (r == 0 && i >= s->options->warm_ups) {
			r = BOOK_ATOMIC(s->base.book, store_load_sample(s, &result, err), err);
			s->run.n_samples += r == 0;
		}
		if (r == 0)
			progress_step(&progress, (uint64_t)i + 1, NULL);
	}
	return r;
}

int load_session_run(struct load_session *s, struct error *err)
{
	struct load_row row = {s->load.coordination, s->load.cpu_list, s->text, NULL};
	const struct profile *profile = s->options->profile ? &s->profile : NULL;
	struct notes *notes = &s->report.notes;
	struct error *of_end;
	enum run_state state;
	int r, outcome;

	/* the load runs without it, too */
	privilege_raise();
	if (page_wait_meter_new(&s->page_wait_meter, &s->no_page_waits) < 0)
		row.no_page_waits = s->no_page_waits.text;
	privilege_lower();
	r = book_begin_run(s->base.book, &s->run, err);
	if (r == 0)
		r = book_add_rows(s->base.book, s->run.id, &load_table, &row, 1, err);
	if (r == 0)
		r = book_add_rows(s->base.book, s->run.id, &run_program_table, s->work.programs,
			s->work.n_programs, err);
	if (r < 0)
		return r;
	outcome = take_load_samples(s, err);
	of_end = outcome ? NULL : err;
	state = outcome == 0 ? RUN_DONE : outcome == -EINTR ? RUN_INTERRUPTED : RUN_FAILED;
	r = book_end_run(s->base.book, s->run.id, state, s->run.notes, of_end);
	if (r < 0 || s->run.n_samples == 0)
		return outcome ?: r;
	/* Notes on the result, as emp-measure has them; what single programs can be resolved to
	 * says nothing of a load. */
	r = load_report_read(s->base.book, s->run.id, &s->report, of_end);
	if (r == 0)
		run_notes_add(notes, &s->report.result, profile);
	if (r == 0 && profile)
		r = profile_changes_note(
			notes, s->base.book, profile, s->run.environment, NULL, of_end);
	if (r == 0)
		r = other_inc_note(notes, s->base.book, &s->run, profile, of_end);
	if (r >= 0)
		r = book_put_notes(s->base.book, s->run.id, notes->items, notes->n, of_end);
	return outcome ?: r;
}

void load_session_close(struct load_session *s)
{
	load_report_clear(&s->report);
	fields_free(&run_program_table, s->work.programs, s->work.n_programs);
	page_wait_meter_free(s->page_wait_meter);
	run_clear(&s->run);
	profile_clear(&s->profile);
	run_session_close(&s->base);
	load_limits_end(s->limits);
	load_clear(&s->load);
	free(s->text);
}

/* A known slowdown is a process on each CPU that takes a given share of it, in slices of
 * at most a few milliseconds and in real time, so that it gets what it asks for. */

/* Shares of the CPUs: 0, 2, 5 and 10 %. */
static const double slowdowns[N_SLOWDOWNS] = {0, 0.02, 0.05, 0.1};

static const int64_t SLOWDOWN_PERIOD_NS = 10 * NS_PER_MS;

struct slowdown {
	pid_t *pids;
	size_t n;
	int64_t begun_ns;
};

/* The process on one CPU. It catches up with what it did not get. Half of a period's share is taken
 * in advance, so that on average it has what it should. */
static void __attribute__((noreturn))
slow_down(pid_t parent, int cpu, int64_t begun_ns, double share)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "emp-handicap");
	if (getppid() != parent || pinning_pin(cpu) < 0)
		_exit(1);
	for (int64_t next_ns = begun_ns;; next_ns += SLOWDOWN_PERIOD_NS) {
		struct timespec at = {next_ns / NS_PER_S, next_ns % NS_PER_S};
		int64_t until_ns = next_ns + SLOWDOWN_PERIOD_NS / 2 - begun_ns;

		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
		while ((double)clock_ns(CLOCK_PROCESS_CPUTIME_ID) < share * (double)until_ns)
			;
	}
}

/* On each of the CPUs. -EPERM, with a sentence: real time needs root. */
static int slowdown_begin(
	struct slowdown *s, const cpu_set_t *cpus, double share, struct error *err)
{
	static const struct sched_param first = {.sched_priority = 1};
	pid_t parent = getpid();

	s->begun_ns = clock_ns(CLOCK_MONOTONIC);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		pid_t pid;

		if (!CPU_ISSET(cpu, cpus))
			continue;
		pid = fork();
		if (pid < 0)
			return error_os(err, -errno, "cannot start a process on CPU %d", cpu);
		if (pid == 0)
			slow_down(parent, cpu, s->begun_ns, share);
		*array_add(s->pids, s->n) = pid;
		if (sched_setscheduler(pid, SCHED_FIFO, &first) < 0)
			return error_os(err, -errno,
				"cannot run in real time (SCHED_FIFO), which needs root");
	}
	return 0;
}

/* The share that it really took. */
static double slowdown_end(struct slowdown *s)
{
	double available = (double)(clock_ns(CLOCK_MONOTONIC) - s->begun_ns) * (double)s->n,
	       taken = 0;

	for (size_t i = 0; i < s->n; i++) {
		clockid_t used;

		/* its end, which takes time as well, disturbs nothing that is measured */
		if (clock_getcpuclockid(s->pids[i], &used) == 0)
			taken += (double)clock_ns(used);
		kill(s->pids[i], SIGKILL);
		waitpid(s->pids[i], NULL, 0);
	}
	s->n = 0;
	return available > 0 ? taken / available : 0;
}

static void slowdown_clear(struct slowdown *s)
{
	slowdown_end(s);
	free(s->pids);
}

/* The runs under one slowdown. */
struct slowed {
	struct load_work work;
	struct sample *samples;
	size_t n_samples;
	double taken; /* the sum of shares */
};

static int run_slowed(
	const struct load_session *s, double share, struct slowed *ret, struct error *err)
{
	_cleanup_(load_result_clear) struct load_result result = {};
	_cleanup_(slowdown_clear) struct slowdown slowdown = {};
	uint32_t n = (uint32_t)ret->n_samples + 1;
	int r = share > 0 ? slowdown_begin(&slowdown, &s->load.cpus, share, err) : 0;

	if (r == 0)
		r = take_unstopped(s, n, &result, err);
	if (r < 0)
		return r;
	ret->taken += slowdown_end(&slowdown);
	*array_add(ret->samples, ret->n_samples) = (struct sample){
		.n = n, .et_ns = result.raw.exec.et_ns};
	for (size_t k = 0; k < result.n; k++)
		*array_add(ret->work.parts, ret->work.n_parts) = result.parts[k];
	return 0;
}

/* The rates under each slowdown with those under the first, which is none. */
static int compare_slowed(
	const struct slowed *slowed, struct load_verification *ret, struct error *err)
{
	static const struct compare_plan pairs = {.design = DESIGN_PAIRS};
	struct load_rates rates[N_SLOWDOWNS];
	int r = 0;

	for (size_t i = 0; i < N_SLOWDOWNS; i++) {
		rates[i] = load_rates_of(
			&slowed[i].work, NULL, slowed[i].samples, slowed[i].n_samples);
		ret->taken[i] = slowed[i].taken / (double)slowed[i].n_samples;
		if (r == 0)
			r = compare(rates[0].items[0].nano, rates[0].n_runs, rates[i].items[0].nano,
				rates[i].n_runs, &pairs, &ret->compared[i], err);
	}
	for (size_t i = 0; i < N_SLOWDOWNS; i++)
		load_rates_clear(&rates[i]);
	return r;
}

int load_verify(
	struct load_verification *ret, const struct load_session *s, int rounds, struct error *err)
{
	struct load_verification v = {.rounds = rounds};
	struct slowed slowed[N_SLOWDOWNS];
	struct progress progress;
	int total = rounds * N_SLOWDOWNS, r = 0;

	for (size_t i = 0; i < N_SLOWDOWNS; i++)
		slowed[i] = (struct slowed){.work = s->work};
	progress_begin(&progress, s->load.name, (uint64_t)total, s->options->quiet);
	for (int i = 0; r == 0 && i < total; i++) {
		/* each round begins with another one */
		int which = (i + i / N_SLOWDOWNS) % N_SLOWDOWNS;

		r = interrupt_pending() ? -EINTR
					: run_slowed(s, slowdowns[which], &slowed[which], err);
		progress_step(&progress, (uint64_t)i + 1, NULL);
	}
	progress_end(&progress);
	if (r == 0)
		r = compare_slowed(slowed, &v, err);
	for (size_t i = 0; i < N_SLOWDOWNS; i++) {
		free(slowed[i].samples);
		free(slowed[i].work.parts);
	}
	if (r == 0)
		*ret = v;
	return r;
}

/* No slowdown makes a load faster, so that the interval of its loss does not begin below 0. */
void load_verification_print(FILE *file, const struct load_verification *v, const struct load *load)
{
	static const struct column columns[] = {{"TAKEN", COLUMN_NUMBER}, {"LOST", COLUMN_NUMBER},
		{"95 % CI", COLUMN_NUMBER}, {"PAIRS NEEDED", COLUMN_NUMBER}, {}};
	_cleanup_(table_freep) struct table *table = table_new(columns);

	for (size_t i = 1; i < N_SLOWDOWNS; i++) {
		const struct comparison *c = &v->compared[i];
		/* how many pairs of runs tell a difference of that share from none, in four cases
		 * of five */
		double resolved = c->smallest_difference / v->taken[i];
		double low = fmax(0, 1 - c->ratio_high), high = fmax(0, 1 - c->ratio_low);

		table_row(table, TEXT(text_brief("%.2f %%", 100 * v->taken[i])),
			TEXT(text_brief("%.2f %%", 100 * (1 - c->ratio))),
			TEXT(isnan(c->ratio_low)
					? NULL
					: text_brief("%.2f … %.2f %%", 100 * low, 100 * high)),
			REAL("%.0f", isnan(resolved) ? NAN
						     : fmax(2, ceil((double)v->rounds * resolved *
								       resolved))));
	}
	fprintf(file, "%s: %s of %d runs, %s\n", terminal_text(load->name),
		text_count(v->rounds, "round"), N_SLOWDOWNS,
		coordination_names[load->coordination]);
	table_print(table, file);
}
