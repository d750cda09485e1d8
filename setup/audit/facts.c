/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The facts of an audit, and how they are gathered: see facts.h. */
#include "setup/audit/facts.h"

#include "lib/book/book.h"
#include "lib/clocks/clocks.h"
#include "lib/host/bpf/bpf_programs.h"
#include "lib/host/cpu/cpu_time.h"
#include "lib/host/cpu/neighbour_watch.h"
#include "lib/host/process/pinning.h"
#include "lib/host/system/kernel_setting.h"
#include "setup/audit/audit_rules.h"
#include "setup/audit/checks.h"
#include "setup/audit/cron.h"
#include "setup/audit/ntp.h"
#include "setup/options.h"

#include <math.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>

void cpu_ticks_read(struct cpu_ticks *ret, int root_fd)
{
	_cleanup_(freep) char *text = path_text(root_fd, "/proc/stat");
	uint64_t t[8];

	/* user, nice, system, idle, iowait, irq, softirq, steal; user contains the time of
	 * guests */
	*ret = (struct cpu_ticks){.steal = -1};
	if (!text || sscanf(text,
			     "cpu %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
			     " %" SCNu64 " %" SCNu64 " %" SCNu64,
			     &t[0], &t[1], &t[2], &t[3], &t[4], &t[5], &t[6], &t[7]) != 8)
		return;
	for (size_t i = 0; i < ELEMENTS(t); i++)
		ret->all = saturate_add(ret->all, t[i] > INT64_MAX ? INT64_MAX : (int64_t)t[i]);
	ret->steal = t[7] > INT64_MAX ? INT64_MAX : (int64_t)t[7];
}

static void join_isolated(struct facts *f, const char *more)
{
	char *longer = more ? cpu_list_join(f->isolated, more) : NULL;

	if (longer) {
		free(f->isolated);
		f->isolated = longer;
	}
}

/* CPUs of partitions: what the kernel lists at the top of cgroup v2 (6.8 and later), and the
 * partition of emp-setup, whose file may also say "none" or "member". */
static void read_partitions(struct facts *f)
{
	_cleanup_(freep) char *directory = partition_directory(f->root_fd), *all = NULL,
			      *partition = NULL;

	if (!directory || !f->isolated)
		return;
	all = path_text(f->root_fd, "%.*s/cpuset.cpus.isolated",
		(int)(strrchr(directory, '/') - directory), directory);
	join_isolated(f, all);
	if (partition_read(f->root_fd, directory, &partition) >= 0)
		join_isolated(f, partition);
}

/* The CPU that programs will be timed on, and what shares it. */
static void read_cpus(struct facts *f, int cpu)
{
	f->online = path_text(f->root_fd, SYS_CPU "online");
	f->isolated = path_text(f->root_fd, SYS_CPU "isolated");
	core_types_read(&f->cores, f->root_fd);
	read_partitions(f);

	f->cpu = cpu;
	if (cpu < 0 && f->isolated && *f->isolated >= '0' && *f->isolated <= '9')
		f->cpu = atoi(f->isolated);
	if (f->cpu < 0)
		return;
	cpu_core_threads(f->root_fd, f->cpu, &f->threads, &f->n_threads);
	/* a processor without a list of siblings has one thread for each core */
	if (f->n_threads == 0)
		*array_add(f->threads, f->n_threads) = f->cpu;
}

/* Whether a package manager is at work: dpkg and rpm lock a file with fcntl(2). Opening it for
 * reading changes nothing. */
static void read_locks(struct facts *f)
{
	static const char *const locks[] = {"/var/lib/dpkg/lock-frontend", "/var/lib/dpkg/lock",
		"/var/lib/apt/lists/lock", "/var/lib/rpm/.rpm.lock"};

	for (size_t i = 0; i < ELEMENTS(locks) && !f->locked; i++) {
		struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
		_cleanup_(closep) int fd = path_open(
			f->root_fd, O_RDONLY | O_NOFOLLOW, "%s", locks[i]);

		if (fd < 0 && fd != -ENOENT)
			f->lock_error = fd;
		else if (fd >= 0 && fcntl(fd, F_GETLK, &lock) < 0)
			f->lock_error = -errno;
		else if (fd >= 0 && lock.l_type != F_UNLCK)
			f->locked = locks[i];
	}
}

