/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One sample: see observer.h. */
#include "lib/run/observer.h"

#include "lib/host/process/pinning.h"
#include "lib/host/process/privilege.h"

#include <math.h>
#include <sys/resource.h>

int observer_open(struct observer *ret, enum accounting_backend backend, int cpu, struct error *err)
{
	const struct accounting_options options = {.backend = backend, .no_watch = cpu < 0};
	_cleanup_(observer_close) struct observer o = {};
	_cleanup_(freep) char *partition = NULL;
	int r;

	if (backend == ACCOUNTING_NONE) {
		o.accounting_missing = "not requested";
	} else {
		privilege_raise();
		r = accounting_new(&o.accounting, &options, &o.no_accounting);
		privilege_lower();
		if (r < 0 && backend != ACCOUNTING_AUTO) {
			*err = o.no_accounting;
			return r;
		}
		if (r < 0) {
			const struct accounting_support support = accounting_support_read(AT_FDCWD);

			o.accounting_missing = accounting_support_missing(&support);
		}
	}
	partition = cpu >= 0 && partition_has(AT_FDCWD, cpu) ? partition_directory(AT_FDCWD) : NULL;
	cgroup_new(&o.cgroup, partition, &o.no_cgroup);
	o.backend = accounting_backend_names[accounting_state(o.accounting)->backend];
	o.pt_source = o.cgroup ? "cgroup" : "wait4";
	o.wait_source = o.accounting ? o.backend : "schedstat";
	o.counters = counters_open(AT_FDCWD, cpu);
	*ret = TAKE_STRUCT(o);
	return 0;
}

void observer_close(struct observer *observer)
{
	accounting_free(observer->accounting);
	cgroup_free(observer->cgroup);
	counter_reader_free(observer->counters);
	prober_free(observer->prober);
	*observer = (struct observer){};
}

static void note_escape(struct raw_sample *o, const struct process_cpu *u)
{
	o->exec.escaped = true;
	memcpy(o->escaped, u->name, sizeof(o->escaped));
	for (char *c = o->escaped; *c; c++) /* a process chooses its name */
		if (*c < ' ' || *c > '~')
			*c = '?';
}

/* The program's own processes count in its PT only. If some left its cgroup, PT is the sum of all.
 * *ret_same_cpu_ns: what they had of the CPU that it is pinned to; -1: not known. */
static void drop_program(struct raw_sample *o, int64_t *ret_same_cpu_ns)
{
	struct process_cpus *usages = &o->usages;
	int64_t sum_ns = 0, same_cpu_ns = 0;
	bool knows_cpu = true;
	size_t kept = 0;

	for (size_t i = 0; i < usages->n; i++) {
		const struct process_cpu *u = &usages->items[i];

		if (u->escaped)
			note_escape(o, u);
		if (!u->program && !u->escaped) {
			usages->items[kept++] = *u;
			continue;
		}
		sum_ns += u->pt_ns;
		if (u->same_cpu_ns < 0)
			knows_cpu = false;
		same_cpu_ns += u->same_cpu_ns;
		/* a child is on another CPU until it is pinned; this was there for longer */
		if (u->same_cpu_ns >= 0 && u->pt_ns - u->same_cpu_ns > NS_PER_MS + u->pt_ns / 50)
			usages->taken_ns = -1;
	}
	usages->n = kept;
	sum_ns -= o->exec.before_ns;
	if (o->escaped[0] && sum_ns > o->exec.pt_ns)
		o->exec.pt_ns = sum_ns;
	*ret_same_cpu_ns = knows_cpu ? same_cpu_ns : -1;
}

/* The snapshots are wider than ET: the program may wait for its CPU before it starts. Within ET,
 * others had at most `left_ns` of that CPU, the time that the program did not use. The rest of
 * their time was before or after. */
