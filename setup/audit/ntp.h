/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which daemons discipline the clock, and what each of them reports. The kernel's own report is in
 * kernel_clock.h; both are needed, since either can be wrong. */
#pragma once

#include "lib/base/base.h"
#include "lib/host/process/process.h"
#include "lib/host/systemd/units.h"

enum ntp_answer {
	NTP_SILENT,       /* it does not answer; the description says why */
	NTP_SYNCHRONISED, /* it follows a server */
	NTP_SEARCHING,    /* it follows none */
};

struct ntp_daemon {
	const char *name; /* "chrony" */
	enum ntp_answer answer;
	char description[160]; /* "follows 10.77.0.1, stratum 2" */
};

enum { NTP_MOST_DAEMONS = 8 };

struct ntp {
	struct ntp_daemon daemons[NTP_MOST_DAEMONS]; /* the running ones */
	size_t n;
};

/* units may be NULL: then daemons are found by the names of processes only. */
void ntp_read(struct ntp *ret, struct units *units, const struct unit_list *list,
	const struct process *processes, size_t n_processes);

/* The units that may be started if none runs, the best first; NULL after the last. */
const char *ntp_unit(size_t i);

/* The answers of `chronyc -c tracking` and `ntpq -pn`. */
void ntp_parse_chrony(const char *text, struct ntp_daemon *daemon);
void ntp_parse_ntpq(const char *text, struct ntp_daemon *daemon);
