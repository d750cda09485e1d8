/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The facts of an audit, and how they are gathered: see audit.h. */
#include "setup/audit/audit.h"

#include "lib/base/cleanup.h"
#include "lib/base/number.h"
#include "lib/base/paths.h"
#include "lib/base/text.h"
#include "lib/base/xalloc.h"
#include "lib/book/book.h"
#include "lib/clocks/clocks.h"
#include "lib/host/bpf/bpf_programs.h"
#include "lib/host/cpu/cpus.h"
#include "lib/host/process/pinning.h"
#include "lib/host/system/cron.h"
#include "lib/host/system/tracefs.h"
#include "lib/host/systemd/units.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/netlink.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>

#define CPU "/sys/devices/system/cpu/"

void cpu_state_read(struct cpu_state *ret, int root_fd, int cpu)
{
	struct cpu_state s = {
		.cpu = cpu,
		.online = path_text(root_fd, CPU "online"),
		.isolated = path_text(root_fd, CPU "isolated"),
		.nohz_full = path_text(root_fd, CPU "nohz_full"),
	};
	char *longer;

	if (s.nohz_full && !strcmp(s.nohz_full, "(null)")) /* as some kernels write an empty list */
		*s.nohz_full = '\0';

	/* CPUs of partitions: what the kernel lists at the top of cgroup v2 (6.8 and later), and the
	 * partition of emp-setup. */
	_cleanup_(freep) char *directory = partition_directory(root_fd), *cpus = NULL, *all = NULL;

	if (directory && s.isolated) {
		all = path_text(root_fd, "%.*s/cpuset.cpus.isolated",
			(int)(strrchr(directory, '/') - directory), directory);
		longer = cpu_list_join(s.isolated, all ?: "");
		if (longer && partition_read(root_fd, directory, &cpus) == 0 && *cpus >= '0' &&
			*cpus <= '9') {
			free(s.isolated);
			s.isolated = longer;
			longer = cpu_list_join(longer, cpus);
		}
		if (longer) {
			free(s.isolated);
			s.isolated = longer;
		}
	}
	if (s.cpu < 0 && s.isolated && *s.isolated >= '0' && *s.isolated <= '9')
		s.cpu = atoi(s.isolated);
	else if (s.cpu < 0)
		s.cpu = -1;
	if (s.cpu >= 0) {
		_cleanup_(freep) char *own = text_format("%d", s.cpu);
		_cleanup_(freep) char *list = path_text(
			root_fd, CPU "cpu%d/topology/thread_siblings_list", s.cpu);

		/* a processor without a list of siblings has one thread for each core */
		if (!cpu_list_has(list, s.cpu) || text_parse_cpu_list(list, &s.threads, &s.n_threads) < 0)
			text_parse_cpu_list(own, &s.threads, &s.n_threads);
	}
	s.limits_error = cgroup_limits_read(&s.limits, root_fd);
	*ret = s;
}

/* 1 if any mains adapter is plugged in. */
static int64_t read_mains(int root_fd)
{
	_cleanup_(paths_clear) struct paths types = paths_expand(root_fd, "/sys/class/power_supply/*/type");
	int64_t mains = -1;

	for (size_t i = 0; i < types.n; i++) {
		const char *name = types.items[i];
		_cleanup_(freep) char *type = path_text(root_fd, "%s", name);
		int64_t online;

		if (!type || strcmp(type, "Mains") != 0)
			continue;
		online = path_int(root_fd, "%.*s/online", (int)(strrchr(name, '/') - name), name);
		mains = mains > online ? mains : online;
	}
	return mains;
}

/* The sum over all CPUs, of their own and of the package's; -1: the processor does not count it. */
static int64_t read_throttles(int root_fd)
{
	_cleanup_(paths_clear) struct paths paths = paths_expand(
		root_fd, CPU "cpu[0-9]*/thermal_throttle/*_throttle_count");
	int64_t sum = -1;

	for (size_t i = 0; i < paths.n; i++) {
		int64_t count = path_int(root_fd, "%s", paths.items[i]);

		if (count >= 0)
			sum = (sum < 0 ? 0 : sum) + count;
	}
	return sum;
}

/* The sustained limit is the constraint called "long_term"; its most is what the processor is made for. */
static void read_power_zone(struct system_state *s, int root_fd, const char *zone)
{
	enum { CONSTRAINTS = 3 };

	for (int i = 0; i < CONSTRAINTS; i++) {
		_cleanup_(freep) char *kind = path_text(root_fd, "%s/constraint_%d_name", zone, i);
		int64_t limit = path_int(root_fd, "%s/constraint_%d_power_limit_uw", zone, i),
			most = path_int(root_fd, "%s/constraint_%d_max_power_uw", zone, i);

		if (!kind || strcmp(kind, "long_term") != 0 || limit <= 0 || most <= 0)
			continue;
		s->n_power_zones++;
		if (limit < most)
			*array_add(s->power, s->n_power) = (struct power_limit){
				path_text(root_fd, "%s/name", zone), limit, most};
	}
}

