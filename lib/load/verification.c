/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Known slowdowns: see verification.h. A slowdown is a process on each CPU that takes a given share
 * of it, in slices of at most a few milliseconds and in real time, so that it gets what it asks
 * for. */
#include "lib/load/verification.h"

#include "lib/base/table.h"
#include "lib/base/terminal.h"
#include "lib/host/process/pinning.h"
#include "lib/host/process/signals.h"

#include <math.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

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
		r = load_run_unstopped(s, n, &result, err);
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

/* Takes all rounds; each begins with another slowdown. */
static int run_rounds(
	const struct load_session *s, int rounds, struct slowed *slowed, struct error *err)
{
	_cleanup_(progress_end) struct progress progress;
	int total = rounds * N_SLOWDOWNS, r = 0;

	progress_begin(&progress, s->load.name, (uint64_t)total, s->options->quiet);
	for (int i = 0; r == 0 && i < total; i++) {
		int which = (i + i / N_SLOWDOWNS) % N_SLOWDOWNS;

		r = interrupt_pending() ? -EINTR
					: run_slowed(s, slowdowns[which], &slowed[which], err);
		progress_step(&progress, (uint64_t)i + 1, NULL);
	}
	return r;
}

int load_verify(
	struct load_verification *ret, const struct load_session *s, int rounds, struct error *err)
{
	struct load_verification v = {.rounds = rounds};
	struct slowed slowed[N_SLOWDOWNS];
	int r;

	for (size_t i = 0; i < N_SLOWDOWNS; i++)
		slowed[i] = (struct slowed){.work = s->work};
	r = run_rounds(s, rounds, slowed, err);
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

/* "0.00 … 1.23 %". No slowdown makes a load faster, so that the interval of its loss does not begin
 * below 0. NULL: not known. */
static const char *loss_interval_text(const struct comparison *c)
{
	double low = fmax(0, 1 - c->ratio_high), high = fmax(0, 1 - c->ratio_low);

	if (isnan(c->ratio_low))
		return NULL;
	return text_brief("%.2f … %.2f %%", 100 * low, 100 * high);
}

/* How many pairs of runs tell a difference of that share from none, in four cases of five. NAN: not
 * known. */
static double pairs_needed(const struct comparison *c, double share, int rounds)
{
	double resolved = c->smallest_difference / share;

	if (isnan(resolved))
		return NAN;
	return fmax(2, ceil((double)rounds * resolved * resolved));
}

void load_verification_print(FILE *file, const struct load_verification *v, const struct load *load)
{
	static const struct column columns[] = {{"TAKEN", COLUMN_NUMBER}, {"LOST", COLUMN_NUMBER},
		{"95 % CI", COLUMN_NUMBER}, {"PAIRS NEEDED", COLUMN_NUMBER}, {}};
	_cleanup_(table_freep) struct table *table = table_new(columns);

	for (size_t i = 1; i < N_SLOWDOWNS; i++) {
		const struct comparison *c = &v->compared[i];

		table_row(table, columns, TEXT(text_brief("%.2f %%", 100 * v->taken[i])),
			TEXT(text_brief("%.2f %%", 100 * (1 - c->ratio))),
			TEXT(loss_interval_text(c)),
			REAL("%.0f", pairs_needed(c, v->taken[i], v->rounds)));
	}
	fprintf(file, "%s: %s of %d runs, %s\n", terminal_text(load->name),
		text_count(v->rounds, "round"), N_SLOWDOWNS,
		coordination_names[load->coordination]);
	table_print(table, file);
}
