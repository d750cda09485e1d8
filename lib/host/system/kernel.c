/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The running, installed and available kernels, the configuration of one, and the clock and the settings of the running one: see
 * kernel.h. The only file that includes zlib. */
#include "lib/host/system/kernel.h"

#include "lib/host/process/pinning.h"
#include "lib/host/process/subprocess.h"

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/timex.h>
#include <zlib.h>

enum { ASK_KERNEL_MS = 5000, MOST_CONFIG = 4 << 20 }; /* configurations have some 300 KiB */

static const char NUMERIC[] = "0123456789.-";

int kernel_compare(const char *a, const char *b)
{
	const char *releases[] = {a, b};
	char numbers[2][64];

	/* "6.12.0" of "6.12.0.old", "6.1.0-9" of "6.1.0-9-amd64" */
	for (int i = 0; i < 2; i++) {
		size_t n = strspn(releases[i], NUMERIC);

		while (n > 0 && strchr(".-", releases[i][n - 1]))
			n--;
		snprintf(numbers[i], sizeof(numbers[i]), "%.*s", (int)n, releases[i]);
	}
	return strverscmp(numbers[0], numbers[1]);
}

char *kernel_package(const char *release)
{
	const char *flavour = release + strspn(release, NUMERIC);

	/* backports put "+deb12-" or "deb11.5-" between number and flavour */
	while (strcspn(flavour, "-") < strlen(flavour) && memmem(flavour, strcspn(flavour, "-"), "deb", 3))
		flavour += strcspn(flavour, "-") + 1;
	return *flavour ? text_format("linux-image-%s", flavour) : NULL;
}

char *kernel_parse_apt(const char *text)
{
	const char *depends = strncmp(text, "Depends:", 8) ? strstr(text, "\nDepends:") : text;
	const char *name = depends ? strstr(depends, "linux-image-") : NULL;
	const char *end = depends ? depends + 1 + strcspn(depends + 1, "\n") : NULL;

	while (name && name < end) {
		const char *release = name + strlen("linux-image-");

		if (!strncmp(release, "unsigned-", 9))
			release += 9;
		if (*release >= '0' && *release <= '9')
			return xstrndup(release, strcspn(release, " ,|(\n"));
		name = strstr(release, "linux-image-");
	}
	return NULL;
}

char *kernel_parse_dnf(const char *text)
{
	const char *epoch = strchr(text, ':');

	return epoch ? xstrndup(epoch + 1, strcspn(epoch + 1, " \n")) : NULL;
}

int kernel_read(struct kernel *ret, int root_fd, struct error *err)
{
	/* a directory of modules counts if it has modules.order: what dpkg leaves behind does not; "0-rescue-…" is not a
	 * kernel of its own */
	static const char *const patterns[] = {"/boot/vmlinuz-[1-9]*", "/boot/vmlinux-[1-9]*",
		"/boot/Image-[1-9]*", "/lib/modules/[1-9]*/modules.order"};
	struct kernel k = {};
	struct stat st;
	int r = path_read_text(root_fd, err, &k.running, "/proc/sys/kernel/osrelease");

	if (r < 0)
		return r;
	k.version = path_text(root_fd, "/proc/sys/kernel/version");
	k.reboot_required = fstatat(root_fd, text_below(root_fd, "/run/reboot-required"), &st, 0) == 0;
	for (size_t i = 0; i < ELEMENTS(patterns); i++) {
		_cleanup_(paths_clear) struct paths found = paths_expand(root_fd, patterns[i]);

		for (size_t n = 0; n < found.n; n++) {
			const char *release = found.items[n] + strcspn(patterns[i], "[");

			if (k.installed && kernel_compare(k.installed, release) >= 0)
				continue;
			free(k.installed);
			k.installed = xstrndup(release, strcspn(release, "/"));
		}
	}
	*ret = k;
	return 0;
}