/* The files of each row's setting. What they should hold may depend on all other facts. */
static void read_settings(struct facts *f)
{
	f->files = xcalloc(n_check_rows, sizeof(*f->files));
	for (size_t i = 0; i < n_check_rows; i++) {
		const struct setting *setting = &check_rows[i].setting;
		_cleanup_(paths_clear) struct paths paths = {};

		if (setting->pattern)
			paths = paths_expand(f->root_fd, setting->pattern);
		for (size_t k = 0; k < paths.n; k++) {
			struct kernel_setting file = {.root_fd = f->root_fd,
				.path = paths.items[k],
				.kind = setting->kind};
			struct setting_file read = {};

			read.error = kernel_setting_read(&file, &read.value);
			if (read.error == -EBUSY) /* of CPUs that are offline */
				continue;
			read.path = TAKE(paths.items[k]);
			read.want = setting->want_of ? setting->want_of(f, &read)
						     : xstrdup(setting->want);
			*array_add(f->files[i].items, f->files[i].n) = read;
		}
	}
}

void facts_read_files(struct facts *f, int root_fd, int cpu)
{
	_cleanup_(freep) char *release = path_text(root_fd, "/proc/sys/kernel/osrelease"),
			      *irq_time = NULL;
	size_t n = 0;

	f->root_fd = root_fd;
	read_cpus(f, cpu);
	f->clocksource = path_text(
		root_fd, "/sys/devices/system/clocksource/clocksource0/current_clocksource");
	if (release && kernel_config_read(&f->config, root_fd, release) == 0)
		irq_time = kernel_config_get(f->config, "CONFIG_IRQ_TIME_ACCOUNTING");
	f->irq_time = irq_time ? !strcmp(irq_time, "y") : -1;
	f->delayacct = path_int(root_fd, "/proc/sys/kernel/task_delayacct");
	read_locks(f);
	f->n_programs = f->audit_rules = -ENOSYS;
	if (root_fd == AT_FDCWD) {
		int r = bpf_programs_list(&f->programs, &n);

		f->n_programs = r < 0 ? r : (int64_t)n;
		f->audit_rules = audit_rules_count();
	}
	read_settings(f);
}

static const char *protected_by(const struct facts *f, const char *unit)
{
	return policy_protects(f->policy, unit) ?: unit_reasons_find(&f->needed, unit);
}

static bool triggers_unit(const struct unit *trigger, const char *unit)
{
	for (char **name = trigger->triggers; name && *name; name++)
		if (!strcmp(*name, unit))
			return true;
	return false;
}

/* A socket or a path belongs to its service: if one of them must stay, so must the other, since it
 * would be stopped with it, start it again, or could not start it any more. A timer may be stopped
 * without its service. */
static bool partner_stays(const struct facts *f, const char *name)
{
	const struct unit *unit = unit_list_find(&f->units, name);
	_cleanup_(freep) char *service = text_format(
		"%.*s.service", (int)(strrchr(name, '.') - name), name);

	if (unit_is_kind(name, ".service")) {
		for (size_t i = 0; i < f->units.n; i++) {
			const struct unit *trigger = &f->units.items[i];

			if (unit_is_up(trigger) && triggers_unit(trigger, name) &&
				protected_by(f, trigger->name))
				return true;
		}
		return false;
	}
	if (unit_is_kind(name, ".timer"))
		return false;
	for (char **other = unit ? unit->triggers : NULL; other && *other; other++)
		if (protected_by(f, *other))
			return true;
	return (!unit || !unit->triggers) && protected_by(f, service);
}

