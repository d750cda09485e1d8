/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The cgroup v2 of the program under test: see cgroup.h.
 *
 * cpu.stat exists without the cpu controller. CLONE_INTO_CGROUP (start.c) starts the program in the cgroup, so no
 * process is moved: a move would take a lock that blocks all forks of the system. */
#include "lib/host/process/cgroup.h"

#include "lib/base/xalloc.h"
#include "lib/base/clock.h"
#include "lib/host/process/pinning.h"
#include "lib/host/process/cgroup_mount.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>

struct cgroup {
	char *path;
	int fd;
	int events_fd;
	int stat_fd; /* kept open: it is read twice a sample */
	bool killed;
	uint64_t id;
};

/* The lock shows, in every namespace, that the cgroup has an owner; the kernel releases it when that ends. */
static int open_cgroup(struct cgroup *cgroup, struct error *err)
{
	struct stat st;

	cgroup->fd = open(cgroup->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (cgroup->fd < 0 || fstat(cgroup->fd, &st) < 0 || flock(cgroup->fd, LOCK_EX | LOCK_NB) < 0)
		return error_os(err, -errno, "cannot open the cgroup %s", cgroup->path);
	cgroup->id = st.st_ino;
	cgroup->events_fd = openat(cgroup->fd, "cgroup.events", O_RDONLY | O_CLOEXEC);
	if (cgroup->events_fd < 0)
		return error_os(err, -errno, "cannot open %s/cgroup.events", cgroup->path);
	cgroup->stat_fd = openat(cgroup->fd, "cpu.stat", O_RDONLY | O_CLOEXEC);
	if (cgroup->stat_fd < 0)
		return error_os(err, -errno, "cannot open %s/cpu.stat", cgroup->path);
	return 0;
}

/* Takes the path over; NULL where there is no memory. */
static struct cgroup *cgroup_at(char *path)
{
	struct cgroup *cgroup = path ? xmalloc(sizeof(*cgroup)) : NULL;

	if (cgroup)
		*cgroup = (struct cgroup){.path = path, .fd = -1, .events_fd = -1, .stat_fd = -1};
	else
		free(path);
	return cgroup;
}

/* Process ids are unique in their namespace only, so the name of a cgroup has its number. */
static uint64_t pid_namespace(void)
{
	struct stat st;

	return stat("/proc/self/ns/pid", &st) == 0 ? st.st_ino : 0;
}

static void close_cgroup(struct cgroup *cgroup)
{
	closep(&cgroup->events_fd);
	closep(&cgroup->stat_fd);
	closep(&cgroup->fd);
	free(cgroup->path);
	free(cgroup);
}

/* Those in `parent`, or all below it. */
static void each_abandoned(const char *parent, bool below, cgroup_each *each, void *data)
{
	_cleanup_(closedirp) DIR *dir = opendir(parent);
	struct dirent *entry;
	struct error ignored;

	while (dir && (entry = readdir(dir))) {
		_cleanup_(freep) char *path = text_format("%s/%s", parent, entry->d_name);
		struct cgroup *found = NULL;
		int end = 0;

		sscanf(entry->d_name, "emp-%*u-%*d-%*u%n", &end);
		if (end > 0 && !entry->d_name[end])
			found = cgroup_at(TAKE(path));
		else if (below && path && entry->d_type == DT_DIR && *entry->d_name != '.')
			each_abandoned(path, true, each, data);
		if (!found)
			continue;
		if (open_cgroup(found, &ignored) < 0) {
			close_cgroup(found);
		} else if (each) {
			each(found->path, data);
			close_cgroup(found);
		} else {
			cgroup_free(found);
		}
	}
}

void cgroup_each_abandoned(const char *directory, cgroup_each *each, void *data)
{
	each_abandoned(directory, true, each, data);
}

/* The caller's own cgroup, in which others can be made, or the partition that has the CPU. */
static int find_parent(char **ret, int cpu, struct error *err)
{
	if (cpu < 0 || !partition_has(AT_FDCWD, cpu))
		return cgroup_of(0, ret, err);
	*ret = partition_directory(AT_FDCWD);
	return *ret ? 0 : error_oom(err);
}

static int make_one(const char *parent, struct cgroup **ret, struct error *err)
{
	static unsigned count;
	struct cgroup *cgroup = cgroup_at(
		text_format("%s/emp-%" PRIu64 "-%d-%u", parent, pid_namespace(), getpid(), count++));
	int r = 0;

	if (!cgroup)
		return error_oom(err);
	if (mkdir(cgroup->path, 0755) < 0)
		r = error_os(err, -errno, "cannot make the cgroup %s", cgroup->path);
	if (r == 0)
		r = open_cgroup(cgroup, err);
	if (r < 0)
		close_cgroup(cgroup);
	else
		*ret = cgroup;
	return r;
}

/* Between mkdir and the lock, a neighbour may take the new one for abandoned. */
static int make_below(const char *parent, struct cgroup **ret, struct error *err)
{
	int r = -EEXIST;

	for (int i = 0; i < 100 && (r == -EEXIST || r == -ENOENT || r == -EWOULDBLOCK || r == -ENODEV); i++)
		r = make_one(parent, ret, err);
	return r;
}

/* Whether clone3, which starts programs in a cgroup, exists: then a size of 0 is EINVAL. */
static bool clone3_refused(void)
{
	return syscall(SYS_clone3, NULL, (size_t)0) < 0 && errno == ENOSYS;
}

int cgroup_new(struct cgroup **ret, struct error *err)
{
	return cgroup_new_on(ret, -1, err);
}

int cgroup_new_on(struct cgroup **ret, int cpu, struct error *err)
{
	_cleanup_(freep) char *parent = NULL;
	int r;

	if (clone3_refused())
		return error_say(err, -ENOSYS,
			"clone3, which starts a program in a cgroup, is refused here, as in many containers");
	r = find_parent(&parent, cpu, err);
	if (r < 0)
		return r;
	each_abandoned(parent, false, NULL, NULL);
	return make_below(parent, ret, err);
}

int cgroup_new_in(struct cgroup **ret, const struct cgroup *parent, struct error *err)
{
	return make_below(parent->path, ret, err);
}

int cgroup_renew(struct cgroup *cgroup, struct error *err)
{
	_cleanup_(freep) char *parent = NULL;
	_cleanup_(cgroup_freep) struct cgroup *fresh = NULL;
	struct cgroup old = *cgroup;
	int r;

	if (!cgroup->killed)
		return 0;
	parent = xstrndup(cgroup->path, (size_t)(strrchr(cgroup->path, '/') - cgroup->path));
	r = make_below(parent, &fresh, err);
	if (r < 0)
		return r;
	*cgroup = *fresh;
	*fresh = old; /* freed at the end of this */
	return 0;
}

static int remove_directory(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
	if (kind == FTW_DP)
		rmdir(path);
	return 0;
}

void cgroup_free(struct cgroup *cgroup)
{
	struct error ignored;

	if (!cgroup)
		return;
	if (cgroup->events_fd >= 0 && cgroup_populated(cgroup, &ignored) != 0) {
		cgroup_kill(cgroup, &ignored);
		cgroup_wait_empty(cgroup, 2000, &ignored);
	}
	if (rmdir(cgroup->path) < 0 && errno != ENOENT) /* the program made cgroups of its own below */
		nftw(cgroup->path, remove_directory, 8, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
	close_cgroup(cgroup);
}

int cgroup_fd(const struct cgroup *cgroup)
{
	return cgroup->fd;
}

uint64_t cgroup_id(const struct cgroup *cgroup)
{
	return cgroup->id;
}

const char *cgroup_path(const struct cgroup *cgroup)
{
	return cgroup->path;
}

/* A line of cpu.stat, "user_usec 6742", in ns; negative: there is none. Twice a sample, so without sscanf. */
static int64_t usage_of(const char *text, const char *name)
{
	const char *at = strstr(text, name);

	return at ? strtoll(at + strlen(name), NULL, 10) * NS_PER_US : -1;
}

int cgroup_usage(const struct cgroup *cgroup, struct cgroup_usage *ret, struct error *err)
{
	char text[512] = "";

	if (pread(cgroup->stat_fd, text, sizeof(text) - 1, 0) < 0)
		return error_os(err, -errno, "cannot read %s/cpu.stat", cgroup->path);
	*ret = (struct cgroup_usage){
		usage_of(text, "usage_usec "), usage_of(text, "user_usec "), usage_of(text, "system_usec ")};
	if (ret->usage_ns < 0 || ret->user_ns < 0 || ret->system_ns < 0)
		return error_say(err, -EPROTO, "%s/cpu.stat is not as the kernel documents it", cgroup->path);
	return 0;
}

int64_t cgroup_pressure_ns(const struct cgroup *cgroup, const char *resource)
{
	_cleanup_(freep) char *file = text_format("%s.pressure", resource), *text = NULL;
	const char *total;

	if (!file || text_read_file(cgroup->fd, file, &text) < 0)
		return -1;
	total = strstr(text, "total=");
	return total ? strtoll(total + strlen("total="), NULL, 10) * NS_PER_US : -1;
}

/* A process that has ended and was not reaped still names its cgroup, with " (deleted)" appended if it was removed.
 * `len`: of the cgroup's name, as much as matters. */
static bool is_named(const struct cgroup *cgroup, size_t len, pid_t pid)
{
	_cleanup_(freep) char *text = NULL, *name = xstrndup(strrchr(cgroup->path, '/'), len);
	const char *found;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/cgroup", pid);
	if (!name || text_read_file(AT_FDCWD, path, &text) < 0)
		return false;
	found = strstr(text, name);
	return found && (name[strlen(name) - 1] == '-' || strchr("/ \n", found[strlen(name)]));
}

bool cgroup_has(const struct cgroup *cgroup, pid_t pid)
{
	return is_named(cgroup, SIZE_MAX, pid);
}

/* All but the count. */
bool cgroup_is_ours(const struct cgroup *cgroup, pid_t pid)
{
	return is_named(cgroup, (size_t)(strrchr(cgroup->path, '-') + 1 - strrchr(cgroup->path, '/')), pid);
}

int cgroup_populated(const struct cgroup *cgroup, struct error *err)
{
	char text[128] = "";

	if (pread(cgroup->events_fd, text, sizeof(text) - 1, 0) < 0)
		return error_os(err, -errno, "cannot read %s/cgroup.events", cgroup->path);
	return strstr(text, "populated 1") != NULL;
}

bool cgroup_is_frozen(const struct cgroup *cgroup)
{
	char text[128] = "";

	return pread(cgroup->events_fd, text, sizeof(text) - 1, 0) > 0 && strstr(text, "frozen 1");
}

int cgroup_freeze(const struct cgroup *cgroup, bool freeze, struct error *err)
{
	_cleanup_(closep) int fd = openat(cgroup->fd, "cgroup.freeze", O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, freeze ? "1" : "0", 1) < 0)
		return error_os(err, -errno, "cannot write to %s/cgroup.freeze", cgroup->path);
	return 0;
}

int cgroup_count(const struct cgroup *cgroup, struct error *err)
{
	_cleanup_(freep) char *text = NULL;
	int r, n = 0;

	r = text_read_file(cgroup->fd, "cgroup.procs", &text);
	if (r < 0)
		return error_os(err, r, "cannot read %s/cgroup.procs", cgroup->path);
	for (const char *c = text; *c; c = strchrnul(c, '\n'), c += *c == '\n')
		n++;
	return n;
}

int cgroup_wait_empty(const struct cgroup *cgroup, int timeout_ms, struct error *err)
{
	int64_t give_up_ns = clock_ns(CLOCK_MONOTONIC) + timeout_ms * NS_PER_MS;
	int r;

	while ((r = cgroup_populated(cgroup, err)) > 0) {
		struct pollfd events = {.fd = cgroup->events_fd, .events = POLLPRI};
		int64_t left_ns = give_up_ns - clock_ns(CLOCK_MONOTONIC);

		if (left_ns <= 0)
			return 0;
		if (poll(&events, 1, (int)(left_ns / NS_PER_MS) + 1) < 0 && errno != EINTR)
			return error_os(err, -errno, "cannot wait for %s", cgroup->path);
	}
	return r < 0 ? r : 1;
}

/* Before Linux 5.14: kills one process after another until no new ones appear. */
static int kill_each(const struct cgroup *cgroup, struct error *err)
{
	for (int round = 0; round < 100; round++) {
		_cleanup_(freep) char *text = NULL;
		char *line, *rest;
		int r;

		r = text_read_file(cgroup->fd, "cgroup.procs", &text);
		if (r < 0)
			return error_os(err, r, "cannot read %s/cgroup.procs", cgroup->path);
		if (!*text)
			return 0;
		for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
			kill((pid_t)strtol(line, NULL, 10), SIGKILL);
		usleep(1000);
	}
	return error_say(err, -EBUSY, "processes in %s cannot be ended", cgroup->path);
}

int cgroup_kill(struct cgroup *cgroup, struct error *err)
{
	_cleanup_(closep) int fd = openat(cgroup->fd, "cgroup.kill", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return kill_each(cgroup, err);
	if (write(fd, "1", 1) < 0)
		return error_os(err, -errno, "cannot end the processes in %s", cgroup->path);
	cgroup->killed = true;
	return 0;
}