static void limit_to_et(struct process_cpus *usages, int64_t left_ns)
{
	size_t kept = 0;

	for (size_t i = 0; i < usages->n; i++) {
		struct process_cpu u = usages->items[i];

		if (u.same_cpu_ns > left_ns) {
			u.pt_ns -= u.same_cpu_ns - left_ns;
			u.same_cpu_ns = left_ns;
		}
		if (u.pt_ns > 0)
			usages->items[kept++] = u;
	}
	usages->n = kept;
}

/* W, the waiting time within ET. The accounting knows that of all tasks of the program, except
 * tasks that left its cgroup. Several tasks also wait for each other, which does not count; how
 * long they do is not known if they left their CPU. The last task may wait for the CPU once more
 * after its end was seen, so W is at most ET - PT. */
static int64_t find_wait(const struct raw_sample *o)
{
	const struct process_cpus *usages = &o->usages;
	int64_t before_ns = o->exec.wait_before_ns, wait_ns = usages->wait_ns - before_ns;
	int64_t rest_ns = o->exec.et_ns - o->exec.pt_ns;

	if (o->exec.left_behind > 0) /* they went on to wait after ET */
		return -1;
	if (usages->wait_ns < 0 && o->exec.wait_ns >= 0)
		wait_ns = o->exec.wait_ns;
	else if (usages->wait_ns < 0 || before_ns < 0 || o->exec.escaped ||
		 (usages->shared_wait && usages->taken_ns < 0))
		return -1;
	else if (usages->shared_wait && wait_ns > usages->taken_ns)
		wait_ns = usages->taken_ns;
	else if (wait_ns < 0)
		wait_ns = 0;
	if (wait_ns <= rest_ns)
		return wait_ns;
	return rest_ns > 0 ? rest_ns : 0;
}

/* The kernel begins the peak memory of a child with that of its parent, this process. A greater
 * peak is the program's own. */
static void find_peak(struct raw_sample *o)
{
	struct rusage own;

	getrusage(RUSAGE_SELF, &own);
	o->knows_peak = o->exec.max_rss_bytes > own.ru_maxrss * 1024 || o->usages.peak_bytes > 0;
	if (o->exec.max_rss_bytes <= own.ru_maxrss * 1024 && o->usages.peak_bytes > 0)
		o->exec.max_rss_bytes = o->usages.peak_bytes;
}

/* A task that a quota holds back is ready to run, so W contains that time, and loses it here. The
 * accounting with BPF knows it exactly. Control groups count it for all their processes and CPUs:
 * then it is at most the part of ET in which the program did not run. */
static void set_held_back(struct raw_sample *o, int cpu)
{
	int64_t exact_ns = o->usages.throttled_ns, quota_ns, memory_ns = o->held.by[HOLD_MEMORY].ns,
		rest_ns;
	int64_t et_ns = o->exec.et_ns, frozen_ns = o->held.by[HOLD_FREEZER].ns;

	quota_ns = exact_ns >= 0 ? exact_ns : o->held.by[HOLD_QUOTA].ns;
	rest_ns = et_ns > o->exec.pt_ns ? et_ns - o->exec.pt_ns : 0;
	if (exact_ns < 0 && o->wait_ns >= 0 && quota_ns > o->wait_ns)
		quota_ns = o->wait_ns;
	else if (exact_ns < 0 && cpu >= 0 && quota_ns > rest_ns)
		quota_ns = rest_ns;
	if (o->wait_ns >= 0)
		o->wait_ns -= quota_ns < o->wait_ns ? quota_ns : o->wait_ns;
	frozen_ns = frozen_ns < et_ns ? frozen_ns : et_ns;
	rest_ns -= quota_ns + frozen_ns + (o->wait_ns > 0 ? o->wait_ns : 0);
	if (memory_ns > rest_ns)
		memory_ns = rest_ns > 0 ? rest_ns : 0;
	o->held_back_ns = quota_ns + frozen_ns + memory_ns;
	if (quota_ns == 0)
		o->held.by[HOLD_QUOTA].of = NULL;
	else if (!o->held.by[HOLD_QUOTA].of)
		o->held.by[HOLD_QUOTA].of = HOLD_NOT_VISIBLE;
}