const char *facts_stop(const struct facts *f, const char *unit)
{
	const char *why = policy_stop(f->policy, unit);

	if (!why || policy_requests(f->policy, unit))
		return why;
	if (unit_reasons_find(&f->needed, unit) || !strrchr(unit, '.') || partner_stays(f, unit))
		return NULL;
	return why;
}

/* Adds a timer of the policy, or another that elapses soon. `user`: in front of the names of a
 * user's timers; "": the system's. */
static void read_due_timer(
	struct facts *f, struct units *units, const char *name, const char *user, int64_t until_ns)
{
	const int64_t next_ns = units_timer_next(units, name);
	struct elapse elapse = {
		text_format("%s%s", user, name), next_ns, units_timer_accuracy(units, name)};

	if (!*user && facts_stop(f, name))
		*array_add(f->timers, f->n_timers) = elapse;
	else if (next_ns > 0 && next_ns < until_ns)
		*array_add(f->due, f->n_due) = elapse;
	else
		free(elapse.unit);
}

/* Adds a running service that the policy does not list, or what a stopped one of the policy has
 * left behind. */
static void read_running_service(struct facts *f, struct units *units, const struct unit *unit)
{
	uint64_t cpu_ns = UINT64_MAX; /* not accounted, as systemd says it */

	if (!unit_is_up(unit) && policy_stop(f->policy, unit->name)) {
		_cleanup_(freep) char *left = units_left(units, unit->name);

		if (left)
			*array_add(f->left.items, f->left.n) = (struct unit_reason){
				xstrdup(unit->name), TAKE(left)};
	}
	if (strcmp(unit->sub, "running") != 0 || policy_knows(f->policy, unit->name))
		return;
	units_get(units, unit->name, "Service.CPUUsageNSec", 't', &cpu_ns, NULL);
	*array_add(f->unlisted, f->n_unlisted) = (struct unlisted){
		unit->name, cpu_ns > INT64_MAX ? -1 : (int64_t)cpu_ns};
}

/* Of a user's units, only timers are wanted. */
static void read_units(struct facts *f, struct units *units, const struct unit_list *list,
	const char *user, int64_t until_ns)
{
	for (size_t i = 0; i < list->n; i++) {
		const struct unit *unit = &list->items[i];

		if (unit_is_kind(unit->name, ".timer") && unit_is_up(unit))
			read_due_timer(f, units, unit->name, user, until_ns);
		if (!*user && unit_is_kind(unit->name, ".service"))
			read_running_service(f, units, unit);
	}
}

static int elapse_by_time(const void *a, const void *b)
{
	const struct elapse *one = a, *other = b;

	return one->next_ns < other->next_ns ? -1 : one->next_ns > other->next_ns;
}

/* A book that is missing or cannot be read is no failure of the audit. */
static double read_calibrated(const struct machine *machine)
{
	_cleanup_(book_freep) struct book *book = NULL;
	_cleanup_(clocks_clear) struct clocks clocks = {};
	_cleanup_(freep) char *name = NULL;
	const struct clock_source *source;

	if (book_open(&book, NULL, BOOK_READ, NULL) < 0 ||
		book_get_clocks(book, 0, false, &clocks, NULL) <= 0 ||
		book_get_environment(book, clocks.environment, NULL, &name, NULL, NULL) < 0)
		return 0;
	source = clocks_find(&clocks, "clock_gettime(CLOCK_MONOTONIC)");
	if (!source || !name || strcmp(name, machine->id) != 0)
		return 0;
	return source->median * 1e9 / clocks.cycles_per_second;
}

/* The fastest of several rounds, in a few milliseconds. A reading that costs as much as a system
 * call is one. */
