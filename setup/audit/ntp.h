/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which daemons discipline the clock, and what each of them reports: one check and the plan of an
 * apply judge by it. */
#pragma once

#include "setup/audit/facts.h"

/* A running daemon that disciplines the clock, and what it reports. The kernel's own report is in
 * struct clock_state; both are needed, since either can be wrong. */
struct ntp_daemon {
	const char *name; /* "chrony" */
	const struct known_daemon *known;
	/* it follows the host of this virtual machine, and the kernel does not report it */
	bool host;
	bool silent; /* it does not answer */
	char *text;  /* why; else the server that it follows ("10.77.0.1, stratum 2"), NULL: none */
};

/* Finds the time daemons among the units and processes of the facts, and asks them. units NULL: not
 * those that answer over D-Bus only. */
void ntp_read(struct facts *facts, struct units *units);

/* The units that may be started if none runs, the best first; NULL after the last. */
const char *ntp_unit(size_t i);

/* The server that a daemon follows, from what `chronyc -c tracking`, `ntpq -pn`,
 * `ntpctl -s status` and `ntp-ctl status` print; the caller frees it. NULL: none. */
char *ntp_parse_chrony(const char *text);
char *ntp_parse_ntpq(const char *text);
char *ntp_parse_openntpd(const char *text);
char *ntp_parse_ntp_ctl(const char *text);
