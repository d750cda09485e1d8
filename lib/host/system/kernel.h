/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The running kernel and its configuration, the newest installed one, and the newest in the package manager's lists (without network).
 * A machine without a kernel of its own (a container, a virtual machine that its host boots) has none installed. */
#pragma once

#include "lib/base/cleanup.h"
#include "lib/base/error.h"

#include <stdbool.h>

struct kernel {
	char *running;         /* uname -r */
	char *version;         /* uname -v */
	char *installed;       /* the newest installed image; NULL: none */
	char *offered;         /* the newest in the package manager's lists; NULL: not known */
	char *offered_unknown; /* why it is not known; NULL if it is, or was not looked up */
	bool reboot_required;  /* a package says so in /run/reboot-required */
};

/* Reads files below root_fd only. */
int kernel_read(struct kernel *ret, int root_fd, struct error *err);
/* Asks apt-cache or dnf for the newest; takes some ms with apt's cache, up to seconds without. */
void kernel_ask_offered(struct kernel *kernel);
void kernel_clear(struct kernel *kernel);

/* Below, equal to, or above 0 as release a is older than, as old as, or newer than b, by the numbers that
 * they begin with: "6.1.0-9-amd64" is older than "6.1.0-10-amd64", "6.1.0-10-rt-amd64" as old as that. */
int kernel_compare(const char *a, const char *b);

/* The package that depends on the newest kernel of this flavour in Debian and Ubuntu: "linux-image-cloud-amd64"
 * for "6.1.0-10-cloud-amd64". NULL if the name has no flavour. The caller frees it. */
char *kernel_package(const char *release);

/* The release in `apt-cache show`'s Depends line, or in `dnf repoquery`'s name of a package; NULL if there
 * is none. The caller frees it. */
char *kernel_parse_apt(const char *text);
char *kernel_parse_dnf(const char *text);

/* The configuration of `release` below root_fd as text, from /boot, /lib/modules or /proc/config.gz, the
 * first that exists; the caller frees it. -ENOENT: nowhere. */
int kernel_config_read(char **ret, int root_fd, const char *release);

/* The value of an option ("CONFIG_HZ"): "y", "m", a number, a text with its quotes; "n" if it is not set.
 * The caller frees it. */
char *kernel_config_get(const char *config, const char *option);