static void clock_price_read(struct clock_price *ret)
{
	enum { ROUNDS = 20, CALLS = 1000 };

	*ret = (struct clock_price){INFINITY, INFINITY};
	for (int round = 0; round < ROUNDS; round++) {
		int64_t start_ns = clock_ns(CLOCK_MONOTONIC), middle_ns, end_ns;
		struct timespec now;

		for (int i = 0; i < CALLS; i++)
			clock_gettime(CLOCK_MONOTONIC, &now);
		middle_ns = clock_ns(CLOCK_MONOTONIC);
		for (int i = 0; i < CALLS; i++)
			syscall(SYS_getppid);
		end_ns = clock_ns(CLOCK_MONOTONIC);
		ret->clock_ns = fmin(ret->clock_ns, (double)(middle_ns - start_ns) / CALLS);
		ret->call_ns = fmin(ret->call_ns, (double)(end_ns - middle_ns) / CALLS);
	}
}

/* That systemd does not run or answer is a finding, not a failure. */
static void ask_running_system(struct facts *f)
{
	_cleanup_(units_freep) struct units *units = NULL;
	_cleanup_(paths_clear) struct paths sockets = paths_expand(
		f->root_fd, "/run/user/*/systemd/private");
	_cleanup_(argv_freep) char **users = NULL;
	int64_t now_ns = clock_ns(CLOCK_REALTIME), until_ns = saturate_add(now_ns, f->within_ns);
	struct error why = {};
	bool runs = false;

	f->has_units = units_open(&units, NULL, &why) == 0 &&
		       units_list(units, &f->units, &why) == 0;
	if (f->has_units) {
		units_needed(&f->needed);
		read_units(f, units, &f->units, "", until_ns);
	} else {
		f->units_why = xstrdup(why.text);
		units_free(TAKE(units));
	}
	/* Jobs of cron, without which no table has an effect. */
	for (size_t i = 0; i < f->n_processes; i++)
		runs |= text_has_word("cron crond anacron", f->processes[i].name);
	if (runs)
		cron_read(&f->due, &f->n_due, f->root_fd, now_ns, until_ns);
	for (size_t i = 0; i < sockets.n; i++) {
		_cleanup_(units_freep) struct units *manager = NULL;
		_cleanup_(unit_list_clear) struct unit_list list = {};
		int uid;

		/* One that does not answer is ending, or not ours to ask. */
		if (sscanf(sockets.items[i], "/run/user/%d/", &uid) == 1 &&
			units_open(&manager, sockets.items[i], &why) == 0 &&
			units_list(manager, &list, &why) == 0)
			read_units(f, manager, &list, text_brief("user-%d/", uid), until_ns);
	}
	f->inhibitors = inhibitors_blocking();
	users = sessions_desktops();
	for (char **user = users; *user; user++)
		*array_add(f->due, f->n_due) = (struct elapse){
			text_format("desktop-session:%s", *user), 0};
	if (f->n_due > 0)
		qsort(f->due, f->n_due, sizeof(*f->due), elapse_by_time);
	kernel_clock_read(&f->clock);
	clock_price_read(&f->price);
	f->calibrated_ns = read_calibrated(&f->machine);
	ntp_read(f, units);
	if (f->kernel.installed && !f->machine.container)
		kernel_ask_offered(&f->kernel, f->machine.os_version);
}

int facts_read(struct facts *ret, struct error *err)
{
	const int root_fd = options.root_fd;
	_cleanup_(facts_clear) struct facts f = {
		.root_fd = root_fd, .within_ns = options.within_ns};
	int r = options.cpu < 0 ? 0 : pinning_check_online(options.cpu, root_fd, err);

	if (r < 0)
		return r;
	machine_read(&f.machine, root_fd);
	if (root_fd == AT_FDCWD)
		cpu_ticks_read(&f.ticks, root_fd);
	frequency_read(&f.frequency, root_fd);
	frequency_read_registers(&f.frequency, root_fd, f.machine.cpu_vendor);
	r = policy_load(&f.policy, NULL, options.policy, &f.machine, err);
	if (r == 0 && options.stop)
		r = policy_request(f.policy, options.stop, err);
	if (r == 0)
		r = kernel_read(&f.kernel, root_fd, err);
	if (r < 0)
		return r;
	f.processes = processes_read(root_fd, &f.n_processes);
	if (root_fd == AT_FDCWD)
		ask_running_system(&f);
	facts_read_files(&f, root_fd, options.cpu);
	*ret = TAKE_STRUCT(f);
	return 0;
}

