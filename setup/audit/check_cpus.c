/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The checks of what shares the CPU that programs are timed on, and how it idles: the other
 * thread of its core, interrupts, control groups, work of the kernel. See checks.h. */
#include "setup/audit/checks.h"

#include "lib/host/cpu/cpus.h"
#include "lib/host/process/cgroup.h"

#include <math.h>

/* Of a second: less than this is not worth a word. */
#define NEIGHBOUR_SEEN 0.005

#define NO_CPU "no CPU is set apart for timing; --cpu names one"

DECIDER(check_cpus_latency)
{
	/* polling is one of them */
	size_t n = paths_count(f->root_fd, SYS_CPU "cpu0/cpuidle/state*");

	if (n > 1)
		finding_set(ret, CHECK_OFF, "CPU 0 has %zu idle states", n);
	else
		finding_set_absent(ret, f, "the kernel has no idle states to choose from");
}

/* "each core runs two threads", or how many do; the caller frees it. */
static char *threads_text(const struct facts *f)
{
	_cleanup_(freep) int *cpus = NULL;
	size_t n_cpus = 0, cores = 0, shared = 0, most = 0;

	if (f->online)
		text_parse_cpu_list(f->online, &cpus, &n_cpus);
	for (size_t i = 0; i < n_cpus; i++) {
		_cleanup_(freep) int *threads = NULL;
		size_t n;

		cpu_core_threads(f->root_fd, cpus[i], &threads, &n);
		if (n == 0)
			return xstrdup("each core runs two threads or more");
		if (threads[0] != cpus[i]) /* counted by its first thread */
			continue;
		cores++;
		shared += n > 1;
		most = n > most ? n : most;
	}
	if (cores == 0 || most < 2)
		return xstrdup("each core runs two threads or more");
	if (shared < cores)
		return text_format("%zu of %zu cores run %zu threads", shared, cores, most);
	return text_format("each core runs %zu threads", most);
}

DECIDER(check_cpus_smt)
{
	/* "on", "off", "notsupported"…, or how many threads a core runs */
	_cleanup_(freep) char *smt = path_text(f->root_fd, SYS_CPU "smt/control"),
			      *threads = threads_text(f);
	bool alone = f->cpu >= 0; /* nothing runs on the other threads of its core */

	for (size_t i = 0; i < f->n_threads; i++)
		alone = alone &&
			(f->threads[i] == f->cpu || !cpu_list_has(f->online, f->threads[i]) ||
				cpu_list_has(f->isolated, f->threads[i]));
	if (!smt)
		finding_set(ret, CHECK_ABSENT, "the kernel has no SMT switch");
	else if (text_has_word("off forceoff notsupported", smt))
		finding_set(
			ret, CHECK_OK, "%s", !strcmp(smt, "notsupported") ? "not supported" : smt);
	else if (path_int(f->root_fd, SYS_CPU "smt/active") == 0)
		finding_set(ret, CHECK_OK, "no core runs two threads");
	else if (alone)
		finding_set(ret, CHECK_OK, "on; CPU %d has its core for itself", f->cpu);
	else
		finding_set(ret, CHECK_OFF, "on: %s", threads);
}

/* "45 % of the last second on CPU 1; CPU 5 of the same core was busy for 40 %": of the CPU with the
 * most; the caller frees it. */
static char *seen_neighbour_text(const struct facts *f, const struct cpu_neighbour *most)
{
	char *text;

	if (!(most->share >= NEIGHBOUR_SEEN))
		text = text_format("none in the last second on %s",
			f->n_neighbours == 1 ? text_brief("CPU %d", most->cpu)
					     : text_count((int64_t)f->n_neighbours, "CPU"));
	else
		text = text_format("%s of the last second on CPU %d%s", text_percent(most->share),
			most->cpu,
			f->n_neighbours == 1 ? ""
					     : text_brief(", the most of %zu", f->n_neighbours));
	if (most->sibling >= 0 && !isnan(most->busy))
		text_append(&text, "; ", "CPU %d of the same core was busy for %s", most->sibling,
			text_percent(most->busy));
	else if (most->share >= NEIGHBOUR_SEEN && f->machine.virtual)
		text_append(&text, "; ", "the host shares this core");
	return text;
}

