/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A made-up /sys/devices/system/cpu that answers writes as the kernel does: one write is one value, unknown
 * governors are refused, limits are clamped, some settings change others. Plain files do not do for that:
 * sysfs is written without truncation. Mounted with FUSE over a directory of plain files that tests make
 * (fake_cpu.sh). Usage: fake_cpu FILES MOUNTPOINT
 *
 * FILES/.faults has lines "PATH ERRNO [COUNT]": writes to PATH fail so, COUNT times. FILES/.writes gets a
 * line "PATH VALUE RESULT" for each write. */
#define FUSE_USE_VERSION 31

#include "lib/base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <fuse.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

enum { VALUE_SIZE = 512, MOST_POLICIES = 4 };

static int files; /* the directory of plain files */

static const char *below(const char *path)
{
	return path[1] ? path + 1 : ".";
}

static void get(const char *path, char value[VALUE_SIZE])
{
	_cleanup_(closep) int fd = openat(files, path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, value, VALUE_SIZE - 1);

	value[n > 0 ? n : 0] = '\0';
	value[strcspn(value, "\n")] = '\0';
}

static int put(const char *path, const char *value)
{
	_cleanup_(closep) int fd = openat(files, path, O_WRONLY | O_TRUNC | O_CLOEXEC);

	return fd < 0 ? -errno : dprintf(fd, "%s\n", value) < 0 ? -EIO : 0;
}

/* The file `name` beside `path`. */
static const char *beside(const char *path, const char *name, char buffer[PATH_MAX])
{
	const char *slash = strrchr(path, '/');

	snprintf(buffer, PATH_MAX, "%.*s%s", slash ? (int)(slash - path + 1) : 0, path, name);
	return buffer;
}

static long number_beside(const char *path, const char *name)
{
	char other[PATH_MAX], value[VALUE_SIZE];

	get(beside(path, name, other), value);
	return atol(value);
}

static bool is_listed(const char *path, const char *list_name, const char *word)
{
	char list[PATH_MAX], value[VALUE_SIZE], *rest = value, *item;

	get(beside(path, list_name, list), value);
	while ((item = strsep(&rest, " ")))
		if (!strcmp(item, word))
			return true;
	return false;
}

/* The fault that is ordered for this path, counted down in its file; 0: none. */
static int fault(const char *path)
{
	_cleanup_(fclosep) FILE *in = NULL;
	char kept[4096] = "", line[PATH_MAX + 32], name[PATH_MAX];
	int fd = openat(files, ".faults", O_RDONLY | O_CLOEXEC), r = 0;
	size_t len = 0;

	in = fd < 0 ? NULL : fdopen(fd, "r");
	while (in && fgets(line, sizeof(line), in)) {
		int error, count = INT_MAX, n = sscanf(line, "%4095s %d %d", name, &error, &count);

		if (n >= 2 && r == 0 && count > 0 && !strcmp(name, path)) {
			r = -error;
			count--;
		}
		if (n == 3)
			snprintf(line, sizeof(line), "%.4000s %d %d\n", name, error, count);
		len += (size_t)snprintf(kept + len, sizeof(kept) - len, "%s", line);
		if (len >= sizeof(kept))
			abort(); /* more orders than fit */
	}
	if (r < 0)
		put(".faults", kept);
	return r;
}

static int store_governor(const char *path, const char *value)
{
	char epp[PATH_MAX];

	if (!is_listed(path, "scaling_available_governors", value))
		return -EINVAL;
	if (!strcmp(value, "performance")) /* and intel_pstate sets its preference with it */
		put(beside(path, "energy_performance_preference", epp), "performance");
	return 0;
}

static int store_limit(const char *path, char value[VALUE_SIZE], bool lower)
{
	long khz = atol(value), least = number_beside(path, "cpuinfo_min_freq"),
	     most = number_beside(path, "cpuinfo_max_freq");
	long other = number_beside(path, lower ? "scaling_max_freq" : "scaling_min_freq");

	if (khz <= 0)
		return -EINVAL;
	khz = khz < least ? least : khz > most ? most : khz;
	khz = lower && khz > other ? other : !lower && khz < other ? other : khz;
	snprintf(value, VALUE_SIZE, "%ld", khz);
	return 0;
}

static int store_preference(const char *path, const char *value)
{
	char governor[PATH_MAX], held[VALUE_SIZE];

	if (!is_listed(path, "energy_performance_available_preferences", value))
		return -EINVAL;
	get(beside(path, "scaling_governor", governor), held);
	return !strcmp(held, "performance") && strcmp(value, "performance") != 0 ? -EBUSY : 0;
}

static int store_switch(const char *value)
{
	return strcmp(value, "0") != 0 && strcmp(value, "1") != 0 ? -EINVAL : 0;
}