/* How many rules record system calls or file accesses, of which a rule "never,task" makes none work: with one that may
 * match, the kernel keeps a record of every system call. Asked over netlink, as auditctl -l does. -EPERM for
 * ordinary users and in containers, -EPROTONOSUPPORT: a kernel without audit; other -errno. */
static int count_audit_rules(void)
{
	enum { SIZE = 16384 };
	static const struct timeval timeout = {.tv_sec = 2};
	struct nlmsghdr request = {.nlmsg_len = sizeof(request),
		.nlmsg_type = AUDIT_LIST_RULES,
		.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP,
		.nlmsg_seq = 1};
	struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
	_cleanup_(freep) char *buffer = xmalloc(SIZE);
	_cleanup_(closep) int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_AUDIT);
	bool never = false; /* no task is audited at all */
	int rules = 0;

	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
	if (sendto(fd, &request, sizeof(request), 0, (struct sockaddr *)&kernel, sizeof(kernel)) < 0)
		return -errno;
	for (;;) {
		ssize_t n = recv(fd, buffer, SIZE, 0);
		size_t left = n > 0 ? (size_t)n : 0;

		if (n <= 0)
			return n < 0 ? -errno : -EPROTO;
		for (struct nlmsghdr *m = (struct nlmsghdr *)buffer; NLMSG_OK(m, left);
			m = NLMSG_NEXT(m, left)) {
			const struct nlmsgerr *error = NLMSG_DATA(m);
			const struct audit_rule_data *rule = NLMSG_DATA(m);
			unsigned int list;

			if (m->nlmsg_type == NLMSG_DONE)
				return never ? 0 : rules;
			if (m->nlmsg_type == NLMSG_ERROR && error->error) /* 0: the request was understood */
				return error->error;
			if (m->nlmsg_type != AUDIT_LIST_RULES)
				continue;
			list = rule->flags & ~(unsigned int)AUDIT_FILTER_PREPEND;
			never |= list == AUDIT_FILTER_TASK && rule->action == AUDIT_NEVER &&
				 rule->field_count == 0;
			rules += list == AUDIT_FILTER_EXIT && rule->action == AUDIT_ALWAYS;
		}
	}
}

void system_state_read(struct system_state *ret, int root_fd)
{
	_cleanup_(paths_clear) struct paths zones = paths_expand(
		root_fd, "/sys/class/powercap/intel-rapl:[0-9]*");
	_cleanup_(freep) char *release = path_text(root_fd, "/proc/sys/kernel/osrelease"), *config = NULL;
	struct system_state s = {
		.load = path_text(root_fd, "/proc/loadavg"),
		.clocksource = path_text(
			root_fd, "/sys/devices/system/clocksource/clocksource0/current_clocksource"),
		.smt = path_text(root_fd, CPU "smt/control"),
		.smt_active = path_int(root_fd, CPU "smt/active"),
		.swaps = path_text(root_fd, "/proc/swaps"),
		.preemption = path_text(root_fd, "/sys/kernel/debug/sched/preempt"),
		.base_slice_ns = path_int(root_fd, "/sys/kernel/debug/sched/base_slice_ns"),
		.mains = read_mains(root_fd),
		.throttles = read_throttles(root_fd),
		.idle_states = (int64_t)paths_count(root_fd, CPU "cpu0/cpuidle/state*"),
		.n_programs = -ENOSYS,
		.audit_rules = -ENOSYS,
	};
	char *head = s.swaps ? strchr(s.swaps, '\n') : NULL;
	struct stat st;
	_cleanup_(closep) int fd = -1;
	static const char *const locks[] = {"/var/lib/dpkg/lock-frontend", "/var/lib/dpkg/lock",
		"/var/lib/apt/lists/lock", "/var/lib/rpm/.rpm.lock"};

	if (s.swaps) /* the first line names the columns */
		memmove(s.swaps, head ? head + 1 : "", head ? strlen(head) : 1);
	for (size_t i = 0; i < ELEMENTS(locks) && !s.locked; i++) {
		int r;
		struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
		_cleanup_(closep) int lock_fd = path_open(root_fd, O_RDONLY | O_NOFOLLOW, "%s", locks[i]);

		/* Is it locked with fcntl(2), as dpkg and rpm do? Opening it for reading changes nothing. */
		if (lock_fd < 0)
			r = lock_fd == -ENOENT ? 0 : lock_fd;
		else if (fcntl(lock_fd, F_GETLK, &lock) < 0)
			r = -errno;
		else
			r = lock.l_type != F_UNLCK;

		if (r > 0)
			s.locked = locks[i];
		else if (r < 0)
			s.lock_error = r;
	}
	if (root_fd == AT_FDCWD)
		fd = tracefs_open();
	else
		fd = path_open(root_fd, O_RDONLY | O_DIRECTORY, "/sys/kernel/tracing");
	if (fd < 0 && root_fd != AT_FDCWD)
		fd = path_open(root_fd, O_RDONLY | O_DIRECTORY, "/sys/kernel/debug/tracing");
	s.tracer_error = fd < 0 ? fd : text_read_file(fd, "current_tracer", &s.tracer);
	if (s.tracer_error >= 0) {
		s.events = path_text(fd, "events/enable");
		s.recording = tracefs_recording(fd);
	}
	if (release && kernel_config_read(&config, root_fd, release) == 0)
		s.irq_time = kernel_config_get(config, "CONFIG_IRQ_TIME_ACCOUNTING");
	for (size_t i = 0; i < zones.n; i++)
		if (!strchr(strchr(zones.items[i], ':') + 1,
			    ':')) /* parts of a package have none of their own */
			read_power_zone(&s, root_fd, zones.items[i]);
	if (root_fd == AT_FDCWD) {
		size_t n = 0;
		int r = bpf_programs_list(&s.programs, &n);

		s.n_programs = r < 0 ? r : (int64_t)n;
		s.audit_rules = count_audit_rules();
		leftovers_find(&s.leftovers);
	}
	s.shutdown = fstatat(root_fd, text_below(root_fd, "/run/systemd/shutdown/scheduled"), &st, 0) == 0;
	*ret = s;
}