/* What was there in one second need not be there in the next: nothing is wrong with a machine of
 * which only its host decides. */
DECIDER(check_cpus_neighbour)
{
	const struct cpu_neighbour *most = NULL;
	_cleanup_(freep) char *text = NULL;
	bool visible = false;

	for (size_t i = 0; i < f->n_neighbours; i++) {
		const struct cpu_neighbour *n = &f->neighbours[i];

		visible |= n->sibling >= 0;
		if (!isnan(n->share) && (!most || n->share > most->share))
			most = n;
	}
	if (most)
		text = seen_neighbour_text(f, most);
	if (!most && f->n_neighbours > 0)
		finding_set(ret, CHECK_UNKNOWN, "cannot be seen on CPU %d", f->neighbours[0].cpu);
	else if (!most && f->root_fd != AT_FDCWD)
		finding_set(ret, CHECK_ABSENT, "only the running machine shows it");
	else if (!most && f->machine.virtual)
		finding_set(ret, CHECK_BY_HOST, "the host decides who shares its cores; -v looks");
	else if (!most)
		finding_set(ret, CHECK_ABSENT, "not looked for; -v looks");
	else if (f->machine.virtual && !visible)
		finding_set(ret, CHECK_BY_HOST, "%s", text);
	else if (most->share < NEIGHBOUR_SEEN)
		finding_set(ret, CHECK_OK, "%s", text);
	else if (visible)
		finding_set(ret, CHECK_OFF, "%s", text);
	else
		finding_set(ret, CHECK_UNKNOWN,
			"%s, or something like it: this machine sees no other thread of the core",
			text);
}

DECIDER(check_cpus_type)
{
	_cleanup_(freep) char *types = core_types_text(&f->cores);
	const struct core_type *type = core_types_of(&f->cores, f->cpu);

	if (f->cores.n == 0)
		finding_set(ret, CHECK_OK, "all cores are alike");
	else if (type)
		finding_set(ret, CHECK_OK, "CPU %d is of type %s: %s", f->cpu, type->name, types);
	else
		finding_set(ret, CHECK_OFF, "%s; no CPU is chosen", types);
}

DECIDER(check_cpus_quota)
{
	_cleanup_(cgroup_limits_clear) struct cgroup_limits l = {};

	if (cgroup_limits_read(&l, f->root_fd) < 0)
		finding_set(ret, CHECK_ABSENT, "no cpu controller of control groups");
	else if (l.quota_of)
		finding_set(ret, CHECK_OFF, "%s of one CPU: %s", text_percent(l.quota), l.quota_of);
	else
		finding_set(ret, CHECK_OK, "no quota");
}

DECIDER(check_cpus_weight)
{
	_cleanup_(cgroup_limits_clear) struct cgroup_limits l = {};

	if (cgroup_limits_read(&l, f->root_fd) < 0 || l.weight < 0)
		finding_set(ret, CHECK_ABSENT, "no weights of control groups");
	else if (l.weight_of)
		finding_set(
			ret, CHECK_OFF, "%" PRId64 " %% of the usual: %s", l.weight, l.weight_of);
	else
		finding_set(ret, CHECK_OK, "%" PRId64 " %%", l.weight);
}

DECIDER(check_cpus_isolated)
{
	if (!f->isolated)
		finding_set(ret, CHECK_UNKNOWN, "not reported by the kernel");
	else if (f->cpu >= 0 && cpu_list_has(f->isolated, f->cpu))
		finding_set(
			ret, CHECK_OK, "CPU %d is isolated (isolated: %s)", f->cpu, f->isolated);
	else
		finding_set(ret, CHECK_OFF, "%s", *f->isolated ? f->isolated : "none");
}

DECIDER(check_cpus_nohz)
{
	_cleanup_(freep) char *list = path_text(f->root_fd, SYS_CPU "nohz_full");
	/* as some kernels write an empty list */
	bool none = list && (!*list || !strcmp(list, "(null)"));

	if (!list)
		finding_set(ret, CHECK_ABSENT, "this kernel cannot stop the tick of a busy CPU");
	else if (!none && f->cpu >= 0 && cpu_list_has(list, f->cpu))
		finding_set(ret, CHECK_OK, "CPU %d has no tick while one task runs on it", f->cpu);
	else
		finding_set(ret, CHECK_OFF, "%s", none ? "none" : list);
}

