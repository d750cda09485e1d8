/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The cgroup v2 of the program under test: see cgroup.h.
 *
 * cpu.stat exists without the cpu controller. CLONE_INTO_CGROUP (program.c) starts the program in the cgroup, so no
 * process is moved: a move would take a lock that blocks all forks of the system. */
#include "lib/host/process/cgroup.h"

#include "lib/base/number.h"
#include "lib/base/text.h"
#include "lib/base/xalloc.h"

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

/* Where cgroup v2 is mounted, and which cgroup a process is in. */

int cgroup_parse_mount(char *mounts, char **ret, struct error *err)
{
	bool outside = false;
	char *line, *rest;

	for (line = strtok_r(mounts, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		char mount[512], root[512];

		if (!strstr(line, " - cgroup2 ") || sscanf(line, "%*s %*s %*s %511s %511s", root, mount) != 2)
			continue;
		if (!strncmp(root, "/..", 3)) { /* of another cgroup namespace: our paths are not in it */
			outside = true;
			continue;
		}
		*ret = xstrdup(mount);
		return 0;
	}
	return error_say(err, -ENOTSUP,
		outside ? "cgroup v2 is mounted for another cgroup namespace only"
			: "no cgroup v2 is mounted");
}

int cgroup_parse_own(char *text, char **ret, struct error *err)
{
	char *line, *rest;

	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		if (!strncmp(line, "0::/", 4)) {
			*ret = xstrdup(line + 3);
			return 0;
		}
	return error_say(err, -ENOTSUP, "this process is in no cgroup v2");
}

static int parse_cgroup_file(int root_fd, const char *path,
	int (*parse)(char *text, char **ret, struct error *err), char **ret, struct error *err)
{
	_cleanup_(freep) char *text = NULL;
	int r = text_read_file(root_fd, path, &text);

	return r < 0 ? error_os(err, r, "cannot read %s", path) : parse(text, ret, err);
}

int cgroup_mount(int root_fd, char **ret, struct error *err)
{
	return parse_cgroup_file(root_fd, "/proc/self/mountinfo", cgroup_parse_mount, ret, err);
}

int cgroup_of(pid_t pid, char **ret, struct error *err)
{
	_cleanup_(freep) char *mount = NULL, *own = NULL;
	char file[64] = "/proc/self/cgroup";
	int r = cgroup_mount(AT_FDCWD, &mount, err);

	if (pid)
		snprintf(file, sizeof(file), "/proc/%d/cgroup", pid);
	if (r == 0)
		r = parse_cgroup_file(AT_FDCWD, file, cgroup_parse_own, &own, err);
	if (r < 0)
		return r;
	*ret = text_format("%s%s", mount, strcmp(own, "/") ? own : "");
	return 0;
}

struct cgroup {
	char *path;
	int fd;
	int events_fd;
	int stat_fd; /* kept open: it is read twice a sample */
	bool killed;
	uint64_t id;
};

/* The lock shows, in every namespace, that the cgroup has an owner; the kernel releases it when that ends. */
static int cgroup_open_at(struct cgroup *cgroup, struct error *err)
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

/* Takes the path over. */
static struct cgroup *cgroup_at(char *path)
{
	struct cgroup *cgroup = xmalloc(sizeof(*cgroup));

	*cgroup = (struct cgroup){.path = path, .fd = -1, .events_fd = -1, .stat_fd = -1};
	return cgroup;
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
		struct cgroup *found;
		int end = 0;

		sscanf(entry->d_name, "emp-%*u-%*d-%*u%n", &end);
		if (end == 0 || entry->d_name[end]) {
			if (below && entry->d_type == DT_DIR && *entry->d_name != '.')
				each_abandoned(path, true, each, data);
			continue;
		}
		found = cgroup_at(TAKE(path));
		if (cgroup_open_at(found, &ignored) < 0) {
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

static int make_cgroup(const char *parent, struct cgroup **ret, struct error *err)
{
	static unsigned count;
	struct cgroup *cgroup;
	struct stat st;
	int r;

	/* Process ids are unique in their namespace only, so the name of a cgroup has its number. */
	cgroup = cgroup_at(text_format("%s/emp-%" PRIu64 "-%d-%u", parent,
		stat("/proc/self/ns/pid", &st) == 0 ? (uint64_t)st.st_ino : 0, getpid(), count++));
	if (mkdir(cgroup->path, 0755) < 0)
		r = error_os(err, -errno, "cannot make the cgroup %s", cgroup->path);
	else
		r = cgroup_open_at(cgroup, err);
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
		r = make_cgroup(parent, ret, err);
	return r;
}

int cgroup_new(struct cgroup **ret, const char *directory, struct error *err)
{
	_cleanup_(freep) char *own = NULL;
	int r;

	/* Where clone3, which starts programs in a cgroup, exists, a size of 0 is EINVAL. */
	if (syscall(SYS_clone3, NULL, (size_t)0) < 0 && errno == ENOSYS)
		return error_say(err, -ENOSYS,
			"clone3, which starts a program in a cgroup, is refused here, as in many containers");
	r = directory ? 0 : cgroup_of(0, &own, err);
	if (r < 0)
		return r;
	each_abandoned(directory ?: own, false, NULL, NULL);
	return make_below(directory ?: own, ret, err);
}

int cgroup_new_in(struct cgroup **ret, const struct cgroup *parent, struct error *err)
{
	return make_below(parent->path, ret, err);
}

static char *cgroup_parent(const char *path)
{
	return xstrndup(path, (size_t)(strrchr(path, '/') - path));
}

int cgroup_renew(struct cgroup *cgroup, struct error *err)
{
	_cleanup_(freep) char *parent = NULL;
	_cleanup_(cgroup_freep) struct cgroup *fresh = NULL;
	struct cgroup old = *cgroup;
	int r;

	if (!cgroup->killed)
		return 0;
	parent = cgroup_parent(cgroup->path);
	r = make_below(parent, &fresh, err);
	if (r < 0)
		return r;
	*cgroup = *fresh;
	*fresh = old; /* freed at the end of this */
	return 0;
}

static int remove_cgroup_directory(const char *path, const struct stat *st, int kind, struct FTW *ftw)
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
		nftw(cgroup->path, remove_cgroup_directory, 8, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
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

	if (text_read_file(cgroup->fd, file, &text) < 0)
		return -1;
	total = strstr(text, "total=");
	return total ? strtoll(total + strlen("total="), NULL, 10) * NS_PER_US : -1;
}

/* A process that has ended and was not reaped still names its cgroup, with " (deleted)" appended if it was removed.
 * `len`: of the cgroup's name, as much as matters. */
static bool names_cgroup(const struct cgroup *cgroup, size_t len, pid_t pid)
{
	_cleanup_(freep) char *text = NULL, *name = xstrndup(strrchr(cgroup->path, '/'), len);
	const char *found;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/cgroup", pid);
	if (text_read_file(AT_FDCWD, path, &text) < 0)
		return false;
	found = strstr(text, name);
	return found && (name[strlen(name) - 1] == '-' || strchr("/ \n", found[strlen(name)]));
}

bool cgroup_has(const struct cgroup *cgroup, pid_t pid)
{
	return names_cgroup(cgroup, SIZE_MAX, pid);
}

/* All but the count. */
bool cgroup_is_ours(const struct cgroup *cgroup, pid_t pid)
{
	return names_cgroup(
		cgroup, (size_t)(strrchr(cgroup->path, '-') + 1 - strrchr(cgroup->path, '/')), pid);
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

int cgroup_kill(struct cgroup *cgroup, struct error *err)
{
	_cleanup_(closep) int fd = openat(cgroup->fd, "cgroup.kill", O_WRONLY | O_CLOEXEC);

	if (fd < 0) {
		/* Before Linux 5.14: kills one process after another until no new ones appear. */
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
	if (write(fd, "1", 1) < 0)
		return error_os(err, -errno, "cannot end the processes in %s", cgroup->path);
	cgroup->killed = true;
	return 0;
}

enum { CONTROLLERS_MOST = 4 };

DEFINE_FREEP(cgroup_controllers)

static const char way_out[] = "put 'systemd-run --scope -p Delegate=yes' before the command";

struct cgroup_controllers {
	const char *const *names;
	const char *switched_on[CONTROLLERS_MOST]; /* those that were not passed on before */
	size_t n_switched_on;
	char *parent;        /* of the leaf: the cgroup that this process was started in */
	struct cgroup *leaf; /* that it is in now */
	bool entered;
};

static int write_cgroup_file(const char *directory, const char *file, const char *text)
{
	_cleanup_(freep) char *path = text_format("%s/%s", directory, file);
	_cleanup_(closep) int fd = open(path, O_WRONLY | O_CLOEXEC);

	return fd < 0 || write(fd, text, strlen(text)) < 0 ? -errno : 0;
}

/* Whether `file`, a list of controllers with blanks between them, has the name. */
static bool lists_controller(const char *directory, const char *file, const char *name)
{
	_cleanup_(freep) char *path = text_format("%s/%s", directory, file), *list = NULL;
	char *rest;

	if (text_read_file(AT_FDCWD, path, &list) < 0)
		return false;
	for (char *word = strtok_r(list, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
		if (!strcmp(word, name))
			return true;
	return false;
}

/* Whether a cgroup above this one has the controller, which then was not passed on to this one. */
static bool has_controller_above(const char *directory, const char *name)
{
	_cleanup_(freep) char *above = cgroup_parent(directory);

	return *above &&
	       (lists_controller(above, "cgroup.controllers", name) || has_controller_above(above, name));
}

static int pass_on_controller(const char *directory, const char *name, struct error *err)
{
	_cleanup_(freep) char *plus = text_format("+%s", name);
	int r = write_cgroup_file(directory, "cgroup.subtree_control", plus);

	if (r == -EBUSY)
		return error_say(err, r,
			"the cgroup %s has other processes, so it cannot pass on the %s controller: %s",
			directory, name, way_out);
	return r < 0 ? error_os(err, r, "the cgroup %s cannot pass on the %s controller", directory, name)
		     : 0;
}

int cgroup_controllers_new(struct cgroup_controllers **ret, const char *const *names, struct error *err)
{
	_cleanup_(cgroup_controllers_freep) struct cgroup_controllers *c = xcalloc(1, sizeof(*c));
	int r = cgroup_new(&c->leaf, NULL, err);

	if (r < 0)
		return r;
	c->parent = cgroup_parent(c->leaf->path);
	for (size_t i = 0; names[i]; i++) {
		if (lists_controller(c->parent, "cgroup.controllers", names[i]))
			continue;
		if (has_controller_above(c->parent, names[i]))
			return error_say(err, -ENOTSUP, "the cgroup %s was not given the %s controller: %s",
				c->parent, names[i], way_out);
		return error_say(err, -ENOTSUP,
			"cgroup v2 has no %s controller here: it is in use by version 1, or switched off (see /proc/cgroups)",
			names[i]);
	}
	r = write_cgroup_file(c->leaf->path, "cgroup.procs", "0");
	if (r < 0)
		return error_os(err, r, "cannot enter the cgroup %s", c->leaf->path);
	c->entered = true;
	for (c->names = names; *names; names++) {
		if (lists_controller(c->parent, "cgroup.subtree_control", *names))
			continue;
		r = pass_on_controller(c->parent, *names, err);
		if (r < 0)
			return r;
		c->switched_on[c->n_switched_on++] = *names;
	}
	*ret = TAKE(c);
	return 0;
}

int cgroup_controllers_pass_on(const struct cgroup_controllers *c, const struct cgroup *to, struct error *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && c->names[i]; i++)
		r = pass_on_controller(to->path, c->names[i], err);
	return r;
}

void cgroup_controllers_free(struct cgroup_controllers *c)
{
	if (!c)
		return;
	while (c->n_switched_on >
		0) { /* fails if another observer passes it on as well, which will end later */
		_cleanup_(freep) char *minus = text_format("-%s", c->switched_on[--c->n_switched_on]);

		write_cgroup_file(c->parent, "cgroup.subtree_control", minus);
	}
	/* The cgroup cannot be removed with this process in it: the next observer will. */
	if (!c->entered || write_cgroup_file(c->parent, "cgroup.procs", "0") == 0)
		cgroup_free(c->leaf);
	free(c->parent);
	free(c);
}

int cgroup_limit(const struct cgroup *cgroup, const char *file, int64_t value, struct error *err)
{
	_cleanup_(closep) int fd = openat(cgroup->fd, file, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || dprintf(fd, "%" PRId64, value) < 0)
		return error_os(err, -errno, "cannot set %s of the cgroup to %" PRId64, file, value);
	return 0;
}

int64_t cgroup_oom_kills(const struct cgroup *cgroup)
{
	static const char name[] = "\noom_kill ";
	_cleanup_(freep) char *text = NULL;
	const char *at;

	if (text_read_file(cgroup->fd, "memory.events", &text) < 0)
		return 0;
	at = strstr(text, name);
	return at ? strtoll(at + strlen(name), NULL, 10) : 0;
}

enum { PATH_LENGTH = 512, USUAL_WEIGHT = 100, USUAL_SHARES = 1024 };

/* Where a hierarchy is mounted, and which of its groups is visible there. */
struct hierarchy {
	char root[PATH_LENGTH], point[PATH_LENGTH];
	bool v2;
};

/* Whether a comma-separated list has "cpu". */
static bool has_cpu(const char *list)
{
	for (const char *p = list; *p; p += strcspn(p, ","), p += *p == ',')
		if (!strncmp(p, "cpu", 3) && strchr(", \n", p[3]))
			return true;
	return false;
}

/* One line of mountinfo: "36 32 0:31 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw". Version 1 lists_controller the controllers of
 * a hierarchy last. */
static bool parse_hierarchy(const char *line, struct hierarchy *ret)
{
	const char *type = strstr(line, " - cgroup"), *options;

	if (!type || sscanf(line, "%*s %*s %*s %511s %511s", ret->root, ret->point) != 2)
		return false;
	ret->v2 = !strncmp(type, " - cgroup2 ", 11);
	options = strrchr(line, ' ');
	return ret->v2 || has_cpu(options + 1);
}

/* The group of this process in the hierarchy; the caller frees it. "0::/a" in version 2, "4:cpu,cpuacct:/a" in 1. */
static char *own_group_in(const char *groups, bool v2)
{
	for (const char *line = groups; *line; line = strchrnul(line, '\n'), line += *line == '\n') {
		const char *list = strchr(line, ':'), *path = list ? strchr(list + 1, ':') : NULL;
		_cleanup_(freep) char *controllers = path ? xstrndup(list + 1, (size_t)(path - list - 1))
							  : NULL;

		if (!controllers || !(v2 ? !strncmp(line, "0::", 3) : has_cpu(controllers)))
			continue;
		return xstrndup(path + 1, strcspn(path + 1, "\n"));
	}
	return NULL;
}

static int64_t read_group_int(int root_fd, const char *directory, const char *name)
{
	_cleanup_(freep) char *path = text_format("%s/%s", directory, name);
	int64_t value;

	return text_read_int(root_fd, path, &value) == 0 ? value : -1;
}

/* In CPUs; 0: no limit. */
static double read_quota(int root_fd, const char *directory, bool v2)
{
	_cleanup_(freep) char *path = text_format("%s/cpu.max", directory), *text = NULL;
	int64_t quota = -1, period = 0;

	if (!v2) {
		quota = read_group_int(root_fd, directory, "cpu.cfs_quota_us");
		period = read_group_int(root_fd, directory, "cpu.cfs_period_us");
	} else if (text_read_file(root_fd, path, &text) < 0 ||
		   sscanf(text, "%" SCNd64 " %" SCNd64, &quota, &period) != 2) /* "max 100000" */
		return 0;
	return quota > 0 && period > 0 ? (double)quota / (double)period : 0;
}

static void read_group(struct cgroup_limits *l, int root_fd, const char *directory, bool v2)
{
	double quota = read_quota(root_fd, directory, v2);
	int64_t weight = read_group_int(root_fd, directory, v2 ? "cpu.weight" : "cpu.shares");

	if (quota > 0 && (l->quota <= 0 || quota < l->quota)) {
		free(l->quota_of);
		l->quota_of = xstrdup(directory);
		l->quota = quota;
	}
	if (weight < 0)
		return;
	weight = weight * 100 / (v2 ? USUAL_WEIGHT : USUAL_SHARES);
	if (weight < 100 && (l->weight < 0 || weight < l->weight)) {
		free(l->weight_of);
		l->weight_of = xstrdup(directory);
	}
	l->weight = l->weight < 0 || weight < l->weight ? weight : l->weight;
}

int cgroup_limits_read(struct cgroup_limits *ret, int root_fd)
{
	_cleanup_(freep) char *mounts = NULL, *groups = NULL;
	struct cgroup_limits l = {.weight = -1};
	bool any = false;
	int r = text_read_file(root_fd, "/proc/self/mountinfo", &mounts);

	if (r == 0)
		r = text_read_file(root_fd, "/proc/self/cgroup", &groups);
	if (r < 0)
		return r;
	for (char *rest, *line = strtok_r(mounts, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		_cleanup_(freep) char *group = NULL, *directory = NULL;
		const char *below;
		struct hierarchy m;
		size_t len;

		if (parse_hierarchy(line, &m))
			group = own_group_in(groups, m.v2);
		if (!group)
			continue;
		any = true;
		/* The group's directory: its path below the group that is mounted. */
		len = strlen(m.root);
		below = len > 1 && !strncmp(group, m.root, len) && strchr("/", group[len]) ? group + len
											   : group;
		directory = text_format("%s%s", m.point, strcmp(below, "/") ? below : "");
		/* That group and all above it that are visible. */
		for (;;) {
			char *slash = strrchr(directory, '/');

			read_group(&l, root_fd, directory, m.v2);
			if (strlen(directory) <= strlen(m.point) || !slash)
				break;
			*slash = '\0';
		}
	}
	if (!any)
		return -ENOENT;
	*ret = l;
	return 0;
}

void cgroup_limits_clear(struct cgroup_limits *l)
{
	free(l->quota_of);
	free(l->weight_of);
	*l = (struct cgroup_limits){};
}
