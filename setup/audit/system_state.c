/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What may disturb a run: see facts.h. */
#include "setup/audit/facts.h"

#include "lib/base/text.h"
#include "lib/host/cpu/kernel_setting.h"

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
	char **types = NULL;
	size_t n = 0;
	int64_t mains = -1;

	if (kernel_setting_expand(root_fd, "/sys/class/power_supply/*/type", &types, &n) < 0)
		return -1;
	for (size_t i = 0; i < n; i++) {
		_cleanup_(freep) char *type = read_text(root_fd, types[i]), *path = NULL;
		int64_t online;

		path = text_format("%.*s/online", (int)(strrchr(types[i], '/') - types[i]), types[i]);
		if (type && path && !strcmp(type, "Mains") && text_read_int(root_fd, path, &online) == 0)
			mains = mains > online ? mains : online;
		free(types[i]);
	}
	free(types);
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

void system_state_read(struct system_state *ret, int root_fd)
{
	struct system_state s = {
		.load = read_text(root_fd, "/proc/loadavg"),
		.clocksource = read_text(
			root_fd, "/sys/devices/system/clocksource/clocksource0/current_clocksource"),
		.smt = read_text(root_fd, "/sys/devices/system/cpu/smt/control"),
		.swaps = read_text(root_fd, "/proc/swaps"),
		.mains = read_mains(root_fd),
		.idle_states = (int64_t)kernel_setting_count(
			root_fd, "/sys/devices/system/cpu/cpu0/cpuidle/state*"),
	};
	char *head = s.swaps ? strchr(s.swaps, '\n') : NULL;
	struct stat st;

	find_lock(&s, root_fd);
	s.tracer_error = text_read_file(root_fd, "/sys/kernel/tracing/current_tracer", &s.tracer);
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
	*s = (struct system_state){};
}