/* The turbo switch of all policies: Linux 6.7 and later write it into every policy that is online. */
static int store_boost(const char *value)
{
	char held[VALUE_SIZE], path[PATH_MAX], cpus[VALUE_SIZE];

	get("cpufreq/boost", held);
	for (int i = 0; i < MOST_POLICIES && strcmp(held, value) != 0; i++) {
		snprintf(path, sizeof(path), "cpufreq/policy%d/affected_cpus", i);
		get(path, cpus);
		snprintf(path, sizeof(path), "cpufreq/policy%d/boost", i);
		if (*cpus && faccessat(files, path, F_OK, 0) == 0)
			put(path, value);
	}
	return store_switch(value);
}

/* And that of one policy cannot be written while the other one is off. */
static int store_policy_boost(const char *value)
{
	char all[VALUE_SIZE];

	get("cpufreq/boost", all);
	return !strcmp(all, "0") ? -EINVAL : store_switch(value);
}

static int store_smt(const char *value)
{
	bool off = !strcmp(value, "off");

	if (!off && strcmp(value, "on") != 0)
		return -EINVAL;
	return put("smt/active", off ? "0" : "1");
}

/* What the kernel does with a value; may change it. */
static int store(const char *path, char value[VALUE_SIZE])
{
	const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	int r = fault(path);

	if (r < 0)
		return r;
	if (!strcmp(name, "scaling_governor"))
		r = store_governor(path, value);
	else if (!strcmp(name, "scaling_min_freq") || !strcmp(name, "scaling_max_freq"))
		r = store_limit(path, value, strstr(name, "min"));
	else if (!strcmp(name, "energy_performance_preference"))
		r = store_preference(path, value);
	else if (!strcmp(path, "cpufreq/boost"))
		r = store_boost(value);
	else if (!strcmp(name, "boost"))
		r = store_policy_boost(value);
	else if (!strcmp(name, "no_turbo") || !strcmp(name, "hwp_dynamic_boost"))
		r = store_switch(value);
	else if (!strcmp(path, "smt/control"))
		r = store_smt(value);
	return r < 0 ? r : put(path, value);
}

static int fake_getattr(const char *path, struct stat *st, struct fuse_file_info *info)
{
	if (fstatat(files, below(path), st, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	if (S_ISREG(st->st_mode))
		st->st_size = 4096; /* as sysfs has it */
	return 0;
}

static int fake_readlink(const char *path, char *buffer, size_t size)
{
	ssize_t n = readlinkat(files, below(path), buffer, size - 1);

	if (n < 0)
		return -errno;
	buffer[n] = '\0';
	return 0;
}

static int fake_readdir(const char *path, void *buffer, fuse_fill_dir_t fill, off_t offset,
	struct fuse_file_info *info, enum fuse_readdir_flags flags)
{
	int fd = openat(files, below(path), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_cleanup_(closedirp) DIR *directory = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	if (!directory)
		return -errno;
	while ((entry = readdir(directory)))
		if (entry->d_name[0] != '.' || entry->d_name[1] == '\0' || entry->d_name[1] == '.')
			fill(buffer, entry->d_name, NULL, 0, 0);
	return 0;
}

static int fake_open(const char *path, struct fuse_file_info *info)
{
	struct stat st;

	info->direct_io = 1;
	return fstatat(files, below(path), &st, 0) < 0 ? -errno : 0;
}

static int fake_read(const char *path, char *buffer, size_t size, off_t offset, struct fuse_file_info *info)
{
	_cleanup_(closep) int fd = openat(files, below(path), O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : pread(fd, buffer, size, offset);

	return n < 0 ? -errno : (int)n;
}

static int fake_write(
	const char *path, const char *buffer, size_t size, off_t offset, struct fuse_file_info *info)
{
	_cleanup_(closep) int log = openat(files, ".writes", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	char value[VALUE_SIZE];
	int r;

	snprintf(value, sizeof(value), "%.*s", (int)size, buffer);
	value[strcspn(value, "\n")] = '\0';
	if (log >= 0)
		dprintf(log, "%s %s ", below(path), value);
	r = store(below(path), value);
	if (log >= 0)
		dprintf(log, "%d\n", r);
	return r < 0 ? r : (int)size;
}

static int fake_truncate(const char *path, off_t size, struct fuse_file_info *info)
{
	return 0; /* sysfs does not mind */
}

int main(int argc, char **argv)
{
	static const struct fuse_operations operations = {
		.getattr = fake_getattr,
		.readlink = fake_readlink,
		.readdir = fake_readdir,
		.open = fake_open,
		.read = fake_read,
		.write = fake_write,
		.truncate = fake_truncate,
	};
	char *arguments[] = {argv[0], argc == 3 ? argv[2] : NULL, (char *)"-f", (char *)"-s",
		(char *)"-oallow_other,default_permissions,fsname=fake_cpu", NULL};

	if (argc != 3) {
		fprintf(stderr, "usage: fake_cpu FILES MOUNTPOINT\n");
		return 2;
	}
	files = open(argv[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (files < 0) {
		perror(argv[1]);
		return 1;
	}
	return fuse_main(5, arguments, &operations, NULL);
}
