/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A setting of the kernel that is a file: see kernel_setting.h. */
#include "lib/host/cpu/kernel_setting.h"

#include "lib/base/xalloc.h"
#include "lib/base/array.h"
#include "lib/base/cleanup.h"
#include "lib/base/text.h"
#include "lib/host/cpu/partition.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

void paths_clear(struct paths *paths)
{
	for (size_t i = 0; i < paths->n; i++)
		free(paths->items[i]);
	free(paths->items);
}

static int add_path(struct paths *paths, const char *path)
{
	char **added = array_add(paths->items, paths->n);

	if (added)
		*added = xstrdup(path);
	return added && *added ? 0 : -ENOMEM;
}

static int expand_from(int root_fd, const char *done, const char *rest, struct paths *paths);

/* One component of the pattern has wildcards: every matching entry of the directory `done`. */
static int expand_entries(
	int root_fd, const char *done, const char *component, const char *rest, struct paths *paths)
{
	struct dirent **entries = NULL;
	int n = scandirat(root_fd, text_below(root_fd, done), &entries, NULL, versionsort), r = 0;

	for (int i = 0; i < n; i++) {
		_cleanup_(freep) char *path = NULL;

		if (r == 0 && entries[i]->d_name[0] != '.' &&
			fnmatch(component, entries[i]->d_name, 0) == 0) {
			path = text_format("%s/%s", done, entries[i]->d_name);
			if (!path)
				r = -ENOMEM;
			else if (!*rest && entries[i]->d_type == DT_DIR) /* it is there */
				r = add_path(paths, path);
			else
				r = expand_from(root_fd, path, rest, paths);
		}
		free(entries[i]);
	}
	free(entries);
	return r;
}

static int expand_from(int root_fd, const char *done, const char *rest, struct paths *paths)
{
	_cleanup_(freep) char *component = NULL, *path = NULL;
	struct stat st;

	if (!*rest)
		return fstatat(root_fd, text_below(root_fd, done), &st, 0) == 0 ? add_path(paths, done) : 0;
	rest += strspn(rest, "/");
	component = xstrndup(rest, strcspn(rest, "/"));
	rest += strlen(component);
	if (strpbrk(component, "*?["))
		return expand_entries(root_fd, done, component, rest, paths);
	path = text_format("%s/%s", done, component);
	return path ? expand_from(root_fd, path, rest, paths) : -ENOMEM;
}

int kernel_setting_expand(int root_fd, const char *pattern, struct paths *ret)
{
	_cleanup_(paths_clear) struct paths paths = {};
	int r = expand_from(root_fd, "", pattern, &paths);

	if (r < 0)
		return r;
	*ret = TAKE_STRUCT(paths);
	return 0;
}

size_t kernel_setting_count(int root_fd, const char *pattern)
{
	_cleanup_(paths_clear) struct paths paths = {};

	return expand_from(root_fd, "", pattern, &paths) < 0 ? 0 : paths.n;
}

static int read_limits(int root_fd, const char *directory, char **ret)
{
	_cleanup_(freep) char *path_min = text_format("%s/scaling_min_freq", directory), *min = NULL;
	_cleanup_(freep) char *path_max = text_format("%s/scaling_max_freq", directory), *max = NULL;
	int r;

	r = text_read_file(root_fd, path_min, &min);
	if (r == 0)
		r = text_read_file(root_fd, path_max, &max);
	if (r < 0)
		return r;
	*ret = text_format("%s %s", min, max);
	return 0;
}

static bool has_word(const char *text, const char *word)
{
	for (const char *p = text; *p; p += strcspn(p, " "), p += *p == ' ')
		if (strcspn(p, " ") == strlen(word) && !strncmp(p, word, strlen(word)))
			return true;
	return false;
}

int kernel_setting_read(const struct kernel_setting *setting, char **ret)
{
	_cleanup_(freep) char *text = NULL;
	char *open, *close;
	int r;

	if (setting->kind == SETTING_LIMITS)
		return read_limits(setting->root_fd, setting->path, ret);
	if (setting->kind == SETTING_PARTITION)
		return partition_read(setting->root_fd, setting->path, ret);
	r = text_read_file(setting->root_fd, setting->path, &text);
	if (r < 0)
		return r;
	if (setting->kind == SETTING_PLAIN) {
		*ret = TAKE(text);
		return 0;
	}
	if (setting->kind == SETTING_CPUSET) {
		*ret = xstrdup(has_word(text, "cpuset") ? "+cpuset" : "-cpuset");
		return 0;
	}
	open = strchr(text, '[');
	close = open ? strchr(open, ']') : NULL;
	if (!close)
		return -EBADMSG;
	*ret = xstrndup(open + 1, (size_t)(close - open - 1));
	return 0;
}

char *kernel_setting_description(enum kernel_setting_kind kind, const char *value)
{
	int64_t min, max;

	if (!value)
		return NULL;
	if (kind == SETTING_LIMITS && sscanf(value, "%" SCNd64 " %" SCNd64, &min, &max) == 2)
		return text_format("%" PRId64 " to %" PRId64 " MHz", min / 1000, max / 1000);
	return xstrdup(value);
}

static int write_file(int root_fd, const char *path, const char *value)
{
	_cleanup_(closep) int fd = openat(root_fd, text_below(root_fd, path), O_WRONLY | O_CLOEXEC | O_TRUNC);
	size_t len = strlen(value);
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = write(fd, value, len);
	if (n < 0)
		return -errno;
	return (size_t)n == len ? 0 : -EIO;
}

static int write_value(const struct kernel_setting *setting, const char *value)
{
	if (setting->write)
		return setting->write(setting->path, value);
	if (setting->kind == SETTING_LIMITS)
		return -EOPNOTSUPP;
	if (setting->kind == SETTING_PARTITION)
		return partition_write(setting->path, value);
	return write_file(setting->root_fd, setting->path, value);
}

static enum kernel_setting_outcome outcome_of(int r, const char *held, const char *value)
{
	if (r == -ENOENT || r == -ENODEV)
		return SETTING_ABSENT;
	if (r < 0)
		return SETTING_REFUSED;
	return held && !strcmp(held, value) ? SETTING_CHANGED : SETTING_CLAMPED;
}

/* Reads the value after a write. The kernel applies new limits in the background: they may take some milliseconds
 * to show. */
static char *read_back(const struct kernel_setting *setting, const char *value)
{
	enum { TRIES = 20 };
	static const struct timespec pause = {.tv_nsec = 5000000};
	char *held = NULL;

	for (int i = 0; i < TRIES; i++) {
		if (kernel_setting_read(setting, &held) < 0)
			return NULL;
		if (!strcmp(held, value) || setting->kind != SETTING_LIMITS || i == TRIES - 1)
			break;
		free(TAKE(held));
		nanosleep(&pause, NULL);
	}
	return held;
}

void kernel_setting_set(
	const struct kernel_setting *setting, const char *value, struct kernel_setting_result *ret)
{
	struct kernel_setting_result result = {};
	int r = kernel_setting_read(setting, &result.held);

	if (r == 0 && !strcmp(result.held, value))
		result.outcome = SETTING_ALREADY;
	else if (r == -ENOENT || r == -ENODEV)
		result.outcome = SETTING_ABSENT;
	else if (r == -EBUSY) /* of a file in /sys: it belongs to a cpufreq policy without a CPU */
		result.outcome = SETTING_OFFLINE;
	else {
		free(result.held);
		result.error = write_value(setting, value);
		result.held = read_back(setting, value);
		result.outcome = outcome_of(result.error, result.held, value);
	}
	*ret = result;
}
