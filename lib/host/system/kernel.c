/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The running, installed and available kernels, the configuration of one, and the clock and the
 * settings of the running one: see kernel.h. */
#include "lib/host/system/kernel.h"

#include "lib/host/process/subprocess.h"

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/timex.h>
#include <zlib.h>

enum { ASK_KERNEL_MS = 5000, MOST_CONFIG = 4 << 20 }; /* configurations have some 300 KiB */

static const char NUMERIC[] = "0123456789.-";

/* The first `n` characters without dots and dashes at their end. */
static void copy_numbers(char ret[64], const char *text, size_t n)
{
	while (n > 0 && strchr(".-", text[n - 1]))
		n--;
	snprintf(ret, 64, "%.*s", (int)n, text);
}

int kernel_compare(const char *a, const char *b)
{
	const char *rests[] = {a + strspn(a, NUMERIC), b + strspn(b, NUMERIC)};
	char numbers[2][64], builds[2][64];
	size_t letters = strspn(rests[0], "abcdefghijklmnopqrstuvwxyz");
	int order;

	/* "6.12.0" of "6.12.0.old", "6.1.0-9" of "6.1.0-9-amd64" */
	copy_numbers(numbers[0], a, (size_t)(rests[0] - a));
	copy_numbers(numbers[1], b, (size_t)(rests[1] - b));
	order = strverscmp(numbers[0], numbers[1]);
	if (order != 0 || strncmp(rests[0], rests[1], letters) != 0)
		return order;
	/* "arch2-1" of "6.6.8-arch2-1" */
	for (int i = 0; i < 2; i++)
		copy_numbers(builds[i], rests[i], letters + strspn(rests[i] + letters, NUMERIC));
	return strverscmp(builds[0], builds[1]);
}

char *kernel_package(const char *release)
{
	const char *flavour = release + strspn(release, NUMERIC);

	/* backports put "+deb12-" or "deb11.5-" between number and flavour */
	while (strcspn(flavour, "-") < strlen(flavour) &&
		memmem(flavour, strcspn(flavour, "-"), "deb", 3))
		flavour += strcspn(flavour, "-") + 1;
	return *flavour ? text_format("linux-image-%s", flavour) : NULL;
}

/* The release of the first kernel in a line of dependencies; NULL: there is none. */
static char *release_of_dependencies(const char *line)
{
	const char *end = line + strcspn(line, "\n");

	for (const char *name = line; (name = strstr(name, "linux-image-")) && name < end;) {
		name += strlen("linux-image-");
		if (!strncmp(name, "unsigned-", 9))
			name += 9;
		if (*name >= '0' && *name <= '9')
			return xstrndup(name, strcspn(name, " ,|(\n"));
	}
	return NULL;
}

char *kernel_parse_apt(const char *text)
{
	char *newest = NULL;

	for (const char *line = text; line;
		line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
		char *release = strncmp(line, "Depends:", 8) ? NULL : release_of_dependencies(line);

		if (release && (!newest || kernel_compare(release, newest) > 0)) {
			free(newest);
			newest = release;
		} else
			free(release);
	}
	return newest;
}

/* One paragraph of dpkg's list: the name of an installed package linux-image-FLAVOUR… that
 * depends on a kernel like the running one. NULL: it is none. */
static char *package_of_paragraph(const char *paragraph, size_t len, const char *package)
{
	static const char prefix[] = "Package: linux-image-";
	_cleanup_(freep) char *text = xstrndup(paragraph, len), *release = NULL, *of_release = NULL;
	const char *name = text + strlen("Package: "), *depends = strstr(text, "\nDepends:");

	if (strncmp(text, prefix, strlen(prefix)) != 0 ||
		!strstr(text, "\nStatus: install ok installed\n") || !depends)
		return NULL;
	release = release_of_dependencies(depends + 1);
	of_release = release ? kernel_package(release) : NULL;
	return of_release && !strcmp(of_release, package) ? xstrndup(name, strcspn(name, "\n"))
							  : NULL;
}