/* Context switches are those of the program itself. */
static void set_switches(struct raw_sample *o)
{
	o->changes.value[COUNTER_VOLUNTARY] = o->exec.voluntary_switches;
	o->changes.value[COUNTER_INVOLUNTARY] = o->exec.involuntary_switches;
}

int observe_begin(const struct command_spec *spec, struct counter_reader *counters,
	struct raw_sample *ret, struct error *err)
{
	int r = 0;

	*ret = (struct raw_sample){.usages = PROCESS_CPUS_NONE,
		.observer_ns = -clock_ns(CLOCK_PROCESS_CPUTIME_ID),
		.probed = PROBED_NOTHING};
	exec_result_clear(&ret->exec);
	if (spec->prober)
		prober_begin(spec->prober);
	counters_begin(counters);
	if (spec->accounting) {
		privilege_raise();
		r = accounting_before(
			spec->accounting, spec->cgroup ? spec->cgroup->id : 0, spec->cpu, err);
		privilege_lower();
	}
	return r;
}

/* The second snapshot. */
static int end_accounting(const struct command_spec *spec, struct counter_reader *counters,
	struct raw_sample *o, struct error *err)
{
	int r = 0;

	if (spec->prober)
		prober_stop(spec->prober);
	o->held = holdback_end(counters_holdback(counters));
	if (spec->accounting) {
		privilege_raise();
		r = accounting_after(spec->accounting, &o->usages, err);
		privilege_lower();
	}
	return r;
}

/* How long probes kept the program from running: it was as often ready to run in their time as in
 * the rest, in which it may have slept. W (-1: not known) has the time that they took from it. */
static int64_t probes_delay(const struct raw_sample *o, int64_t waited_ns)
{
	double probe_ns = (double)o->probed.probe_ns, ready_ns = (double)o->exec.pt_ns;
	double of_ns = (double)o->exec.et_ns - probe_ns;

	if (waited_ns >= 0) {
		ready_ns += (double)waited_ns;
		of_ns += probe_ns;
	}
	if (probe_ns <= 0 || of_ns <= 0)
		return 0;
	probe_ns *= fmin(1, ready_ns / of_ns);
	return waited_ns >= 0 && probe_ns > (double)waited_ns ? waited_ns : llround(probe_ns);
}

/* What delayed the program is in none of its times. */
static void take_probes_out(struct raw_sample *o)
{
	int64_t delay_ns = probes_delay(o, o->wait_ns);
	int64_t *pressure_ns = &o->changes.value[COUNTER_CPU_PRESSURE];

	o->exec.et_ns -= delay_ns;
	if (o->wait_ns >= 0)
		o->wait_ns -= delay_ns;
	if (counters_know(&o->changes, COUNTER_CPU_PRESSURE))
		*pressure_ns -= delay_ns < *pressure_ns ? delay_ns : *pressure_ns;
}

/* Judges the observation after the second snapshot. The counters are read outside the snapshots, so
 * that reading them is not part of the sample. */
static int conclude_observation(
	const struct command_spec *spec, struct counter_reader *counters, struct raw_sample *o)
{
	int64_t same_cpu_ns = -1, left_ns;

	if (spec->accounting)
		drop_program(o, &same_cpu_ns);
	left_ns = o->exec.et_ns + o->exec.before_ns - same_cpu_ns;
	/* processes that were left behind may have had the CPU after ET */
	if (same_cpu_ns >= 0 && o->exec.et_ns > 0 && !o->exec.left_behind)
		limit_to_et(&o->usages, left_ns > 0 ? left_ns : 0);
	o->wait_ns = find_wait(o);
	set_held_back(o, spec->cpu);
	o->changes = counters_end(counters);
	set_switches(o);
	if (o->usages.interrupts_ns >= 0)
		o->changes.value[COUNTER_INTERRUPTS] = o->usages.interrupts_ns;
	if (o->usages.steal_ns >= 0) /* of this sample alone */
		o->changes.value[COUNTER_STEAL] = o->usages.steal_ns;
	if (spec->prober)
		o->probed = prober_end(spec->prober);
	o->observer_ns += clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	return o->exec.end == PROGRAM_INTERRUPTED ? -EINTR : 0;
}

