/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The cgroup v2 of the program under test: see cgroup.h.
 *
 * cpu.stat exists without the cpu controller. CLONE_INTO_CGROUP (launch.c) starts the program
 * in the cgroup, so no process is moved: a move would take a lock that blocks all forks of the
 * system. */
#include "lib/host/process/cgroup.h"

#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/syscall.h>

/* A hierarchy of cgroups, as a line of mountinfo has it: "36 32 0:31 / /sys/fs/cgroup rw - cgroup2
 * cgroup2 rw". */
struct hierarchy {
	char root[512], point[512]; /* which of its groups is visible, and where */
	bool v2;
};

/* Whether the line is of cgroup v2, or of that controller in version 1, which lists the controllers
 * of a hierarchy last. */
static bool parse_hierarchy(const char *line, const char *controller, struct hierarchy *ret)
{
	const char *type = strstr(line, " - cgroup");

	if (!type || sscanf(line, "%*s %*s %*s %511s %511s", ret->root, ret->point) != 2)
		return false;
	ret->v2 = !strncmp(type, " - cgroup2 ", 11);
	return ret->v2 || text_has_word(strrchr(line, ' ') + 1, controller);
}

/* The directory of a group of the hierarchy, by the text of /proc/PID/cgroup: "0::/a" in version 2,
 * "4:cpu,cpuacct:/a" in 1. The caller frees it. NULL: the process is in none. */
static char *group_directory(const struct hierarchy *h, const char *controller, const char *groups)
{
	const size_t len = strlen(h->root);

	for (const char *line = groups; *line;
		line = strchrnul(line, '\n'), line += *line == '\n') {
		const char *list = strchr(line, ':'), *path = list ? strchr(list + 1, ':') : NULL;
		_cleanup_(freep) char *controllers = NULL, *group = NULL;
		const char *below;

		if (!path)
			continue;
		controllers = xstrndup(list + 1, (size_t)(path - list - 1));
		if (!(h->v2 ? !strncmp(line, "0::/", 4) : text_has_word(controllers, controller)))
			continue;
		below = group = xstrndup(path + 1, strcspn(path + 1, "\n"));
		if (len > 1 && !strncmp(group, h->root, len) && strchr("/", group[len]))
			below += len; /* of the group that is mounted */
		return text_format("%s%s", h->point, strcmp(below, "/") ? below : "");
	}
	return NULL;
}

static int find_v2(int root_fd, struct hierarchy *ret, struct error *err)
{
	_cleanup_(freep) char *mounts = NULL;
	bool outside = false;
	int r = path_read_text(root_fd, err, &mounts, "/proc/self/mountinfo");

	if (r < 0)
		return r;
	for (char *rest = mounts, *line; (line = strsep(&rest, "\n"));) {
		if (!parse_hierarchy(line, "", ret) || !ret->v2)
			continue;
		if (strncmp(ret->root, "/..", 3) != 0)
			return 0;
		outside = true; /* of another cgroup namespace: our paths are not in it */
	}
	return error_say(err, -ENOTSUP,
		outside ? "cgroup v2 is mounted for another cgroup namespace only"
			: "no cgroup v2 is mounted");
}

int cgroup_mount(int root_fd, char **ret, struct error *err)
{
	struct hierarchy h;
	int r = find_v2(root_fd, &h, err);

	if (r == 0)
		*ret = xstrdup(h.point);
	return r;
}

int cgroup_of(pid_t pid, char **ret, struct error *err)
{
	_cleanup_(freep) char *groups = NULL;
	char process[16] = "self";
	struct hierarchy h;
	int r = find_v2(AT_FDCWD, &h, err);

	if (pid)
		snprintf(process, sizeof(process), "%d", pid);
	if (r == 0)
		r = path_read_text(AT_FDCWD, err, &groups, "/proc/%s/cgroup", process);
	if (r < 0)
		return r;
	*ret = group_directory(&h, "", groups);
	return *ret ? 0 : error_say(err, -ENOTSUP, "this process is in no cgroup v2");
}

static void close_cgroup(struct cgroup *cgroup)
{
	closep(&cgroup->events_fd);
	closep(&cgroup->stat_fd);
	closep(&cgroup->fd);
	free(cgroup->path);
	free(cgroup);
}

/* The lock shows, in every namespace, that the cgroup has an owner; the kernel releases it when
 * that ends. */