/* Without HWP, intel_pstate chooses the clock at the tick, except with the governor performance.
 * These CPUs have no tick while they are busy. */
DECIDER(check_cpus_tickless_clock)
{
	_cleanup_(freep) char *list = path_text(f->root_fd, SYS_CPU "nohz_full");
	const struct frequency *q = &f->frequency;
	const struct frequency_policy *chooses = NULL;

	if (!list || *list < '0' || *list > '9') {
		finding_set(ret, CHECK_ABSENT, "all CPUs have a tick");
		return;
	}
	for (size_t i = 0; i < q->n_policies; i++) {
		const struct frequency_policy *p = &q->policies[i];
		_cleanup_(freep) int *cpus = NULL;
		size_t n = 0;
		bool tickless = false;

		text_parse_cpu_list(p->cpus ?: "", &cpus, &n);
		for (size_t k = 0; k < n; k++)
			tickless |= cpu_list_has(list, cpus[k]);
		if (tickless && p->driver && !strcmp(p->driver, "intel_pstate") &&
			!(p->governor && !strcmp(p->governor, "performance")))
			chooses = chooses ?: p;
	}
	if (chooses)
		finding_set(ret, CHECK_OFF, "CPU %s has no tick, and intel_pstate with %s needs it",
			chooses->cpus, chooses->governor ?: "its governor");
	else
		finding_set(ret, CHECK_OK, "the clock does not follow the tick on CPU %s", list);
}

/* "all", or a list as the kernel takes it */
static bool boot_list_has(const char *list, int cpu)
{
	return list && (!strcmp(list, "all") || cpu_list_has(list, cpu));
}

DECIDER(check_cpus_callbacks)
{
	_cleanup_(freep) char *command_line = path_text(f->root_fd, "/proc/cmdline"),
			      *rcu = kernel_boot_option(command_line, "rcu_nocbs");
	/* which implies it */
	_cleanup_(freep) char *tickless = path_text(f->root_fd, SYS_CPU "nohz_full");

	if (f->cpu < 0)
		finding_set(ret, CHECK_ABSENT, NO_CPU);
	else if (boot_list_has(rcu, f->cpu) || (tickless && cpu_list_has(tickless, f->cpu)))
		finding_set(ret, CHECK_OK, "CPU %d leaves its RCU callbacks to others", f->cpu);
	else
		finding_set(ret, CHECK_OFF, "CPU %d runs its RCU callbacks itself", f->cpu);
}

/* A mask of CPUs that should not have the core that programs are timed on. */
DECIDER(check_cpus_mask)
{
	const struct setting_files *files = check_files(check, f);
	const struct setting_file *file = files->n > 0 ? &files->items[0] : NULL;

	if (f->cpu < 0)
		finding_set(ret, CHECK_ABSENT, NO_CPU);
	else if (!file || !file->value)
		finding_set(ret, CHECK_ABSENT, "the kernel has no such mask");
	else
		finding_set(ret,
			file->want && !strcmp(file->want, file->value) ? CHECK_OK : CHECK_OFF,
			"mask %s", file->value);
}

DECIDER(check_cpus_balancer)
{
	for (size_t i = 0; i < f->n_processes; i++)
		if (!strcmp(f->processes[i].name, "irqbalance")) {
			finding_set(ret, CHECK_OFF, "irqbalance runs");
			return;
		}
	finding_set(ret, CHECK_OK, "irqbalance does not run");
}

DECIDER(check_cpus_interrupts)
{
	const struct setting_files *files = check_files(check, f);
	size_t n = 0; /* that may be handled on the core */

	for (size_t i = 0; i < files->n; i++)
		n += files->items[i].want &&
		     strcmp(files->items[i].want, files->items[i].value) != 0;
	if (f->cpu < 0)
		finding_set(ret, CHECK_ABSENT, NO_CPU);
	else if (files->n == 0)
		finding_set(ret, CHECK_ABSENT, "the kernel lists no interrupts");
	else if (n > 0)
		finding_set(
			ret, CHECK_OFF, "%zu of %zu may be handled on CPU %d", n, files->n, f->cpu);
	else
		finding_set(ret, CHECK_OK, "none of %zu on CPU %d", files->n, f->cpu);
}