int observe_end(const struct command_spec *spec, struct counter_reader *counters,
	struct raw_sample *o, struct error *err)
{
	int r = end_accounting(spec, counters, o, err);

	return r < 0 ? r : conclude_observation(spec, counters, o);
}

int observe_sample(const struct command_spec *spec, struct counter_reader *counters,
	struct raw_sample *ret, struct error *err)
{
	int r = observe_begin(spec, counters, ret, err);

	if (r == 0)
		r = program_run(spec, &ret->exec, err);
	if (r == 0)
		r = observe_end(spec, counters, ret, err);
	if (r == 0) {
		take_probes_out(ret);
		find_peak(ret);
	}
	return r;
}

/* The CPU time of the processes of one program that alternates, in all its repetitions. */
struct part_usage {
	int64_t pt_ns; /* 0: not known */
	struct accounting_part cpu;
};

/* Also notes which of them left its cgroup. */
static struct part_usage part_usage_of(
	const struct process_cpus *all, const struct command_spec *spec, struct raw_sample *part)
{
	struct part_usage usage = {0, accounting_part_of(spec->accounting, spec->number)};

	for (size_t i = 0; i < all->n; i++) {
		const struct process_cpu *u = &all->items[i];

		if (u->number != (int)spec->number || (!u->program && !u->escaped))
			continue;
		usage.pt_ns += u->pt_ns;
		if (u->escaped)
			note_escape(part, u);
	}
	return usage;
}

static void scale_counter(struct counters *c, enum counter which, double by)
{
	if (counters_know(c, which))
		c->value[which] = llround((double)c->value[which] * by);
}

/* The sample of one program that alternates, from that of all of them. Times and counts are means
 * of its repetitions; turns are those of all complete ones. */
static void conclude_part(struct raw_sample *part, const struct raw_sample *all,
	const struct part_usage *usage, const struct alternation_plan *plan)
{
	int64_t span_ns = all->exec.et_ns; /* from the first start to the last end */
	int64_t off_ns = span_ns - all->exec.pt_ns, taken_ns = all->usages.taken_ns;
	double of_span = span_ns > 0 ? fmin(1, (double)part->exec.et_ns / (double)span_ns) : 1;
	int n = part->part.repetitions;
	int64_t whole_ns = n > 0 ? usage->pt_ns / n - part->exec.before_ns : 0;

	/* If some of it left its cgroup, PT is the sum of all of its processes. */
	if (*part->escaped && !part->part.cut_short && whole_ns > part->exec.pt_ns)
		part->exec.pt_ns = whole_ns;
	set_switches(part);
	scale_counter(&part->changes, COUNTER_STEAL, of_span);
	if (plan->slicing == SLICING_SCHEDULER) /* the others have waited for their turns */
		part->changes.value[COUNTER_CPU_PRESSURE] = INT64_MIN;
	else
		scale_counter(&part->changes, COUNTER_CPU_PRESSURE, of_span);
	part->part.turns = usage->cpu.turns;
	if (part->part.cut_short && part->part.turns > 0 && usage->pt_ns > 0) {
		double complete = (double)part->exec.pt_ns * n / (double)usage->pt_ns;

		part->part.turns = llround((double)part->part.turns * fmin(1, complete));
	}
	part->changes.value[COUNTER_INTERRUPTS] = usage->cpu.interrupts_ns < 0
							  ? INT64_MIN
							  : usage->cpu.interrupts_ns;
	if ((n > 1 || part->part.cut_short) && usage->pt_ns > 0)
		scale_counter(&part->changes, COUNTER_INTERRUPTS,
			fmin(1, (double)part->exec.pt_ns / (double)usage->pt_ns));
	/* W of one program: its share of the time that other processes took from all programs, as
	 * if they had taken as much all the time. It is not known if programs were cut short, or
	 * escaped and count as other processes. */
	part->wait_ns = -1;
	part->exec.et_ns -= (int64_t)((double)probes_delay(all, taken_ns) * of_span);
	part->held_back_ns = (int64_t)((double)all->held_back_ns * of_span);
	if (plan->repeat || span_ns <= 0 || taken_ns < 0)
		return;
	taken_ns -= probes_delay(all, taken_ns);
	if (all->usages.throttled_ns > 0)
		taken_ns -= taken_ns < all->usages.throttled_ns ? taken_ns
								: all->usages.throttled_ns;
	if (taken_ns > off_ns)
		taken_ns = off_ns > 0 ? off_ns : 0;
	part->wait_ns = (int64_t)((double)taken_ns * of_span);
}