/* Takes `name` over. */
static void add_due(struct facts *f, char *name, int64_t next_ns)
{
	*array_add(f->due, f->n_due) = (struct elapse){.unit = name, .next_ns = next_ns, .owned = name};
}

/* Timers of the policy whatever their time, others if they elapse soon; and the running services that the policy does not
 * list. */
static void read_units(struct facts *f, struct units *units, int64_t until_ns)
{
	struct error ignored;

	for (size_t i = 0; i < f->units.n; i++) {
		const struct unit *unit = &f->units.items[i];
		struct elapse timer = {.unit = unit->name};
		int64_t cpu_ns;

		if (unit_is_kind(unit->name, ".timer") && unit_is_up(unit)) {
			if (units_timer_next(units, unit->name, &timer.next_ns, &ignored) < 0)
				timer.next_ns = 0;
			if (policy_stop(f->policy, unit->name))
				*array_add(f->timers, f->n_timers) = timer;
			else if (timer.next_ns > 0 && timer.next_ns < until_ns)
				*array_add(f->due, f->n_due) = timer;
		}
		if (!unit_is_kind(unit->name, ".service") || strcmp(unit->sub, "running") != 0 ||
			policy_knows(f->policy, unit->name))
			continue;
		if (units_cpu_ns(units, unit->name, &cpu_ns, &ignored) < 0)
			cpu_ns = -1;
		*array_add(f->unlisted, f->n_unlisted) = (struct unlisted){unit->name, cpu_ns};
	}
}