static int open_cgroup(struct cgroup **ret, const char *path, struct error *err)
{
	struct cgroup *c = xmalloc(sizeof(*c));
	struct stat st;
	int r = 0;

	*c = (struct cgroup){.path = xstrdup(path), .events_fd = -1, .stat_fd = -1};
	c->fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (c->fd < 0 || fstat(c->fd, &st) < 0 || flock(c->fd, LOCK_EX | LOCK_NB) < 0)
		r = error_os(err, -errno, "cannot open the cgroup %s", path);
	else if ((c->events_fd = openat(c->fd, "cgroup.events", O_RDONLY | O_CLOEXEC)) < 0)
		r = error_os(err, -errno, "cannot open %s/cgroup.events", path);
	else if ((c->stat_fd = openat(c->fd, "cpu.stat", O_RDONLY | O_CLOEXEC)) < 0)
		r = error_os(err, -errno, "cannot open %s/cpu.stat", path);
	if (r < 0) {
		close_cgroup(c);
		return r;
	}
	c->id = st.st_ino;
	*ret = c;
	return 0;
}

void cgroups_abandoned(struct paths *ret, const char *directory, bool below)
{
	_cleanup_(closedirp) DIR *dir = opendir(directory);
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		_cleanup_(freep) char *path = text_format("%s/%s", directory, entry->d_name);
		struct cgroup *found;
		int end = 0;

		sscanf(entry->d_name, "emp-%*u-%*d-%*u%n", &end);
		if (end == 0 || entry->d_name[end]) {
			if (below && entry->d_type == DT_DIR && *entry->d_name != '.')
				cgroups_abandoned(ret, path, true);
		} else if (open_cgroup(&found, path, NULL) == 0) {
			if (!ret) {
				cgroup_free(found);
				continue;
			}
			close_cgroup(found);
			*array_add(ret->items, ret->n) = TAKE(path);
		}
	}
}

int cgroup_new_in(struct cgroup **ret, const char *parent, struct error *err)
{
	static unsigned count;
	struct stat st;
	int r = -EEXIST;

	/* Between mkdir and the lock, a neighbour may take the new one for abandoned. */
	for (int i = 0;
		i < 100 && (r == -EEXIST || r == -ENOENT || r == -EWOULDBLOCK || r == -ENODEV);
		i++) {
		/* Process ids are unique in their namespace only, so the name of a cgroup has its
		 * number. */
		_cleanup_(freep) char *path = text_format("%s/emp-%" PRIu64 "-%d-%u", parent,
			stat("/proc/self/ns/pid", &st) == 0 ? (uint64_t)st.st_ino : 0, getpid(),
			count++);

		r = mkdir(path, 0755) < 0 ? error_os(err, -errno, "cannot make the cgroup %s", path)
					  : open_cgroup(ret, path, err);
	}
	return r;
}

int cgroup_new(struct cgroup **ret, const char *directory, struct error *err)
{
	_cleanup_(freep) char *own = NULL;
	int r;

	/* Where clone3, which starts programs in a cgroup, exists, a size of 0 is EINVAL. */
	if (syscall(SYS_clone3, NULL, (size_t)0) < 0 && errno == ENOSYS)
		return error_say(err, -ENOSYS,
			"clone3, which starts a program in a cgroup, is refused here, "
			"as in many containers");
	r = directory ? 0 : cgroup_of(0, &own, err);
	if (r < 0)
		return r;
	cgroups_abandoned(NULL, directory ?: own, false);
	return cgroup_new_in(ret, directory ?: own, err);
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
	r = cgroup_new_in(&fresh, parent, err);
	if (r < 0)
		return r;
	*cgroup = *fresh;
	*fresh = old; /* freed at the end of this */
	return 0;
}

static int remove_cgroup_directory(
	const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
	if (kind == FTW_DP)
		rmdir(path);
	return 0;
}

