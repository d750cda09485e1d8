/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All runs of a load: see session.h. */
#include "lib/load/session.h"

#include "lib/base/number.h"
#include "lib/base/paths.h"
#include "lib/base/table.h"
#include "lib/base/terminal.h"
#include "lib/base/text.h"
#include "lib/base/xalloc.h"
#include "lib/book/book.h"
#include "lib/host/process/pinning.h"
#include "lib/host/process/privilege.h"
#include "lib/host/process/signals.h"
#include "lib/host/system/lock.h"
#include "lib/protocol/names.h"
#include "lib/report/notes.h"
#include "lib/report/screen.h"
#include "lib/run/sampling.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

int load_read(struct load *ret, char **ret_text, const char *path, struct error *err)
{
	_cleanup_(freep) char *text = NULL;
	int r = text_read_file(AT_FDCWD, path, &text);

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

int load_session_open(
	struct load_session *ret, const struct load_options *options, const char *path, struct error *err)
{
	_cleanup_(load_session_close) struct load_session s = {.options = options};
	_cleanup_(freep) char *digest = NULL;
	int64_t environment;
	int r = load_read(&s.load, &s.text, path, err);
	_cleanup_(freep) char *book_path = NULL;
	struct error err2;

	if (r < 0)
		return r;
	if (options->coordination >= 0)
		s.load.coordination = (enum coordination)options->coordination;
	s.load.runs = options->runs ?: s.load.runs;
	if (setenv("EMP_LOAD_FILE_DIR", s.load.file_directory, 1) < 0)
		xalloc_fail();
	r = paths_book(s.options->db, &book_path, err);
	if (r == 0 && !s.options->ignore_lock && lock_look(book_path, &err2) < 0) {
		r = error_say(err, -EBUSY, "%s, or measure anyway with --ignore-lock", err2.text);
	} else {
		leftovers_remove();
		if (r == 0)
			r = book_open(&s.book, book_path, BOOK_MEASURE, err);
		if (r >= 0) {
			patience_begin(s.book);
			r = s.options->profile ? book_get_profile(s.book, s.options->profile, &s.profile, err)
					       : 0;
		}
	}
	if (r == 0)
		r = environment_take(s.book, &environment, &digest, err);
	if (r == 0)
		r = observer_open(&s.observer, options->backend, -1, err);
	if (r == 0)
		r = load_limits_begin(&s.limits, &s.load, err);
	if (r == 0) {
		size_t n = load_slaves(&s.load);

		s.run = (struct run){
			.kind = RUN_LOAD,
			.program = text_utf8(s.load.name),
			.backend = xstrdup(s.observer.backend),
			.pt_source = xstrdup("cgroup"),
			.profile = text_copy(s.options->profile),
			.notes = xstrdup(coordination_names[s.load.coordination]),
			.resolution_ns = 1,
			.environment = environment,
			.cpu = -1,
		};
		s.programs = xcalloc(n, sizeof(*s.programs));
		for (size_t k = 0; k < n; k++)
			s.programs[k] = (struct run_program){
				.n = (uint32_t)k + 1, .name = xstrdup(load_script_of(&s.load, k)->name)};
		r = names_text(&s.run.name_patterns, err);
	}
	if (r < 0)
		return r;
	*ret = TAKE_STRUCT(s);
	return 0;
}

/* For load_run_once(). */
static struct load_plan load_session_plan(struct load_session *s)
{
	return (struct load_plan){
		.load = &s->load,
		.text = s->text,
		.observer = &s->observer,
		.limits = s->limits,
		.page_waits = s->page_wait_meter,
		.show_output = s->options->show_output,
	};
}

/* One run of the load, and its rows in one transaction. */
static int take_load_sample(struct load_session *s, bool warm_up, struct error *err)
{
	const struct load_plan plan = load_session_plan(s);
	_cleanup_(load_result_clear) struct load_result result = {};
	int r = load_run_once(&plan, s->run.n_samples + 1, &result, err);

	if (r < 0 || warm_up)
		return r;
	do {
		r = book_begin(s->book, err);
		if (r == 0) {
			r = sample_store_rows(
				s->book, s->run.id, result.start.sample, &result.observation, err);
			if (r == 0)
				r = book_add_rows(s->book, s->run.id, &sample_program_table, result.parts,
					result.n, err);
			if (r == 0)
				r = book_add_page_waits(s->book, s->run.id, &result.page_waits, err);
			if (r == 0)
				r = book_add_rows(
					s->book, s->run.id, &load_sample_table, &result.start, 1, err);
			r = r == 0 ? book_commit(s->book, err) : r;
		}
		if (r < 0)
			book_rollback(s->book);
	} while (book_again(s->book, r, err));
	s->run.n_samples += r == 0;
	return r;
}

int load_session_run(struct load_session *s, struct error *err)
{
	struct progress progress;
	struct error err2 = {};
	int total = s->options->warm_ups + s->load.runs, r, outcome;

	/* the load runs without it, too */
	privilege_raise();
	page_wait_meter_new(&s->page_wait_meter, &s->no_page_waits);
	privilege_lower();

	const struct load_row row = {s->load.coordination, s->load.cpu_list, s->text,
		s->page_wait_meter ? NULL : s->no_page_waits.text};

	r = book_begin_run(s->book, &s->run, err);
	if (r == 0)
		r = book_add_rows(s->book, s->run.id, &load_table, &row, 1, err);
	if (r == 0)
		r = book_add_rows(
			s->book, s->run.id, &run_program_table, s->programs, load_slaves(&s->load), err);
	if (r < 0)
		return r;
	progress_begin(&progress, s->load.name, (uint64_t)total, s->options->quiet);
	outcome = 0;
	for (int i = 0; outcome == 0 && i < total; i++) {
		outcome = interrupt_pending() ? -EINTR : take_load_sample(s, i < s->options->warm_ups, err);
		if (outcome == 0)
			progress_step(&progress, (uint64_t)i + 1, NULL);
	}
	progress_end(&progress);
	r = book_end_run(s->book, s->run.id,
		outcome == 0        ? RUN_DONE
		: outcome == -EINTR ? RUN_INTERRUPTED
				    : RUN_FAILED,
		s->run.notes, outcome ? &err2 : err);
	if (r == 0 && s->run.n_samples > 0)
		r = load_report_read(s->book, s->run.id, &s->report, outcome ? &err2 : err);
	if (r == 0 && s->run.n_samples > 0) {
		/* The notes on the result, as emp-measure stores them; what single programs can be resolved to says
		 * nothing of a load. */
		const struct profile *profile = s->options->profile ? &s->profile : NULL;
		struct notes *notes = &s->report.notes;

		run_notes_add(notes, &s->report.result, profile);
		if (profile)
			r = profile_changes_note(
				notes, s->book, profile, s->run.environment, NULL, outcome ? &err2 : err);
		if (r >= 0)
			r = book_put_notes(s->book, s->run.id, notes->items, notes->n, outcome ? &err2 : err);
	}
	return outcome ?: r;
}

void load_session_close(struct load_session *s)
{
	load_report_clear(&s->report);
	fields_free(&run_program_table, s->programs, s->programs ? load_slaves(&s->load) : 0);
	page_wait_meter_free(s->page_wait_meter);
	run_clear(&s->run);
	profile_clear(&s->profile);
	observer_close(&s->observer);
	load_limits_end(s->limits);
	book_free(s->book);
	load_clear(&s->load);
	free(s->text);
	*s = (struct load_session){};
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

/* On each of the CPUs. -EPERM, with a sentence: real time needs root. */
static int slowdown_begin(struct slowdown *s, const cpu_set_t *cpus, double share, struct error *err)
{
	static const struct sched_param first = {.sched_priority = 1};
	struct real_time real_time;
	pid_t parent = getpid();
	int r = real_time_begin(&real_time);

	real_time_end(&real_time);
	if (r < 0)
		return error_os(err, r, "cannot run in real time (SCHED_FIFO), which needs root");
	s->begun_ns = clock_ns(CLOCK_MONOTONIC);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		pid_t pid;

		if (!CPU_ISSET(cpu, cpus))
			continue;
		pid = fork();
		if (pid < 0)
			return error_os(err, -errno, "cannot start a process on CPU %d", cpu);
		if (pid == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			prctl(PR_SET_NAME, "emp-handicap");
			if (getppid() != parent || pinning_pin(cpu) < 0 ||
				sched_setscheduler(0, SCHED_FIFO, &first) < 0)
				_exit(1);
			/* Catches up with what it did not get. Half of a period's share is taken in advance, so
			 * that on average it has what it should. */
			for (int64_t next_ns = s->begun_ns;; next_ns += SLOWDOWN_PERIOD_NS) {
				struct timespec at = {next_ns / NS_PER_S, next_ns % NS_PER_S};
				int64_t until_ns = next_ns + SLOWDOWN_PERIOD_NS / 2 - s->begun_ns;

				clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
				while ((double)clock_ns(CLOCK_PROCESS_CPUTIME_ID) < share * (double)until_ns)
					;
			}
		}
		*array_add(s->pids, s->n) = pid;
	}
	return 0;
}

/* The share that it really took. */
static double slowdown_end(struct slowdown *s)
{
	double available = (double)(clock_ns(CLOCK_MONOTONIC) - s->begun_ns) * (double)s->n, taken = 0;

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
	struct sample *samples;
	struct sample_program *parts;
	size_t n_samples, n_parts;
	double taken; /* the sum of shares */
};

static int run_slowed(struct slowed *slowed, struct load_session *s, double share, struct error *err)
{
	const struct load_plan plan = load_session_plan(s);
	_cleanup_(load_result_clear) struct load_result result = {};
	_cleanup_(slowdown_clear) struct slowdown slowdown = {};
	uint32_t n = (uint32_t)slowed->n_samples + 1;
	cpu_set_t cpus;
	int r = load_allowed_cpus(&s->load, &cpus, err);

	if (r == 0 && share > 0)
		r = slowdown_begin(&slowdown, &cpus, share, err);
	if (r == 0)
		r = load_run_once(&plan, n, &result, err);
	if (r < 0)
		return r;
	slowed->taken += slowdown_end(&slowdown);
	*array_add(slowed->samples, slowed->n_samples) = (struct sample){
		.n = n, .et_ns = result.observation.spawned.et_ns};
	for (size_t k = 0; k < result.n; k++)
		*array_add(slowed->parts, slowed->n_parts) = result.parts[k];
	return 0;
}

int load_verify(struct load_verification *ret, struct load_session *session, int rounds, struct error *err)
{
	_cleanup_(load_verification_clear) struct load_verification v = {.rounds = rounds};
	struct slowed slowed[N_SLOWDOWNS] = {};
	struct progress progress;
	uint64_t done = 0;
	int r = 0;

	progress_begin(
		&progress, session->load.name, (uint64_t)rounds * N_SLOWDOWNS, session->options->quiet);
	for (int round = 0; r == 0 && round < rounds; round++)
		for (size_t i = 0; r == 0 && i < N_SLOWDOWNS; i++) {
			/* each round begins with another one */
			size_t which = (i + (size_t)round) % N_SLOWDOWNS;

			r = interrupt_pending() ? -EINTR
						: run_slowed(&slowed[which], session, slowdowns[which], err);
			progress_step(&progress, ++done, NULL);
		}
	progress_end(&progress);
	for (size_t i = 0; i < N_SLOWDOWNS; i++) {
		if (r == 0) {
			static const struct compare_plan pairs = {.design = DESIGN_PAIRS};
			const struct load_rate *rate, *free_rate;
			const struct load_work work = {session->load.coordination, session->programs,
				load_slaves(&session->load), slowed[i].parts, slowed[i].n_parts,
				session->text, NULL};

			v.rates[i] = load_rates_of(&work, slowed[i].samples, slowed[i].n_samples);
			v.taken[i] = slowed[i].taken / (double)slowed[i].n_samples;
			rate = &v.rates[i].items[0];
			free_rate = &v.rates[0].items[0];
			r = compare(free_rate->nano, free_rate->summary.n, rate->nano, rate->summary.n,
				&pairs, &v.compared[i], err);
		}
		free(slowed[i].samples);
		free(slowed[i].parts);
	}
	if (r < 0)
		return r;
	*ret = TAKE_STRUCT(v);
	return 0;
}

void load_verification_clear(struct load_verification *v)
{
	for (size_t i = 0; i < N_SLOWDOWNS; i++)
		load_rates_clear(&v->rates[i]);
	*v = (struct load_verification){};
}

/* No slowdown makes a load faster, so that the interval of its loss does not begin below 0. */
void load_verification_print(FILE *file, const struct load_verification *v, const struct load *load)
{
	static const struct column columns[] = {{"TAKEN", COLUMN_NUMBER}, {"LOST", COLUMN_NUMBER},
		{"95 % CI", COLUMN_NUMBER}, {"PAIRS NEEDED", COLUMN_NUMBER}, {}};
	_cleanup_(table_freep) struct table *table = table_new(columns);

	for (size_t i = 1; i < N_SLOWDOWNS; i++) {
		const struct comparison *c = &v->compared[i];
		/* how many pairs of runs tell a difference of that share from none, in four cases of five */
		double resolved = c->smallest_difference / v->taken[i];

		table_row(table);
		table_cell(table, "%.2f %%", 100 * v->taken[i]);
		table_cell(table, "%.2f %%", 100 * (1 - c->ratio));
		if (isnan(c->ratio_low))
			table_cell_text(table, "-");
		else
			table_cell(table, "%.2f … %.2f %%", 100 * fmax(0, 1 - c->ratio_high),
				100 * fmax(0, 1 - c->ratio_low));
		if (isnan(resolved))
			table_cell_text(table, "-");
		else
			table_cell(table, "%.0f", fmax(2, ceil((double)v->rounds * resolved * resolved)));
	}
	fprintf(file, "%s: %d round%s of %d runs, %s\n", terminal_text(load->name), v->rounds,
		v->rounds == 1 ? "" : "s", N_SLOWDOWNS, coordination_names[load->coordination]);
	table_print(table, file);
}
