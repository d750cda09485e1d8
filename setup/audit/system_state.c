/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What may disturb a run: see system_state.h. */
#include "setup/audit/system_state.h"

#include "lib/base/array.h"
#include "lib/base/cleanup.h"
#include "lib/base/text.h"
#include "lib/host/bpf/bpf_programs.h"
#include "lib/host/system/kernel_setting.h"
#include "lib/host/system/audit_rules.h"
#include "lib/host/system/kernel.h"
#include "lib/host/trace/tracefs.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

static char *read_text(int root_fd, const char *path)
{
	char *text = NULL;

	return text_read_file(root_fd, path, &text) < 0 ? NULL : text;
}

/* 1 if any mains adapter is plugged in. */
static int64_t read_mains(int root_fd)
{
	_cleanup_(paths_clear) struct paths types = kernel_setting_expand(
		root_fd, "/sys/class/power_supply/*/type");
	int64_t mains = -1;

	for (size_t i = 0; i < types.n; i++) {
		const char *name = types.items[i];
		_cleanup_(freep) char *type = read_text(root_fd, name), *path = NULL;
		int64_t online;

		path = text_format("%.*s/online", (int)(strrchr(name, '/') - name), name);
		if (type && path && !strcmp(type, "Mains") && text_read_int(root_fd, path, &online) == 0)
			mains = mains > online ? mains : online;
	}
	return mains;
}

