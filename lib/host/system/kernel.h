/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The running kernel, its configuration and clock, the newest installed one, and the
 * newest in the package manager's lists (without network). A machine without a kernel of its own (a
 * container, a virtual machine that its host boots) has none installed. */
#pragma once

#include "lib/base/argv.h"

struct kernel {
	char *running;   /* uname -r */
	char *version;   /* uname -v */
	char *installed; /* the newest installed image; NULL: none */
	char *offered;   /* the newest in the package manager's lists; NULL: not known */
	/* why nothing newer is known; NULL if something as new is, or it was not looked up */
	char *offered_unknown;
	bool reboot_required; /* a package says so in /run/reboot-required */
};

/* Reads files below root_fd only. */
int kernel_read(struct kernel *ret, int root_fd, struct error *err);
/* Asks apt-cache, dnf, pacman or zypper for the newest; takes some ms with apt's cache, up to
 * seconds without. `system_version`: as os-release has it ("22.04"); NULL: not known. */
void kernel_ask_offered(struct kernel *kernel, const char *system_version);
void kernel_clear(struct kernel *kernel);

/* Below, equal to, or above 0 as release a is older than, as old as, or newer than b, by the
 * numbers that they begin with: "6.1.0-9-amd64" is older than "6.1.0-10-amd64", "6.1.0-10-rt-amd64"
 * as old as that. */
int kernel_compare(const char *a, const char *b);

/* The package that depends on the newest kernel of this flavour in Debian and Ubuntu:
 * "linux-image-cloud-amd64" for "6.1.0-10-cloud-amd64". NULL if the name has no flavour. The caller
 * frees it. */
char *kernel_package(const char *release);

/* The installed packages that bring new kernels of the running one's flavour
 * ("linux-image-generic-hwe-22.04"), out of dpkg's list of packages (NULL: none); else
 * kernel_package(). Ends with NULL, freed with argv_freep. */
char **kernel_packages(const char *status, const char *running);

/* The newest release in the Depends lines of `apt-cache show`, or in `dnf repoquery`'s name of a
 * package; NULL if there is none. The caller frees it. */
char *kernel_parse_apt(const char *text);
char *kernel_parse_dnf(const char *text);

/* The version in what `pacman -Si` or `zypper info` prints, as uname -r has it: "6.6.8-arch1-1"
 * for 6.6.8.arch1-1; "6.4.0-150600.23.25" for 6.4.0-150600.23.25.1 of SUSE, which counts
 * rebuilds. Likewise. */
char *kernel_parse_version(const char *text, bool suse);

/* The configuration of `release` below root_fd as text, from /boot, /lib/modules or
 * /proc/config.gz, the first that exists; the caller frees it. -ENOENT: nowhere. */
int kernel_config_read(char **ret, int root_fd, const char *release);

/* The value of an option ("CONFIG_HZ"): "y", "m", a number, a text with its quotes; "n" if it is
 * not set. The caller frees it. */
char *kernel_config_get(const char *config, const char *option);

/* The value of an option in the kernel's command line, the last one if it is there twice; "" of
 * one without a value. NULL: it is not there, or the line is NULL. The caller frees it. */
char *kernel_boot_option(const char *command_line, const char *option);

/* The state of the kernel's clock as adjtimex(2) reports it. It proves nothing alone: ntpsec
 * without any server leaves it at "synchronised". */

struct clock_state {
	bool settable;        /* a daemon could set it: not so in most containers */
	bool known;           /* the rest is filled in */
	bool synchronised;    /* TIME_ERROR and STA_UNSYNC are both clear */
	double frequency_ppm; /* the correction of its rate */
	int64_t max_error_us; /* grows while the clock is not disciplined */
};

/* Changes nothing, needs no privilege. */
void kernel_clock_read(struct clock_state *ret);
