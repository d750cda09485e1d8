/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which kernel runs, which are installed, and which the package manager's own lists offer (no network is
 * asked). A machine that has no kernel of its own (a container, a virtual machine that its host boots) has
 * an empty list of installed ones. */
#pragma once

#include "lib/base/cleanup.h"
#include "lib/base/error.h"

#include <stdbool.h>

struct kernel {
	char *running;         /* uname -r */
	char *version;         /* uname -v */
	char *installed;       /* the newest image installed; NULL: none is */
	char *offered;         /* the newest that the package manager's lists offer; NULL: not known */
	char *offered_unknown; /* why it is not known; NULL if it is, or nobody asked */
	bool reboot_required;  /* a package says so in /run/reboot-required */
};

/* Reads what files below root_fd tell. */
int kernel_read(struct kernel *ret, int root_fd, struct error *err);
/* Asks apt-cache or dnf for what is offered; takes some ms with apt's cache, up to seconds without. */
void kernel_ask_offered(struct kernel *kernel);
void kernel_clear(struct kernel *kernel);

/* Below, equal to, or above 0 as release a is older than, as old as, or newer than b, by the numbers that
 * they begin with: "6.1.0-9-amd64" is older than "6.1.0-10-amd64", "6.1.0-10-rt-amd64" as old as that. */
int kernel_compare(const char *a, const char *b);

/* The package on whose dependencies the newest kernel of this flavour hangs in Debian and Ubuntu:
 * "linux-image-cloud-amd64" for "6.1.0-10-cloud-amd64". NULL if the name tells no flavour. The caller frees
 * it. */
char *kernel_package(const char *release);

/* The release in `apt-cache show`'s Depends line, or in `dnf repoquery`'s name of a package; NULL if there
 * is none. The caller frees it. */
char *kernel_parse_apt(const char *text);
char *kernel_parse_dnf(const char *text);