/* Whether a file is locked with fcntl(2), as dpkg and rpm do; -errno. Opening it for reading changes nothing. */
static int is_locked(int root_fd, const char *path)
{
	_cleanup_(closep) int fd = openat(
		root_fd, text_below(root_fd, path), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	if (fcntl(fd, F_GETLK, &lock) < 0)
		return -errno;
	return lock.l_type != F_UNLCK;
}

static void find_lock(struct system_state *s, int root_fd)
{
	static const char *const locks[] = {"/var/lib/dpkg/lock-frontend", "/var/lib/dpkg/lock",
		"/var/lib/apt/lists/lock", "/var/lib/rpm/.rpm.lock"};

	for (size_t i = 0; i < ELEMENTS(locks) && !s->locked; i++) {
		int r = is_locked(root_fd, locks[i]);

		if (r > 0)
			s->locked = locks[i];
		else if (r < 0)
			s->lock_error = r;
	}
}

static int64_t read_int(int root_fd, const char *path)
{
	int64_t value;

	return text_read_int(root_fd, path, &value) < 0 ? -1 : value;
}

static int open_tracing(int root_fd)
{
	static const char *const places[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};
	int fd = -ENOENT;

	if (root_fd == AT_FDCWD)
		return tracefs_open();
	for (size_t i = 0; i < ELEMENTS(places) && fd < 0; i++)
		fd = openat(root_fd, text_below(root_fd, places[i]), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static void read_tracing(struct system_state *s, int root_fd)
{
	_cleanup_(closep) int fd = open_tracing(root_fd);

	s->tracer_error = fd < 0 ? fd : text_read_file(fd, "current_tracer", &s->tracer);
	if (s->tracer_error < 0)
		return;
	s->events = read_text(fd, "events/enable");
	s->recording = tracefs_recording(fd);
}

static void read_scheduler(struct system_state *s, int root_fd)
{
	_cleanup_(freep) char *release = read_text(root_fd, "/proc/sys/kernel/osrelease"), *config = NULL;

	s->preemption = read_text(root_fd, "/sys/kernel/debug/sched/preempt");
	s->base_slice_ns = read_int(root_fd, "/sys/kernel/debug/sched/base_slice_ns");
	if (release && kernel_config_read(&config, root_fd, release) == 0)
		s->irq_time = kernel_config_get(config, "CONFIG_IRQ_TIME_ACCOUNTING");
}

/* The sum over all CPUs, of their own and of the package's; -1: the processor does not count it. */
static int64_t read_throttles(int root_fd)
{
	_cleanup_(paths_clear) struct paths paths = kernel_setting_expand(
		root_fd, "/sys/devices/system/cpu/cpu[0-9]*/thermal_throttle/*_throttle_count");
	int64_t sum = -1;

	for (size_t i = 0; i < paths.n; i++) {
		int64_t count = read_int(root_fd, paths.items[i]);

		if (count >= 0)
			sum = (sum < 0 ? 0 : sum) + count;
	}
	return sum;
}

static int64_t read_constraint(int root_fd, const char *zone, int number, const char *what)
{
	_cleanup_(freep) char *path = text_format("%s/constraint_%d_%s", zone, number, what);

	return path ? read_int(root_fd, path) : -1;
}

/* The sustained limit is the constraint called "long_term"; its most is what the processor is made for. */
static void read_power_zone(struct system_state *s, int root_fd, const char *zone)
{
	enum { CONSTRAINTS = 3 };
	_cleanup_(freep) char *name_path = text_format("%s/name", zone),
			      *name = read_text(root_fd, name_path ?: "");

	for (int i = 0; i < CONSTRAINTS; i++) {
		_cleanup_(freep) char *path = text_format("%s/constraint_%d_name", zone, i);
		_cleanup_(freep) char *kind = read_text(root_fd, path ?: "");
		int64_t limit = read_constraint(root_fd, zone, i, "power_limit_uw"),
			most = read_constraint(root_fd, zone, i, "max_power_uw");
		struct power_limit *added;

		if (!kind || strcmp(kind, "long_term") != 0 || limit <= 0 || most <= 0)
			continue;
		s->n_power_zones++;
		added = limit < most ? array_add(s->power, s->n_power) : NULL;
		if (added)
			*added = (struct power_limit){TAKE(name), limit, most};
	}
}

static void read_power(struct system_state *s, int root_fd)
{
	_cleanup_(paths_clear) struct paths zones = kernel_setting_expand(
		root_fd, "/sys/class/powercap/intel-rapl:[0-9]*");

	for (size_t i = 0; i < zones.n; i++)
		if (!strchr(strchr(zones.items[i], ':') + 1,
			    ':')) /* parts of a package have none of their own */
			read_power_zone(s, root_fd, zones.items[i]);
}

static void ask_kernel(struct system_state *s, int root_fd)
{
	size_t n = 0;
	int r = root_fd == AT_FDCWD ? bpf_programs_list(&s->programs, &n) : -ENOSYS;

	s->n_programs = r < 0 ? r : (int64_t)n;
	s->audit_rules = root_fd == AT_FDCWD ? audit_rules_count() : -ENOSYS;
}

void system_state_read(struct system_state *ret, int root_fd)
{
	struct system_state s = {
		.load = read_text(root_fd, "/proc/loadavg"),
		.clocksource = read_text(
			root_fd, "/sys/devices/system/clocksource/clocksource0/current_clocksource"),
		.smt = read_text(root_fd, "/sys/devices/system/cpu/smt/control"),
		.smt_active = read_int(root_fd, "/sys/devices/system/cpu/smt/active"),
		.swaps = read_text(root_fd, "/proc/swaps"),
		.mains = read_mains(root_fd),
		.throttles = read_throttles(root_fd),
		.idle_states = (int64_t)kernel_setting_count(
			root_fd, "/sys/devices/system/cpu/cpu0/cpuidle/state*"),
	};
	char *head = s.swaps ? strchr(s.swaps, '\n') : NULL;
	struct stat st;

	find_lock(&s, root_fd);
	read_tracing(&s, root_fd);
	read_scheduler(&s, root_fd);
	read_power(&s, root_fd);
	ask_kernel(&s, root_fd);
	if (root_fd == AT_FDCWD)
		leftovers_find(&s.leftovers);
	s.shutdown = fstatat(root_fd, text_below(root_fd, "/run/systemd/shutdown/scheduled"), &st, 0) == 0;
	if (s.swaps) /* the first line names the columns */
		memmove(s.swaps, head ? head + 1 : "", head ? strlen(head) : 1);
	*ret = s;
}

void system_state_clear(struct system_state *s)
{
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
}