/* The programs, from the first start to the last end, which is the ET of `all`. Their totals go
 * into all->exec, as if none had waited: W of a part comes from what other processes took. */
static int run_together(const struct alternation_plan *plan,
	const struct command_spec *const *specs, size_t n, struct alternation_result *results,
	struct raw_sample *all, struct error *err)
{
	struct exec_result *total = &all->exec;
	int64_t begin_ns = clock_ns(CLOCK_MONOTONIC);
	int r = alternation_run(plan, specs, n, results, err);

	total->et_ns = clock_ns(CLOCK_MONOTONIC) - begin_ns;
	total->wait_before_ns = total->wait_ns = 0;
	for (size_t i = 0; r == 0 && i < n; i++) {
		const struct exec_result *exec = &results[i].exec;

		total->pt_ns += exec->pt_ns * results[i].part.repetitions;
		if (exec->end != PROGRAM_ENDED)
			total->end = exec->end;
	}
	return r;
}

int observe_together(const struct alternation_plan *plan, const struct command_spec *all,
	const struct command_spec *const *specs, size_t n, struct counter_reader *counters,
	struct raw_sample *ret, struct error *err)
{
	_cleanup_(freep) struct alternation_result *results = xcalloc(n, sizeof(*results));
	_cleanup_(freep) struct part_usage *usages = xcalloc(n, sizeof(*usages));
	struct raw_sample o;
	bool escaped = false, escapes;
	int r = observe_begin(all, counters, &o, err);

	if (r == 0)
		r = run_together(plan, specs, n, results, &o, err);
	if (r == 0)
		r = end_accounting(all, counters, &o, err);
	for (size_t i = 0; r == 0 && i < n; i++) {
		ret[i] = (struct raw_sample){.exec = results[i].exec, .part = results[i].part};
		usages[i] = part_usage_of(&o.usages, specs[i], &ret[i]);
		escaped |= ret[i].exec.escaped;
	}

	if (r == 0)
		r = conclude_observation(all, counters, &o);
	escapes = escaped || o.exec.escaped;
	if (escapes)
		o.usages.taken_ns = -1;
	for (size_t i = 0; r == 0 && i < n; i++) {
		if (escapes) /* those after one that escaped are missing */
			usages[i].cpu.turns = -1;
		ret[i].usages = o.usages;
		ret[i].usages.peak_bytes = -1; /* of one of them */
		find_peak(&ret[i]);
		ret[i].changes = o.changes;
		ret[i].held = o.held;
		ret[i].probed = o.probed;
		/* what observing took, by equal shares */
		ret[i].observer_ns = o.observer_ns / (int64_t)n;
		ret[i].probed.probe_ns /= (int64_t)n;
		/* a process that escaped without a tag may be of any of them */
		ret[i].exec.escaped |= o.exec.escaped && !escaped;
		conclude_part(&ret[i], &o, &usages[i], plan);
	}
	return r;
}
