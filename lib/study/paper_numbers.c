/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The papers' numbers: see paper_numbers.h. tests/papers/data has the same as CSV. */
#include "lib/study/paper_numbers.h"

const struct paper_row paper_rows[] = {
	{"VI", "INC1", "PT", "EMPv4", 0, -1, -1, 999, 1005, 1002, 0.7},
	{"VI", "INC2", "PT", "EMPv4", 0, -1, -1, 1996, 2007, 2005, 1.4},
	{"VI", "INC4", "PT", "EMPv4", 0, -1, -1, 4004, 4012, 4009, 1.6},
	{"VI", "INC8", "PT", "EMPv4", 0, -1, -1, 8014, 8022, 8018, 1.8},
	{"VI", "INC16", "PT", "EMPv4", 0, -1, -1, 16029, 16039, 16034, 1.9},
	{"VI", "INC32", "PT", "EMPv4", 0, -1, -1, 32065, 32079, 32068, 1.9},
	{"VI", "INC64", "PT", "EMPv4", 0, -1, -1, 64128, 64145, 64135, 2.3},
	{"VI", "INC128", "PT", "EMPv4", 0, -1, -1, 128244, 128260, 128251, 2.3},
	{"VI", "INC256", "PT", "EMPv4", 0, -1, -1, 256494, 256523, 256502, 3.3},
	{"VI", "INC512", "PT", "EMPv4", 0, -1, -1, 512995, 513152, 513005, 9.4},
	{"VI", "INC1024", "PT", "EMPv4", 0, -1, -1, 1025996, 1026141, 1026011, 11.4},
	{"VI", "INC2048", "PT", "EMPv4", 0, -1, -1, 2051981, 2052156, 2052012, 11.2},
	{"VI", "INC4096", "PT", "EMPv4", 0, -1, -1, 4105451, 4105629, 4105526, 26.0},
	{"VI", "INC8192", "PT", "EMPv4", 0, -1, -1, 8207870, 8207967, 8207918, 21.0},
	{"VI", "INC16384", "PT", "EMPv4", 0, -1, -1, 16415757, 16415964, 16415810, 40.4},
	{"VII", "INC128", "ET", "EMPv4", 800, 0, 0, 128245, 163913, 128343, 1730.3},
	{"VII", "INC128", "PT", "EMPv4", 800, 0, 0, 128244, 128493, 128251, 10.9},
	{"XVIII", "INC128", "ET", "EMPv5", 800, 15, 1, 128245, 128256, 128250, 2.5},
	{"XVIII", "INC128", "PT", "EMPv5", 800, 15, 5, 128245, 128255, 128250, 2.6},
	{"XVIII", "INC16384", "ET", "EMPv5", 40, 2, 4, 16416454, 16417155, 16416637, 138.6},
	{"XVIII", "INC16384", "PT", "EMPv5", 40, 2, 0, 16415757, 16415855, 16415804, 27},
	{"XIX", "INC1", "PT", "EMPv5", 0, 57, -1, 1001, 1003, 1002, 0.6},
	{"XIX", "INC2", "PT", "EMPv5", 0, 42, -1, 2002, 2007, 2005, 1.0},
	{"XIX", "INC4", "PT", "EMPv5", 0, 28, -1, 4006, 4011, 4009, 1.5},
	{"XIX", "INC8", "PT", "EMPv5", 0, 11, -1, 8015, 8021, 8018, 1.7},
	{"XIX", "INC16", "PT", "EMPv5", 0, 12, -1, 16031, 16038, 16034, 1.7},
	{"XIX", "INC32", "PT", "EMPv5", 0, 16, -1, 32065, 32071, 32068, 1.5},
	{"XIX", "INC64", "PT", "EMPv5", 0, 13, -1, 64131, 64139, 64135, 1.9},
	{"XIX", "INC128", "PT", "EMPv5", 0, 9, -1, 128247, 128255, 128251, 2.1},
	{"XIX", "INC256", "PT", "EMPv5", 0, 24, -1, 256497, 256506, 256502, 2.3},
	{"XIX", "INC512", "PT", "EMPv5", 0, 31, -1, 512998, 513009, 513004, 2.6},
	{"XIX", "INC1024", "PT", "EMPv5", 0, 15, -1, 1026001, 1026019, 1026011, 4.1},
	{"XIX", "INC2048", "PT", "EMPv5", 0, 23, -1, 2051997, 2052156, 2052012, 6.4},
	{"XIX", "INC4096", "PT", "EMPv5", 0, 33, -1, 4105477, 4105572, 4105526, 20.9},
	{"XIX", "INC8192", "PT", "EMPv5", 0, 2, -1, 8207877, 8207955, 8207918, 18.4},
	{"XIX", "INC16384", "PT", "EMPv5", 0, 2, -1, 16415757, 16415855, 16415804, 26.7},
	{"XX", "INC128", "ET", "EMPv6", 800, 15, 1, NAN, NAN, NAN, 2.5},
	{"XX", "INC128", "ET", "EMPv6", 400, 7, 2, NAN, NAN, NAN, 2.5},
	{"XX", "INC128", "ET", "EMPv6", 200, 4, 1, NAN, NAN, NAN, 2.5},
	{"XX", "INC128", "ET", "EMPv6", 100, 2, 1, NAN, NAN, NAN, 2.5},
	{"XX", "INC128", "ET", "EMPv6", 40, 1, 0, NAN, NAN, NAN, 2.7},
	{"XX", "INC128", "ET", "EMPv6", 30, 1, 0, NAN, NAN, NAN, 2.7},
	{"XX", "INC128", "ET", "EMPv6", 20, 0, 0, NAN, NAN, NAN, 2.4},
	{"XX", "INC128", "ET", "EMPv6", 10, 0, 0, NAN, NAN, NAN, 2.7},
	{"XXI", "INC128", "PT", "EMPv6", 800, 15, 5, NAN, NAN, NAN, 2.6},
	{"XXI", "INC128", "PT", "EMPv6", 400, 7, 6, NAN, NAN, NAN, 2.6},
	{"XXI", "INC128", "PT", "EMPv6", 200, 4, 3, NAN, NAN, NAN, 2.5},
	{"XXI", "INC128", "PT", "EMPv6", 100, 2, 1, NAN, NAN, NAN, 2.7},
	{"XXI", "INC128", "PT", "EMPv6", 40, 0, 0, NAN, NAN, NAN, 2.7},
	{"XXI", "INC128", "PT", "EMPv6", 30, 1, 0, NAN, NAN, NAN, 2.9},
	{"XXI", "INC128", "PT", "EMPv6", 20, 1, 1, NAN, NAN, NAN, 2.4},
	{"XXI", "INC128", "PT", "EMPv6", 10, 0, 0, NAN, NAN, NAN, 2.6},
	{},
};