/* Timers of a user. A manager that does not answer is ending, or not ours to ask. */
static void read_user(struct facts *f, const char *socket, int64_t until_ns)
{
	_cleanup_(units_freep) struct units *units = NULL;
	_cleanup_(unit_list_clear) struct unit_list list = {};
	struct error ignored;
	int uid;

	if (sscanf(socket, "/run/user/%d/", &uid) != 1 || units_open_user(&units, socket, &ignored) < 0 ||
		units_list(units, &list, &ignored) < 0)
		return;
	for (size_t i = 0; i < list.n; i++) {
		const struct unit *unit = &list.items[i];
		int64_t next_ns = 0;

		if (unit_is_kind(unit->name, ".timer") && unit_is_up(unit) &&
			units_timer_next(units, unit->name, &next_ns, &ignored) == 0 && next_ns > 0 &&
			next_ns < until_ns)
			add_due(f, text_format("user-%d/%s", uid, unit->name), next_ns);
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
	struct error ignored;

	if (book_open(&book, NULL, BOOK_READ, &ignored) < 0 ||
		book_get_clocks(book, 0, &clocks, &ignored) <= 0 ||
		book_get_machine(book, clocks.environment, &name, &ignored) < 0)
		return 0;
	source = clocks_find(&clocks, "clock_gettime(CLOCK_MONOTONIC)");
	if (!source || !name || strcmp(name, machine->id) != 0)
		return 0;
	return source->median * 1e9 / clocks.cycles_per_second;
}

/* That systemd does not run or answer is a finding, not a failure. */
static void ask_running_system(struct facts *f)
{
	_cleanup_(units_freep) struct units *units = NULL;
	_cleanup_(paths_clear) struct paths sockets = paths_expand(f->root_fd, "/run/user/*/systemd/private");
	_cleanup_(strings_freep) char **users = NULL;
	int64_t now_ns = clock_ns(CLOCK_REALTIME), until_ns = saturate_add(now_ns, f->within_ns);
	struct error why = {};
	struct cron_job *jobs;
	bool runs = false;
	size_t n;

	f->has_units = units_open(&units, &why) == 0 && units_list(units, &f->units, &why) == 0;
	if (f->has_units)
		read_units(f, units, until_ns);
	else {
		f->units_why = xstrdup(why.text);
		units_free(TAKE(units));
	}
	/* Jobs of cron, without which no table has an effect. */
	for (size_t i = 0; i < f->n_processes; i++)
		runs |= list_has("cron crond anacron", ' ', f->processes[i].name);
	if (runs) {
		jobs = cron_read(&n, f->root_fd, now_ns / NS_PER_S, until_ns / NS_PER_S);
		for (size_t i = 0; i < n; i++)
			add_due(f, text_utf8(jobs[i].table), jobs[i].next_s * NS_PER_S);
		cron_clear(jobs, n);
	}
	for (size_t i = 0; i < sockets.n; i++)
		read_user(f, sockets.items[i], until_ns);
	users = sessions_desktops();
	for (char **user = users; *user; user++)
		add_due(f, text_format("desktop-session:%s", *user), 0);
	if (f->n_due > 0)
		qsort(f->due, f->n_due, sizeof(*f->due), elapse_by_time);
	kernel_clock_read(&f->clock);
	clock_price_read(&f->price);
	f->calibrated_ns = read_calibrated(&f->machine);
	ntp_read(&f->ntp, units, &f->units, f->processes, f->n_processes);
	if (f->kernel.installed && !f->machine.container)
		kernel_ask_offered(&f->kernel);
}

int facts_read(
	struct facts *ret, int root_fd, const char *policy, int cpu, int64_t within_ns, struct error *err)
{
	_cleanup_(facts_clear) struct facts f = {.root_fd = root_fd, .within_ns = within_ns};
	int r = cpu < 0 ? 0 : pinning_check_online(cpu, root_fd, err);

	if (r < 0)
		return r;
	machine_read(&f.machine, root_fd);
	system_state_read(&f.system_state, root_fd);
	cpu_state_read(&f.cpus, root_fd, cpu);
	frequency_read(&f.frequency, root_fd);
	f.delayacct = path_int(root_fd, "/proc/sys/kernel/task_delayacct");
	r = policy_load(&f.policy, policy_directories(), policy, &f.machine, err);
	if (r == 0)
		r = kernel_read(&f.kernel, root_fd, err);
	if (r < 0)
		return r;
	f.processes = processes_read(root_fd, &f.n_processes);
	if (root_fd == AT_FDCWD)
		ask_running_system(&f);
	f.files = check_rows_read(root_fd);
	*ret = TAKE_STRUCT(f);
	return 0;
}

void facts_clear(struct facts *f)
{
	machine_clear(&f->machine);

	struct system_state *s = &f->system_state;

	free(s->load);
	free(s->clocksource);
	free(s->smt);
	free(s->swaps);
	free(s->tracer);
	free(s->events);
	free(s->recording);
	leftovers_clear(&s->leftovers);
	free(s->programs);
	free(s->preemption);
	free(s->irq_time);
	for (size_t i = 0; i < s->n_power; i++)
		free(s->power[i].zone);
	free(s->power);
	*s = (struct system_state){};
	free(f->cpus.threads);
	free(f->cpus.online);
	free(f->cpus.isolated);
	free(f->cpus.nohz_full);
	cgroup_limits_clear(&f->cpus.limits);
	f->cpus = (struct cpu_state){};
	policy_free(f->policy);
	frequency_clear(&f->frequency);
	kernel_clear(&f->kernel);
	free(f->units_why);
	unit_list_clear(&f->units);
	free(f->timers);
	for (size_t i = 0; i < f->n_due; i++)
		free(f->due[i].owned);
	free(f->due);
	free(f->unlisted);
	free(f->processes);
	check_rows_freep(&f->files);
	*f = (struct facts){};
}