char **kernel_packages(const char *status, const char *running)
{
	_cleanup_(freep) char *package = kernel_package(running);
	char **names = NULL;
	size_t n = 0;

	for (const char *p = status; package && p && *p;) {
		const char *end = strstr(p, "\n\n") ?: p + strlen(p);
		char *name = package_of_paragraph(p, (size_t)(end - p), package);

		if (name)
			*array_add(names, n) = name;
		p = end + strspn(end, "\n");
	}
	if (n == 0 && package)
		*array_add(names, n) = TAKE(package);
	*array_add(names, n) = NULL;
	return names;
}

char *kernel_parse_dnf(const char *text)
{
	const char *epoch = strchr(text, ':');

	return epoch ? xstrndup(epoch + 1, strcspn(epoch + 1, " \n")) : NULL;
}

char *kernel_parse_version(const char *text, bool suse)
{
	const char *line = strncmp(text, "Version ", 8) ? strstr(text, "\nVersion ") : text;
	const char *colon = line ? strchr(line + 1, ':') : NULL;
	char *version, *dot;

	if (!colon)
		return NULL;
	colon += 1 + strspn(colon + 1, " ");
	version = xstrndup(colon, strcspn(colon, " \n"));
	dot = suse ? strrchr(version, '.') : NULL;
	if (dot)
		*dot = '\0';
	for (dot = version; !suse && (dot = strchr(dot, '.')); dot++)
		if (dot[1] >= 'a' && dot[1] <= 'z')
			*dot = '-';
	return version;
}