const struct paper_daemon paper_daemons[] = {
	{"abrtd", "bug reporting on application crashes"},
	{"acpid", "ACPI events"},
	{"atd", "jobs queued by at"},
	{"auditd", "audit records to disk"},
	{"certmonger", "certificate expiry"},
	{"crond", "scheduled commands"},
	{"cups", "printing"},
	{"haldaemon", "hardware and media detection"},
	{"ip6tables", "IPv6 packet filter administration"},
	{"iptables", "IPv4 packet filter administration"},
	{"postfix", "mail"},
	{"vmware", "VMware guest video"},
	{"vmware-USBArbitrator", "USB passthrough to a guest"},
	{"xinetd", "on-demand Internet services"},
	{},
};

double paper_cv(const char *table, const char *program)
{
	for (const struct paper_row *p = paper_rows; p->table; p++)
		if (!strcmp(p->table, table) && !strcmp(p->program, program))
			return p->sd_ms / p->mean_ms;
	return NAN;
}

/* "crond.service" and "cron.service" are the paper's crond. */
static bool is_paper_daemon(const char *daemon, const char *name, size_t length)
{
	if (!strncmp(daemon, name, length) && !daemon[length])
		return true;
	return !strncmp(daemon, name, length) && !strcmp(daemon + length, "d");
}

const char *paper_purpose(const char *unit)
{
	size_t length = strcspn(unit, ".@");

	for (const struct paper_daemon *d = paper_daemons; d->name; d++)
		if (is_paper_daemon(d->name, unit, length))
			return d->purpose;
	return NULL;
}