void kernel_ask_offered(struct kernel *k)
{
	const bool apt = access("/usr/bin/apt-cache", X_OK) == 0;
	_cleanup_(freep) char *package = apt ? kernel_package(k->running) : NULL, *output = NULL;
	const char *const apt_argv[] = {"apt-cache", "show", "--no-all-versions", package, NULL};
	static const char *const dnf_argv[] = {
		"dnf", "-q", "-C", "repoquery", "--latest-limit=1", "kernel-core", NULL};
	struct error err = {};
	int status;

	if (apt && !package) {
		error_say(&err, -ENOENT, "the name %s has no flavour to look up", k->running);
	} else if (subprocess_ask(apt ? apt_argv : dnf_argv, ASK_KERNEL_MS, &output, &status, &err) >= 0) {
		if (status == 0)
			k->offered = apt ? kernel_parse_apt(output) : kernel_parse_dnf(output);
		if (!k->offered && apt)
			error_say(
				&err, -ENOENT, "apt's lists have no %s ('apt update' fetches them)", package);
		else if (!k->offered)
			error_say(&err, -ENOENT,
				"dnf's lists have no kernel-core ('dnf makecache' fetches them)");
	}
	if (!k->offered)
		k->offered_unknown = xstrdup(err.text);
}

void kernel_clear(struct kernel *k)
{
	free(k->running);
	free(k->version);
	free(k->installed);
	free(k->offered);
	free(k->offered_unknown);
	*k = (struct kernel){};
}

int kernel_config_read(char **ret, int root_fd, const char *release)
{
	static const char *const places[] = {"/boot/config-%s", "/lib/modules/%s/config", "/proc/config.gz"};
	_cleanup_(freep) char *text = xmalloc(MOST_CONFIG + 1);

	for (size_t i = 0; i < ELEMENTS(places); i++) {
		int fd = path_open(root_fd, O_RDONLY, places[i], release), n;
		gzFile file;

		if (fd < 0)
			continue;
		file = xalloc_check(gzdopen(fd, "rb"));
		n = gzread(file, text, MOST_CONFIG); /* gives a file that is not compressed as it is */
		gzclose(file);
		if (n <= 0)
			continue;
		text[n] = '\0';
		*ret = TAKE(text);
		return 0;
	}
	return -ENOENT;
}

char *kernel_config_get(const char *config, const char *option)
{
	size_t len = strlen(option);

	for (const char *p = config; (p = strstr(p, option)); p += len)
		if ((p == config || p[-1] == '\n') && p[len] == '=')
			return xstrndup(p + len + 1, strcspn(p + len + 1, "\n"));
	return xstrdup("n");
}

void kernel_clock_read(struct clock_state *ret)
{
	struct timex timex = {};
	int state = adjtimex(&timex);

	*ret = (struct clock_state){.settable = prctl(PR_CAPBSET_READ, CAP_SYS_TIME) == 1};
	if (state < 0)
		return;
	ret->known = true;
	ret->synchronised = state != TIME_ERROR && !(timex.status & STA_UNSYNC);
	ret->frequency_ppm = (double)timex.freq / 65536; /* 16 bits of it are a fraction */
	ret->max_error_us = timex.maxerror;
}

/* Settings of the kernel that are files in /sys or /proc/sys. */

int kernel_setting_read(const struct kernel_setting *setting, char **ret)
{
	const bool limits = setting->kind == SETTING_LIMITS;
	_cleanup_(freep) char *text = NULL, *max = NULL;
	const char *open, *close;
	int r;

	if (setting->kind == SETTING_PARTITION)
		return partition_read(setting->root_fd, setting->path, ret);
	r = path_read_text(
		setting->root_fd, NULL, &text, "%s%s", setting->path, limits ? "/scaling_min_freq" : "");
	if (r == 0 && limits)
		r = path_read_text(setting->root_fd, NULL, &max, "%s/scaling_max_freq", setting->path);
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

	return kind == SETTING_LIMITS && value && sscanf(value, "%" SCNd64 " %" SCNd64, &min, &max) == 2
		       ? text_brief("%" PRId64 " to %" PRId64 " MHz", min / 1000, max / 1000)
		       : value;
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

struct kernel_setting_result kernel_setting_set(const struct kernel_setting *setting, const char *value)
{
	enum { TRIES = 20 };
	static const struct timespec pause = {.tv_nsec = 5000000};
	struct kernel_setting_result result = {};
	int r = kernel_setting_read(setting, &result.held);
	bool holds = r == 0 && !strcmp(result.held, value);

	if (holds || r == -ENOENT || r == -ENODEV || r == -EBUSY) {
		/* -EBUSY of a file in /sys: it belongs to a cpufreq policy without a CPU */
		result.outcome = holds ? SETTING_ALREADY : r == -EBUSY ? SETTING_OFFLINE : SETTING_ABSENT;
		return result;
	}
	result.error = write_setting(setting, value);
	/* the kernel applies new limits in the background: they may take some milliseconds to show */
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