/* The other thread of its core that was busiest. */
static void find_sibling(struct cpu_neighbour *neighbour, const char *before, const char *now)
{
	_cleanup_(freep) int *siblings = NULL;
	size_t n;

	neighbour->sibling = -1;
	neighbour->busy = NAN;
	cpu_siblings(neighbour->cpu, &siblings, &n);
	for (size_t i = 0; i < n; i++) {
		double busy = cpu_time_busy(before, now, siblings[i]);

		if (neighbour->sibling >= 0 && !(busy > neighbour->busy))
			continue;
		neighbour->sibling = siblings[i];
		neighbour->busy = busy;
	}
}

int facts_read_neighbours(struct facts *f, struct error *err)
{
	_cleanup_(freep) char *before = cpu_time_text(), *now = NULL;
	_cleanup_(freep) struct neighbour_series *series = NULL;
	struct neighbour_watch watch = {.for_ns = NS_PER_S};
	struct error unused = {}; /* not told: a cpuset may keep programs from the CPU */
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set) < 0)
		return error_os(err, -errno, "cannot read which CPUs may be used");
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (f->cpu == cpu || (f->cpu < 0 && CPU_ISSET(cpu, &set)))
			*array_add(series, watch.n) = (struct neighbour_series){.cpu = cpu};
	watch.series = series;
	neighbour_watch(&watch, &unused);
	now = cpu_time_text();
	for (size_t i = 0; i < watch.n; i++) {
		struct cpu_neighbour *neighbour = array_add(f->neighbours, f->n_neighbours);

		neighbour->cpu = series[i].cpu;
		neighbour->share = neighbour_series_share(&series[i]);
		find_sibling(neighbour, before, now);
		neighbour_series_clear(&series[i]);
	}
	return 0;
}

void elapses_free(struct elapse *elapses, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(elapses[i].unit);
	free(elapses);
}

void facts_clear(struct facts *f)
{
	free(f->units_why);
	free(f->online);
	free(f->isolated);
	core_types_clear(&f->cores);
	free(f->clocksource);
	free(f->programs);
	free(f->config);
	free(f->inhibitors);

	machine_clear(&f->machine);
	policy_free(f->policy);
	frequency_clear(&f->frequency);
	kernel_clear(&f->kernel);
	free(f->processes);
	for (size_t i = 0; i < f->n_daemons; i++)
		free(f->daemons[i].text);
	free(f->daemons);

	unit_list_clear(&f->units);
	elapses_free(f->timers, f->n_timers);
	elapses_free(f->due, f->n_due);
	free(f->unlisted);
	unit_reasons_clear(&f->needed);
	unit_reasons_clear(&f->left);
	free(f->threads);
	free(f->neighbours);

	for (size_t i = 0; f->files && i < n_check_rows; i++) {
		for (size_t k = 0; k < f->files[i].n; k++) {
			free(f->files[i].items[k].path);
			free(f->files[i].items[k].value);
			free(f->files[i].items[k].want);
		}
		free(f->files[i].items);
	}
	free(f->files);
	*f = (struct facts){};
}

const struct setting_files *check_files(const struct check *check, const struct facts *f)
{
	static const struct setting_files none;

	return f->files ? &f->files[check - check_rows] : &none;
}

bool setting_is_of_host(const struct facts *f, const struct setting_file *file)
{
	_cleanup_(closep) int fd = -1;
	struct statvfs st;

	if (f->machine.container)
		fd = path_open(f->root_fd, O_PATH, "%s", file->path);
	if (fd < 0)
		return false;
	if (fstatvfs(fd, &st) == 0 && st.f_flag & ST_RDONLY)
		return true;
	return geteuid() == 0 && (!file->value || faccessat(f->root_fd, file->path, W_OK, 0) < 0);
}
