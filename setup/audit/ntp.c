/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which daemons discipline the clock: see audit.h. */
#include "setup/audit/audit.h"

#include "lib/host/process/subprocess.h"

#include <stdarg.h>

enum { ASK_NTP_MS = 10000 };

static void __attribute__((format(printf, 3, 4)))
ntp_set_answer(struct ntp_daemon *d, enum ntp_answer answer, const char *format, ...)
{
	va_list ap;

	d->answer = answer;
	va_start(ap, format);
	vsnprintf(d->description, sizeof(d->description), format, ap);
	va_end(ap);
}

/* "0A4D0001,10.77.0.1,2,1700000000.1,…,Normal": name, stratum, and the leap status at the end. */
void ntp_parse_chrony(const char *text, struct ntp_daemon *d)
{
	char name[64] = "";
	int stratum = 0;

	if (sscanf(text, "%*[^,],%63[^,],%d", name, &stratum) < 2)
		sscanf(text, "%*[^,],,%d", &stratum);
	if (stratum == 0 || strstr(text, "Not synchronised")) {
		ntp_set_answer(d, NTP_SEARCHING, "follows no server");
		return;
	}
	ntp_set_answer(
		d, NTP_SYNCHRONISED, "follows %s, stratum %d", *name ? name : "its reference clock", stratum);
}

/* The peer that ntpd follows has '*' in front, or 'o' if it uses a pulse per second. */
void ntp_parse_ntpq(const char *text, struct ntp_daemon *d)
{
	for (const char *line = text; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
		char name[64];
		int stratum;

		if (*line != '*' && *line != 'o')
			continue;
		if (sscanf(line + 1, "%63s %*s %d", name, &stratum) != 2)
			continue;
		ntp_set_answer(d, NTP_SYNCHRONISED, "follows %s, stratum %d", name, stratum + 1);
		return;
	}
	ntp_set_answer(d, NTP_SEARCHING, "follows no server");
}

static const struct known_daemon {
	const char *name;
	const char *units[3];
	const char *process; /* several daemons share a name: the first row counts */
	const char *argv[5]; /* asks it; and its answer: */
	void (*parse)(const char *text, struct ntp_daemon *d);
	bool timesync; /* asked over D-Bus */
} KNOWN[] = {
	{"chrony", {"chrony.service", "chronyd.service"}, "chronyd", {"chronyc", "-n", "-c", "tracking"},
		ntp_parse_chrony},
	{"systemd-timesyncd", {"systemd-timesyncd.service"}, "systemd-timesyn", .timesync = true},
	{"ntpsec", {"ntpsec.service"}, "ntpd", {"ntpq", "-pn"}, ntp_parse_ntpq},
	{"ntpd", {"ntp.service", "ntpd.service"}, "ntpd", {"ntpq", "-pn"}, ntp_parse_ntpq},
	{"openntpd", {"openntpd.service"}, "ntpd"},
	{"phc2sys", {"phc2sys.service"}, "phc2sys"},
};

static void ntp_ask(const struct known_daemon *known, struct ntp_daemon *d, struct units *units)
{
	_cleanup_(freep) char *output = NULL;
	struct error err = {};
	int status, r;

	if (known->timesync) {
		r = units ? units_timesync(units, &output, &err) : -ENOTCONN;
		if (r < 0)
			ntp_set_answer(
				d, NTP_SILENT, "%s", err.text[0] ? err.text : "it only answers over D-Bus");
		else if (r == 0)
			ntp_set_answer(d, NTP_SEARCHING, "follows no server");
		else
			ntp_set_answer(d, NTP_SYNCHRONISED, "follows %s", output ?: "a server");
	} else if (!known->parse)
		ntp_set_answer(d, NTP_SILENT, "it cannot be queried");
	else if (subprocess_ask(known->argv, ASK_NTP_MS, &output, &status, &err) < 0)
		ntp_set_answer(d, NTP_SILENT, "%s", err.text);
	else if (status != 0)
		ntp_set_answer(d, NTP_SILENT, "%s could not reach it", known->argv[0]);
	else
		known->parse(output, d);
}

const char *ntp_unit(size_t i)
{
	for (size_t row = 0; row < ELEMENTS(KNOWN); row++)
		for (const char *const *unit = KNOWN[row].units; *unit; unit++)
			if ((KNOWN[row].parse || KNOWN[row].timesync) && i-- == 0)
				return *unit;
	return NULL;
}

void ntp_read(struct facts *f, struct units *units)
{
	const struct known_daemon *found[NTP_MOST_DAEMONS];
	struct ntp *ntp = &f->ntp;

	_Static_assert(ELEMENTS(KNOWN) <= NTP_MOST_DAEMONS, "each may run");
	/* Units identify a daemon better. A process of the same name is then that daemon's. */
	for (size_t i = 0; i < ELEMENTS(KNOWN); i++) {
		bool is_up = false;

		for (const char *const *name = KNOWN[i].units; *name; name++) {
			const struct unit *unit = unit_list_find(&f->units, *name);

			is_up |= unit && unit_is_up(unit);
		}
		if (is_up)
			found[ntp->n++] = &KNOWN[i];
	}
	for (size_t i = 0; i < ELEMENTS(KNOWN); i++) {
		bool runs = false;

		for (size_t k = 0; k < f->n_processes; k++)
			runs |= !strcmp(f->processes[k].name, KNOWN[i].process);
		for (size_t k = 0; k < ntp->n; k++)
			runs &= strcmp(found[k]->process, KNOWN[i].process) != 0;
		if (runs)
			found[ntp->n++] = &KNOWN[i];
	}
	for (size_t i = 0; i < ntp->n; i++) {
		ntp->daemons[i].name = found[i]->name;
		ntp_ask(found[i], &ntp->daemons[i], units);
	}
}
