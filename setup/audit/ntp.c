/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which daemons discipline the clock: see audit.h. */
#include "setup/audit/audit.h"

#include "lib/host/process/subprocess.h"

enum { ASK_NTP_MS = 10000 };

/* "0A4D0001,10.77.0.1,2,1700000000.1,…,Normal": name, stratum, and the leap status at the end. */
char *ntp_parse_chrony(const char *text)
{
	char name[64] = "its reference clock";
	int stratum = 0;

	if (sscanf(text, "%*[^,],%63[^,],%d", name, &stratum) < 2)
		sscanf(text, "%*[^,],,%d", &stratum);
	if (stratum == 0 || strstr(text, "Not synchronised"))
		return NULL;
	return text_format("%s, stratum %d", name, stratum);
}

/* The peer that ntpd follows has '*' in front, or 'o' if it uses a pulse per second. */
char *ntp_parse_ntpq(const char *text)
{
	for (const char *line = text; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
		char name[64];
		int stratum;

		if ((*line == '*' || *line == 'o') && sscanf(line + 1, "%63s %*s %d", name, &stratum) == 2)
			return text_format("%s, stratum %d", name, stratum + 1);
	}
	return NULL;
}

static const struct known_daemon {
	const char *name;
	const char *units[3];
	const char *process; /* several daemons share a name: the first row counts */
	const char *argv[5]; /* asks it; and its answer: */
	char *(*parse)(const char *text);
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

static void ntp_ask(struct ntp_daemon *d, struct units *units)
{
	const struct known_daemon *known = d->known;
	_cleanup_(freep) char *output = NULL;
	struct error err = {};
	int status, r;

	if (known->timesync) {
		r = units ? units_timesync(units, &output, &err)
			  : error_say(&err, -ENOTCONN, "it only answers over D-Bus");
		if (r > 0)
			d->text = TAKE(output) ?: xstrdup("a server");
	} else if (!known->parse)
		r = error_say(&err, -ENOTSUP, "it cannot be queried");
	else {
		r = subprocess_ask(known->argv, ASK_NTP_MS, &output, &status, &err);
		if (r == 0 && status != 0)
			r = error_say(&err, -ECONNREFUSED, "%s could not reach it", known->argv[0]);
		if (r == 0)
			d->text = known->parse(output);
	}
	d->silent = r < 0;
	if (d->silent)
		d->text = xstrdup(err.text);
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
	/* Units identify a daemon better. A process of the same name is then that daemon's. */
	for (size_t i = 0; i < ELEMENTS(KNOWN); i++) {
		bool is_up = false;

		for (const char *const *name = KNOWN[i].units; *name; name++) {
			const struct unit *unit = unit_list_find(&f->units, *name);

			is_up |= unit && unit_is_up(unit);
		}
		if (is_up)
			*array_add(f->daemons, f->n_daemons) = (struct ntp_daemon){KNOWN[i].name, &KNOWN[i]};
	}
	for (size_t i = 0; i < ELEMENTS(KNOWN); i++) {
		bool runs = false;

		for (size_t k = 0; k < f->n_processes; k++)
			runs |= !strcmp(f->processes[k].name, KNOWN[i].process);
		for (size_t k = 0; k < f->n_daemons; k++)
			runs &= strcmp(f->daemons[k].known->process, KNOWN[i].process) != 0;
		if (runs)
			*array_add(f->daemons, f->n_daemons) = (struct ntp_daemon){KNOWN[i].name, &KNOWN[i]};
	}
	for (size_t i = 0; i < f->n_daemons; i++)
		ntp_ask(&f->daemons[i], units);
}
