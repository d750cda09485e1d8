/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The running, installed and available kernels, and the configuration of one: see kernel.h. The only file that includes zlib. */
#include "lib/host/system/kernel.h"

#include "lib/base/paths.h"
#include "lib/base/text.h"
#include "lib/base/xalloc.h"
#include "lib/host/process/subprocess.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

enum { ASK_KERNEL_MS = 5000, MOST_CONFIG = 4 << 20 }; /* configurations have some 300 KiB */

static const char NUMERIC[] = "0123456789.-";

/* "6.12.0" of "6.12.0.old", "6.1.0-9" of "6.1.0-9-amd64" */
static char *number_of(char number[64], const char *release)
{
	size_t n = strspn(release, NUMERIC);

	while (n > 0 && strchr(".-", release[n - 1]))
		n--;
	snprintf(number, 64, "%.*s", (int)n, release);
	return number;
}

int kernel_compare(const char *a, const char *b)
{
	char number_a[64], number_b[64];

	return strverscmp(number_of(number_a, a), number_of(number_b, b));
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

static void keep_newest(char **newest, const char *release)
{
	if (*newest && kernel_compare(*newest, release) >= 0)
		return;
	free(*newest);
	*newest = xstrdup(release);
}

static DIR *open_directory_below(int root_fd, const char *path)
{
	int fd = path_open(root_fd, O_RDONLY | O_DIRECTORY, "%s", path);

	return fd < 0 ? NULL : fdopendir(fd);
}

int kernel_read(struct kernel *ret, int root_fd, struct error *err)
{
	static const char *const prefixes[] = {"vmlinuz-", "vmlinux-", "Image-"};
	_cleanup_(closedirp) DIR *boot = open_directory_below(root_fd, "/boot");
	_cleanup_(closedirp) DIR *modules = open_directory_below(root_fd, "/lib/modules");
	struct kernel k = {.version = path_text(root_fd, "/proc/sys/kernel/version")};
	struct dirent *entry;
	struct stat st;
	int r = path_read_text(root_fd, err, &k.running, "/proc/sys/kernel/osrelease");

	while (boot && (entry = readdir(boot)))
		for (size_t i = 0; i < ELEMENTS(prefixes); i++) {
			const char *release = entry->d_name + strlen(prefixes[i]);

			if (!strncmp(entry->d_name, prefixes[i], strlen(prefixes[i])) && *release >= '1' &&
				*release <= '9') /* "0-rescue-…" is not a kernel of its own */
				keep_newest(&k.installed, release);
		}
	/* a directory of modules counts if it has modules.order: what dpkg leaves behind does not */
	while (modules && (entry = readdir(modules))) {
		char path[300];

		snprintf(path, sizeof(path), "%s/modules.order", entry->d_name);
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' &&
			fstatat(dirfd(modules), path, &st, 0) == 0)
			keep_newest(&k.installed, entry->d_name);
	}
	k.reboot_required = fstatat(root_fd, text_below(root_fd, "/run/reboot-required"), &st, 0) == 0;
	if (r < 0) {
		kernel_clear(&k);
		return r;
	}
	*ret = k;
	return 0;
}

static char *ask_apt(const char *running, struct error *err)
{
	_cleanup_(freep) char *package = kernel_package(running), *output = NULL;
	const char *argv[] = {"apt-cache", "show", "--no-all-versions", package, NULL};
	char *release;
	int status;

	if (!package) {
		error_say(err, -ENOENT, "the name %s has no flavour to look up", running);
		return NULL;
	}
	if (subprocess_ask(argv, ASK_KERNEL_MS, &output, &status, err) < 0)
		return NULL;
	release = status == 0 ? kernel_parse_apt(output) : NULL;
	if (!release)
		error_say(err, -ENOENT, "apt's lists have no %s ('apt update' fetches them)", package);
	return release;
}

static char *ask_dnf(struct error *err)
{
	static const char *const argv[] = {
		"dnf", "-q", "-C", "repoquery", "--latest-limit=1", "kernel-core", NULL};
	_cleanup_(freep) char *output = NULL;
	char *release;
	int status;

	if (subprocess_ask(argv, ASK_KERNEL_MS, &output, &status, err) < 0)
		return NULL;
	release = status == 0 ? kernel_parse_dnf(output) : NULL;
	if (!release)
		error_say(err, -ENOENT, "dnf's lists have no kernel-core ('dnf makecache' fetches them)");
	return release;
}

void kernel_ask_offered(struct kernel *k)
{
	struct error err = {};

	free(k->offered);
	free(TAKE(k->offered_unknown));
	k->offered = access("/usr/bin/apt-cache", X_OK) == 0 ? ask_apt(k->running, &err) : ask_dnf(&err);
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