int kernel_read(struct kernel *ret, int root_fd, struct error *err)
{
	/* a directory of modules counts if it has modules.order: what dpkg leaves behind does not;
	 * "0-rescue-…" is not a kernel of its own */
	static const char *const patterns[] = {"/boot/vmlinuz-[1-9]*", "/boot/vmlinux-[1-9]*",
		"/boot/Image-[1-9]*", "/lib/modules/[1-9]*/modules.order"};
	struct kernel k = {};
	struct stat st;
	int r = path_read_text(root_fd, err, &k.running, "/proc/sys/kernel/osrelease");

	if (r < 0)
		return r;
	k.version = path_text(root_fd, "/proc/sys/kernel/version");
	k.reboot_required = fstatat(root_fd, text_below(root_fd, "/run/reboot-required"), &st, 0) ==
			    0;
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

/* Asks; the caller frees the answer. NULL: there is none. */
static char *ask_tool(const char *const *argv, struct error *err)
{
	char *output = NULL;
	int status;

	if (subprocess_ask(argv, ASK_KERNEL_MS, &output, &status, err) < 0)
		return NULL;
	if (status != 0)
		free(TAKE(output));
	return output;
}

static char *ask_apt(const struct kernel *k, const char *system_version, struct error *err)
{
	_cleanup_(freep) char *status = path_text(AT_FDCWD, "/var/lib/dpkg/status"), *output = NULL,
			      *offered = NULL;
	_cleanup_(argv_freep) char **packages = kernel_packages(status, k->running);
	/* Ubuntu's: a newer line of kernels for an older system */
	_cleanup_(freep) char *newer = NULL;
	const char *argv[16] = {"apt-cache", "show", "--no-all-versions"};
	size_t n = 3;

	if (!*packages) {
		error_say(err, -ENOENT, "the name %s has no flavour to look up", k->running);
		return NULL;
	}
	for (char **name = packages; *name && n + 1 < ELEMENTS(argv); name++)
		argv[n++] = *name;
	output = ask_tool(argv, err);
	offered = output ? kernel_parse_apt(output) : NULL;
	if (offered && system_version && kernel_compare(offered, k->running) < 0) {
		_cleanup_(freep) char *more = NULL;

		newer = text_format("%s-hwe-%s", packages[0], system_version);
		more = ask_tool(
			(const char *const[]){argv[0], argv[1], argv[2], newer, NULL}, NULL);
		if (more && *more) {
			free(TAKE(offered));
			offered = kernel_parse_apt(more);
		}
	}
	if (!offered && !*err->text)
		error_say(err, -ENOENT, "apt's lists have no %s ('apt update' fetches them)",
			packages[0]);
	return TAKE(offered);
}

static const char *dnf_package(const char *release)
{
	if (strstr(release, "uek"))
		return "kernel-uek-core";
	if (strstr(release, "+64k"))
		return "kernel-64k-core";
	return strstr(release, "+rt") || strstr(release, ".rt") ? "kernel-rt-core" : "kernel-core";
}

static char *ask_dnf(const struct kernel *k, struct error *err)
{
	const char *package = dnf_package(k->running);
	const char *const argv[] = {
		"dnf", "-q", "-C", "repoquery", "--latest-limit=1", package, NULL};
	_cleanup_(freep) char *output = ask_tool(argv, err);
	char *offered = output ? kernel_parse_dnf(output) : NULL;

	if (!offered && !*err->text)
		error_say(err, -ENOENT, "dnf's lists have no %s ('dnf makecache' fetches them)",
			package);
	return offered;
}

static char *zypper_package(const char *release)
{
	_cleanup_(freep) char *debian = kernel_package(release);

	return text_format("kernel-%s", debian ? debian + strlen("linux-image-") : "default");
}

static char *pacman_package(const char *release)
{
	_cleanup_(freep) char *base = path_text(AT_FDCWD, "/usr/lib/modules/%s/pkgbase", release);

	return base ? TAKE(base) : xstrdup("linux");
}

/* Arch and SUSE. The language of the answer must be English. */
static char *ask_for_version(const struct kernel *k, bool suse, struct error *err)
{
	_cleanup_(freep) char *package = suse ? zypper_package(k->running)
					      : pacman_package(k->running);
	const char *const pacman[] = {"env", "LC_ALL=C", "pacman", "-Si", package, NULL};
	const char *const zypper[] = {
		"env", "LC_ALL=C", "zypper", "--no-refresh", "-q", "info", package, NULL};
	_cleanup_(freep) char *output = ask_tool(suse ? zypper : pacman, err);
	char *offered = output ? kernel_parse_version(output, suse) : NULL;

	if (!offered && !*err->text)
		error_say(err, -ENOENT, "%s's lists have no %s ('%s' fetches them)",
			suse ? "zypper" : "pacman", package,
			suse ? "zypper refresh" : "pacman -Sy");
	return offered;
}

void kernel_ask_offered(struct kernel *k, const char *system_version)
{
	struct error err = {};

	if (access("/usr/bin/apt-cache", X_OK) == 0)
		k->offered = ask_apt(k, system_version, &err);
	else if (access("/usr/bin/dnf", X_OK) == 0)
		k->offered = ask_dnf(k, &err);
	else if (access("/usr/bin/pacman", X_OK) == 0 || access("/usr/bin/zypper", X_OK) == 0)
		k->offered = ask_for_version(k, access("/usr/bin/pacman", X_OK) != 0, &err);
	else
		error_say(&err, -ENOENT, "this system has neither apt, dnf, pacman nor zypper");
	if (!k->offered)
		k->offered_unknown = xstrdup(err.text);
	else if (kernel_compare(k->offered, k->running) < 0)
		k->offered_unknown = text_format("the lists have %s", k->offered);
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
	static const char *const places[] = {
		"/boot/config-%s", "/lib/modules/%s/config", "/proc/config.gz"};
	_cleanup_(freep) char *text = xmalloc(MOST_CONFIG + 1);

	for (size_t i = 0; i < ELEMENTS(places); i++) {
		int fd = path_open(root_fd, O_RDONLY, places[i], release), n;
		gzFile file;

		if (fd < 0)
			continue;
		file = xalloc_check(gzdopen(fd, "rb"));
		/* gives a file that is not compressed as it is */
		n = gzread(file, text, MOST_CONFIG);
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

char *kernel_boot_option(const char *command_line, const char *option)
{
	size_t len = strlen(option);
	char *value = NULL;

	for (const char *p = command_line; p && *p; p += strcspn(p, " ")) {
		p += strspn(p, " ");
		/* or the end of the line */
		if (strncmp(p, option, len) != 0 || !strchr(" =", p[len]))
			continue;
		free(value);
		value = p[len] == '=' ? xstrndup(p + len + 1, strcspn(p + len + 1, " "))
				      : xstrdup("");
	}
	return value;
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
