/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Settings of the kernel that are files in /sys or /proc/sys: see kernel_setting.h. */
#include "lib/host/system/kernel_setting.h"

#include "lib/host/process/pinning.h"

int kernel_setting_read(const struct kernel_setting *setting, char **ret)
{
	const bool limits = setting->kind == SETTING_LIMITS;
	_cleanup_(freep) char *text = NULL, *max = NULL;
	const char *open, *close;
	int r;

	if (setting->kind == SETTING_PARTITION)
		return partition_read(setting->root_fd, setting->path, ret);
	r = path_read_text(setting->root_fd, NULL, &text, "%s%s", setting->path,
		limits ? "/scaling_min_freq" : "");
	if (r == 0 && limits)
		r = path_read_text(
			setting->root_fd, NULL, &max, "%s/scaling_max_freq", setting->path);
	if (r < 0)
		return r;
	if (limits) {
		*ret = text_format("%s %s", text, max);
	} else if (setting->kind == SETTING_CPUSET) {
		*ret = xstrdup(text_has_word(text, "cpuset") ? "+cpuset" : "-cpuset");
	} else if (setting->kind == SETTING_BRACKETED) {
		open = strchr(text, '[');
		close = open ? strchr(open, ']') : NULL;
		if (!close)
			return -EBADMSG;
		*ret = xstrndup(open + 1, (size_t)(close - open - 1));
	} else {
		*ret = TAKE(text);
	}
	return 0;
}

const char *kernel_setting_description(enum kernel_setting_kind kind, const char *value)
{
	int64_t min, max;

	if (kind != SETTING_LIMITS || !value ||
		sscanf(value, "%" SCNd64 " %" SCNd64, &min, &max) != 2)
		return value;
	return text_brief("%" PRId64 " to %" PRId64 " MHz", min / 1000, max / 1000);
}

int interrupt_write_list(const char *path, const char *list)
{
	int r = path_write(AT_FDCWD, list, "%s", path);

	/* per-CPU and managed interrupts, and some controllers */
	return r == -EIO || r == -EPERM ? -ENODEV : r;
}

static int write_setting(const struct kernel_setting *setting, const char *value)
{
	if (setting->write)
		return setting->write(setting->path, value);
	if (setting->kind == SETTING_LIMITS)
		return -EOPNOTSUPP;
	if (setting->kind == SETTING_PARTITION)
		return partition_write(setting->path, value);
	return path_write(setting->root_fd, value, "%s", setting->path);
}

struct kernel_setting_result kernel_setting_set(
	const struct kernel_setting *setting, const char *value)
{
	enum { TRIES = 20 };
	static const struct timespec pause = {.tv_nsec = 5000000};
	struct kernel_setting_result result = {};
	int r = kernel_setting_read(setting, &result.held);
	bool holds = r == 0 && !strcmp(result.held, value);

	if (holds || r == -ENOENT || r == -ENODEV || r == -EBUSY) {
		result.outcome = SETTING_ABSENT;
		if (holds)
			result.outcome = SETTING_ALREADY;
		else if (r == -EBUSY) /* a file in /sys of a cpufreq policy without a CPU */
			result.outcome = SETTING_OFFLINE;
		return result;
	}

	result.error = write_setting(setting, value);
	/* the kernel applies new limits in the background: they may take some milliseconds to
	 * show */
	for (int i = 0; i < TRIES && !holds; i++) {
		if (i > 0)
			nanosleep(&pause, NULL);
		free(TAKE(result.held));
		if (kernel_setting_read(setting, &result.held) < 0)
			break;
		holds = !strcmp(result.held, value);
		if (setting->kind != SETTING_LIMITS)
			break;
	}

	if (result.error == -ENOENT || result.error == -ENODEV)
		result.outcome = SETTING_ABSENT;
	else if (result.error < 0)
		result.outcome = SETTING_REFUSED;
	else
		result.outcome = holds ? SETTING_CHANGED : SETTING_CLAMPED;
	return result;
}