void cgroup_free(struct cgroup *cgroup)
{
	if (!cgroup)
		return;
	if (cgroup_is(cgroup, "populated", NULL) != 0) {
		cgroup_kill(cgroup, NULL);
		cgroup_wait_empty(cgroup, 2000, NULL);
	}
	/* the program made cgroups of its own below */
	if (rmdir(cgroup->path) < 0 && errno != ENOENT)
		nftw(cgroup->path, remove_cgroup_directory, 8, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
	close_cgroup(cgroup);
}

/* The number after a name, "user_usec 6742"; negative: there is none. Twice a sample, so without
 * sscanf. */
static int64_t number_after(const char *text, const char *name)
{
	const char *at = strstr(text, name);

	return at ? strtoll(at + strlen(name), NULL, 10) : -1;
}

int cgroup_usage(const struct cgroup *cgroup, struct cgroup_usage *ret, struct error *err)
{
	char text[512] = "";

	if (pread(cgroup->stat_fd, text, sizeof(text) - 1, 0) < 0)
		return error_os(err, -errno, "cannot read %s/cpu.stat", cgroup->path);
	*ret = (struct cgroup_usage){number_after(text, "usage_usec ") * NS_PER_US,
		number_after(text, "user_usec ") * NS_PER_US,
		number_after(text, "system_usec ") * NS_PER_US};
	if (ret->usage_ns < 0 || ret->user_ns < 0 || ret->system_ns < 0)
		return error_say(err, -EPROTO, "%s/cpu.stat is not as the kernel documents it",
			cgroup->path);
	return 0;
}

/* A process that has ended and was not reaped still names its cgroup, with " (deleted)" appended if
 * it was removed. */
bool cgroup_has(const struct cgroup *cgroup, pid_t pid, bool any_of_ours)
{
	const char *last = strrchr(cgroup->path, '/'), *found;
	size_t len = any_of_ours ? (size_t)(strrchr(last, '-') + 1 - last)
				 : strlen(last); /* ours: all but the count */
	_cleanup_(freep) char *text = path_text(AT_FDCWD, "/proc/%d/cgroup", pid),
			      *name = xstrndup(last, len);

	found = text ? strstr(text, name) : NULL;
	return found && (any_of_ours || strchr("/ \n", found[len]));
}

int cgroup_is(const struct cgroup *cgroup, const char *state, struct error *err)
{
	char text[128] = "";

	if (pread(cgroup->events_fd, text, sizeof(text) - 1, 0) < 0)
		return error_os(err, -errno, "cannot read %s/cgroup.events", cgroup->path);
	return number_after(text, state) == 1;
}

int cgroup_wait_empty(const struct cgroup *cgroup, int timeout_ms, struct error *err)
{
	int64_t give_up_ns = clock_ns(CLOCK_MONOTONIC) + timeout_ms * NS_PER_MS;
	int r;

	while ((r = cgroup_is(cgroup, "populated", err)) > 0) {
		struct pollfd events = {.fd = cgroup->events_fd, .events = POLLPRI};
		int64_t left_ns = give_up_ns - clock_ns(CLOCK_MONOTONIC);

		if (left_ns <= 0)
			return 0;
		if (poll(&events, 1, (int)(left_ns / NS_PER_MS) + 1) < 0 && errno != EINTR)
			return error_os(err, -errno, "cannot wait for %s", cgroup->path);
	}
	return r < 0 ? r : 1;
}

/* The processes of the group in a directory, and of those below it. Groups that end meanwhile have
 * none; nor have threaded ones, whose processes are those of a group above. */
static int signal_below(int directory, int signal)
{
	_cleanup_(freep) char *text = NULL;
	_cleanup_(closedirp) DIR *dir = NULL;
	struct dirent *entry;
	int n = 0, fd;

	path_read_text(directory, NULL, &text, "cgroup.procs");
	for (const char *line = text ?: ""; *line;
		line = strchrnul(line, '\n'), line += *line == '\n', n++)
		if (signal)
			kill((pid_t)strtol(line, NULL, 10), signal);
	fd = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	dir = fd < 0 ? NULL : fdopendir(fd);
	while (dir && (entry = readdir(dir))) {
		_cleanup_(closep) int below = -1;

		if (entry->d_type != DT_DIR || *entry->d_name == '.')
			continue;
		below = openat(directory, entry->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		n += below < 0 ? 0 : signal_below(below, signal);
	}
	return n;
}

int cgroup_signal(const struct cgroup *cgroup, int signal, struct error *err)
{
	if (faccessat(cgroup->fd, "cgroup.procs", R_OK, 0) < 0)
		return error_os(err, -errno, "cannot read %s/cgroup.procs", cgroup->path);
	return signal_below(cgroup->fd, signal);
}

int cgroup_kill(struct cgroup *cgroup, struct error *err)
{
	int r = path_write(cgroup->fd, "1", "cgroup.kill");

	if (r < 0 && r != -ENOENT)
		return error_os(err, r, "cannot end the processes in %s", cgroup->path);
	cgroup->killed = r == 0;
	/* Before Linux 5.14: kills one process after another until no new ones appear. */
	for (int round = 0; !cgroup->killed && round < 100; round++) {
		int n = cgroup_signal(cgroup, SIGKILL, err);

		if (n <= 0)
			return n;
		usleep(1000);
	}
	if (!cgroup->killed)
		return error_say(err, -EBUSY, "processes in %s cannot be ended", cgroup->path);
	return 0;
}

int cgroup_set(const struct cgroup *cgroup, const char *file, int64_t value, struct error *err)
{
	_cleanup_(freep) char *text = text_format("%" PRId64, value);
	int r = path_write(cgroup->fd, text, "%s", file);

	return r < 0 ? error_os(err, r, "cannot set %s of the cgroup %s to %s", file, cgroup->path,
			       text)
		     : 0;
}

static void read_group(struct cgroup_limits *l, int root_fd, const char *directory, bool v2)
{
	enum { USUAL_WEIGHT = 100, USUAL_SHARES = 1024 };
	int64_t quota = -1, period = 0;
	int64_t weight = path_int(root_fd, "%s/%s", directory, v2 ? "cpu.weight" : "cpu.shares");

	if (v2) {
		_cleanup_(freep) char *text = path_text(root_fd, "%s/cpu.max", directory);

		if (text && sscanf(text, "%" SCNd64 " %" SCNd64, &quota, &period) != 2)
			quota = -1; /* "max 100000" */
	} else {
		quota = path_int(root_fd, "%s/cpu.cfs_quota_us", directory);
		period = path_int(root_fd, "%s/cpu.cfs_period_us", directory);
	}
	if (quota > 0 && period > 0 &&
		(!l->quota_of || (double)quota / (double)period < l->quota)) {
		free(l->quota_of);
		l->quota_of = xstrdup(directory);
		l->quota = (double)quota / (double)period;
	}
	if (weight < 0)
		return;
	weight = weight * 100 / (v2 ? USUAL_WEIGHT : USUAL_SHARES);
	if (l->weight >= 0 && weight >= l->weight)
		return;
	l->weight = weight;
	if (weight < 100) {
		free(l->weight_of);
		l->weight_of = xstrdup(directory);
	}
}

int cgroups_above_find(struct cgroups_above *ret, int root_fd, const char *controller)
{
	_cleanup_(freep) char *mounts = NULL, *groups = NULL;
	int r = path_read_text(root_fd, NULL, &mounts, "/proc/self/mountinfo");

	*ret = (struct cgroups_above){};
	if (r == 0)
		r = path_read_text(root_fd, NULL, &groups, "/proc/self/cgroup");
	if (r < 0)
		return r;
	for (char *rest = mounts, *line; (line = strsep(&rest, "\n"));) {
		_cleanup_(freep) char *directory = NULL;
		struct hierarchy h;
		size_t len;

		if (parse_hierarchy(line, controller, &h))
			directory = group_directory(&h, controller, groups);
		if (!directory)
			continue;
		/* That group and all above it that are visible. */
		len = strlen(h.point);
		for (char *slash;; *slash = '\0') {
			const char *below = strlen(directory) > len ? directory + len : "";
			const char *first = strcmp(h.root, "/") || !*below ? h.root : "";

			*array_add(ret->items, ret->n) = (struct cgroup_above){
				xstrdup(directory), text_format("%s%s", first, below), h.v2};
			slash = strrchr(directory, '/');
			if (strlen(directory) <= len || !slash)
				break;
		}
	}
	return ret->n > 0 ? 0 : -ENOENT;
}

void cgroups_above_clear(struct cgroups_above *above)
{
	for (size_t i = 0; i < above->n; i++) {
		free(above->items[i].directory);
		free(above->items[i].name);
	}
	free(above->items);
	*above = (struct cgroups_above){};
}

int cgroup_limits_read(struct cgroup_limits *ret, int root_fd)
{
	_cleanup_(cgroups_above_clear) struct cgroups_above above = {};
	struct cgroup_limits l = {.weight = -1};
	int r = cgroups_above_find(&above, root_fd, "cpu");

	if (r < 0)
		return r;
	for (size_t i = 0; i < above.n; i++)
		read_group(&l, root_fd, above.items[i].directory, above.items[i].v2);
	*ret = l;
	return 0;
}

void cgroup_limits_clear(struct cgroup_limits *l)
{
	free(l->quota_of);
	free(l->weight_of);
	*l = (struct cgroup_limits){};
}
