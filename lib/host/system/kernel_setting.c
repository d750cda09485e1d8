/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A setting of the kernel that is a file: see kernel_setting.h. */
#include "lib/host/system/kernel_setting.h"

#include "lib/base/xalloc.h"
#include "lib/base/cleanup.h"
#include "lib/base/paths.h"
#include "lib/base/text.h"
#include "lib/host/process/pinning.h"

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

/* Adds what matches `rest` below the directory `done`. An entry that ends the pattern is there; other paths must be looked for. */
static void expand_from(struct paths *paths, int root_fd, const char *done, const char *rest)
{
	_cleanup_(freep) char *component = NULL, *path = NULL;
	struct dirent **entries = NULL;
	struct stat st;
	int n;

	if (!*rest) {
		if (fstatat(root_fd, text_below(root_fd, done), &st, 0) == 0)
			*array_add(paths->items, paths->n) = xstrdup(done);
		return;
	}
	rest += strspn(rest, "/");
	component = xstrndup(rest, strcspn(rest, "/"));
	rest += strlen(component);
	if (!strpbrk(component, "*?[")) {
		path = text_format("%s/%s", done, component);
		expand_from(paths, root_fd, path, rest);
		return;
	}
	n = scandirat(root_fd, text_below(root_fd, done), &entries, NULL, versionsort);
	for (int i = 0; i < n; i++) {
		_cleanup_(freep) char *entry = text_format("%s/%s", done, entries[i]->d_name);

		if (entries[i]->d_name[0] != '.' && fnmatch(component, entries[i]->d_name, 0) == 0) {
			if (!*rest && entries[i]->d_type == DT_DIR)
				*array_add(paths->items, paths->n) = TAKE(entry);
			else
				expand_from(paths, root_fd, entry, rest);
		}
		free(entries[i]);
	}
	free(entries);
}

struct paths kernel_setting_expand(int root_fd, const char *pattern)
{
	struct paths paths = {};

	expand_from(&paths, root_fd, "", pattern);
	return paths;
}

size_t kernel_setting_count(int root_fd, const char *pattern)
{
	_cleanup_(paths_clear) struct paths paths = kernel_setting_expand(root_fd, pattern);

	return paths.n;
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
	_cleanup_(freep) char *text = NULL, *max = NULL;
	const char *open, *close;
	int r;

	if (setting->kind == SETTING_PARTITION)
		return partition_read(setting->root_fd, setting->path, ret);
	r = path_read_text(setting->root_fd, NULL, &text, "%s%s", setting->path,
		setting->kind == SETTING_LIMITS ? "/scaling_min_freq" : "");
	if (r == 0 && setting->kind == SETTING_LIMITS)
		r = path_read_text(setting->root_fd, NULL, &max, "%s/scaling_max_freq", setting->path);
	if (r < 0)
		return r;
	switch (setting->kind) {
	case SETTING_LIMITS:
		*ret = text_format("%s %s", text, max);
		return 0;
	case SETTING_CPUSET:
		*ret = xstrdup(has_word(text, "cpuset") ? "+cpuset" : "-cpuset");
		return 0;
	case SETTING_BRACKETED:
		open = strchr(text, '[');
		close = open ? strchr(open, ']') : NULL;
		if (!close)
			return -EBADMSG;
		*ret = xstrndup(open + 1, (size_t)(close - open - 1));
		return 0;
	default:
		*ret = TAKE(text);
		return 0;
	}
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

static int write_value(const struct kernel_setting *setting, const char *value)
{
	_cleanup_(closep) int fd = -1;
	size_t len = strlen(value);
	ssize_t n;

	if (setting->write)
		return setting->write(setting->path, value);
	if (setting->kind == SETTING_LIMITS)
		return -EOPNOTSUPP;
	if (setting->kind == SETTING_PARTITION)
		return partition_write(setting->path, value);
	fd = path_open(setting->root_fd, O_WRONLY | O_TRUNC, "%s", setting->path);
	n = fd < 0 ? fd : write(fd, value, len);
	if (n < 0)
		return fd < 0 ? fd : -errno;
	return (size_t)n == len ? 0 : -EIO;
}

int interrupt_write_list(const char *path, const char *list)
{
	_cleanup_(closep) int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (write(fd, list, strlen(list)) <
		0) /* EIO, EPERM: per-CPU and managed interrupts, and some controllers */
		return errno == EIO || errno == EPERM ? -ENODEV : -errno;
	return 0;
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

struct kernel_setting_result kernel_setting_set(const struct kernel_setting *setting, const char *value)
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
		if (result.error == -ENOENT || result.error == -ENODEV)
			result.outcome = SETTING_ABSENT;
		else if (result.error < 0)
			result.outcome = SETTING_REFUSED;
		else
			result.outcome = result.held && !strcmp(result.held, value) ? SETTING_CHANGED
										    : SETTING_CLAMPED;
	}
	return result;
}
