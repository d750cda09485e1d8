/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which daemons discipline the clock: see ntp.h. */
#include "setup/audit/ntp.h"

#include "lib/host/process/subprocess.h"

#include <linux/capability.h>

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
	for (const char *line = text; line;
		line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
		char name[64];
		int stratum;

		if ((*line == '*' || *line == 'o') &&
			sscanf(line + 1, "%63s %*s %d", name, &stratum) == 2)
			return text_format("%s, stratum %d", name, stratum + 1);
	}
	return NULL;
}

/* "4/4 peers valid, clock synced, stratum 3": it names no server. */
char *ntp_parse_openntpd(const char *text)
{
	const char *synced = strstr(text, "clock synced, stratum ");
	int stratum;

	if (!synced || sscanf(synced, "clock synced, stratum %d", &stratum) != 1)
		return NULL;
	return text_format("its peers, stratum %d", stratum);
}

/* Of ntpd-rs: "Stratum: 2", 16 while it follows none, and below "Sources:" a line for each:
 * "name:123/10.77.0.1:123 (1): …". */
char *ntp_parse_ntp_ctl(const char *text)
{
	const char *line = strstr(text, "\nStratum: "), *sources = strstr(text, "\nSources:\n");
	char name[128];
	int stratum;

	if (!line || sscanf(line, " Stratum: %d", &stratum) != 1 || stratum >= 16 || !sources ||
		sscanf(sources, " Sources: %127[^ \n]", name) != 1 || strstr(name, "Servers:"))
		return NULL;
	return text_format("%s, stratum %d", name, stratum);
}

/* "Enabled" or "Disabled" */
static char *parse_toolbox(const char *text)
{
	return strncmp(text, "Enabled", 7) ? NULL : xstrdup("the clock of its host");
}

static const struct known_daemon {
	const char *name;
	const char *units[4];
	const char *process; /* several daemons share a name: the first row counts */
	const char *argv[5]; /* asks it; and its answer: */
	char *(*parse)(const char *text);
	const char *idle; /* with this argument it leaves the clock alone */
	bool timesync;    /* asked over D-Bus */
	/* part of a virtual machine's guest tools: it follows the host, and the kernel does not
	 * report it */
	bool host;
	bool optional; /* it is no time daemon unless it says that it follows something */
} KNOWN[] = {
	{"chrony", {"chrony.service", "chronyd.service"}, "chronyd",
		{"chronyc", "-n", "-c", "tracking"}, ntp_parse_chrony},
	{"systemd-timesyncd", {"systemd-timesyncd.service"}, "systemd-timesyn", .timesync = true},
	{"ntpsec", {"ntpsec.service"}, "ntpd", {"ntpq", "-pn"}, ntp_parse_ntpq},
	{"ntpd", {"ntp.service", "ntpd.service"}, "ntpd", {"ntpq", "-pn"}, ntp_parse_ntpq},
	{"openntpd", {"openntpd.service"}, "ntpd", {"ntpctl", "-s", "status"}, ntp_parse_openntpd},
	{"ntpd-rs", {"ntpd-rs.service"}, "ntp-daemon", {"ntp-ctl", "status"}, ntp_parse_ntp_ctl},
	{"phc2sys", {"phc2sys.service"}, "phc2sys"},
	{"htpdate", {"htpdate.service"}, "htpdate"},
	{"VBoxService",
		{"virtualbox-guest-utils.service", "vboxadd-service.service",
			"vboxservice.service"},
		"VBoxService", .idle = "--disable-timesync", .host = true},
	{"vmtoolsd", {"open-vm-tools.service", "vmtoolsd.service", "vmware-tools.service"},
		"vmtoolsd", {"vmware-toolbox-cmd", "timesync", "status"}, parse_toolbox,
		.host = true, .optional = true},
};

/* By its own command. */
static int ask_command(struct ntp_daemon *d, struct error *err)
{
	const struct known_daemon *known = d->known;
	_cleanup_(freep) char *output = NULL;
	int status, r = subprocess_ask(known->argv, ASK_NTP_MS, &output, &status, err);

	if (r == 0 && status != 0 && !known->optional)
		r = error_say(err, -ECONNREFUSED, "%s could not reach it", known->argv[0]);
	if (r == 0)
		d->text = known->parse(output);
	return r;
}

static int ask_timesync(struct ntp_daemon *d, struct units *units, struct error *err)
{
	_cleanup_(freep) char *server = NULL;
	int r;

	if (!units)
		return error_say(err, -ENOTCONN, "it only answers over D-Bus");
	r = units_timesync(units, &server, err);
	if (r > 0)
		d->text = TAKE(server) ?: xstrdup("a server");
	return r;
}

static void ntp_ask(struct ntp_daemon *d, struct units *units)
{
	struct error err = {};
	int r = 0;

	if (d->known->timesync)
		r = ask_timesync(d, units, &err);
	else if (d->known->parse)
		r = ask_command(d, &err);
	else if (d->known->host)
		d->text = xstrdup("the clock of its host");
	else
		r = error_say(&err, -ENOTSUP, "it cannot be queried");
	d->silent = r < 0;
	if (d->silent)
		d->text = xstrdup(err.text);
}

const char *ntp_unit(size_t i)
{
	for (size_t row = 0; row < ELEMENTS(KNOWN); row++)
		for (const char *const *unit = KNOWN[row].units; *unit; unit++)
			if ((KNOWN[row].parse || KNOWN[row].timesync) && !KNOWN[row].host &&
				i-- == 0)
				return *unit;
	return NULL;
}

static bool has_argument(int root_fd, pid_t pid, const char *argument)
{
	_cleanup_(closep) int fd = path_open(root_fd, O_RDONLY, "/proc/%d/cmdline", pid);
	char text[4096];
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (n <= 0)
		return false;
	text[n] = '\0';
	for (const char *p = text; p < text + n; p += strlen(p) + 1)
		if (!strcmp(p, argument))
			return true;
	return false;
}

static const struct process *process_of(const struct facts *f, pid_t pid)
{
	for (size_t i = 0; i < f->n_processes; i++)
		if (f->processes[i].pid == pid)
			return &f->processes[i];
	return NULL;
}

enum disciplines { DISCIPLINES, ELSEWHERE, IDLE };

/* Whether a process sets this machine's clock. What cannot be read about it is taken for yes.
 * ELSEWHERE: it is in a PID namespace below ours, a container; it may set the clock all the
 * same, if the container may. IDLE: it may not, it was told not to, or it is the child of one of
 * the same name, which counts. */
static enum disciplines process_disciplines(
	const struct facts *f, const struct process *process, const struct known_daemon *known)
{
	_cleanup_(freep) char *status = path_text(f->root_fd, "/proc/%d/status", process->pid);
	const char *pids = status ? strstr(status, "\nNSpid:") : NULL,
		   *parent_line = status ? strstr(status, "\nPPid:") : NULL,
		   *mask = status ? strstr(status, "\nCapEff:") : NULL;
	unsigned long long capabilities = ~0ULL;
	const struct process *parent = NULL;
	bool elsewhere, may;
	int pid, other;

	if (mask)
		sscanf(mask, " CapEff: %llx", &capabilities);
	elsewhere = pids && sscanf(pids, " NSpid: %d %d", &pid, &other) == 2;
	may = capabilities >> CAP_SYS_TIME & 1;
	/* that of a session's guest tools may not */
	if ((!may && (elsewhere || known->host)) ||
		(known->idle && has_argument(f->root_fd, process->pid, known->idle)))
		return IDLE;
	if (elsewhere)
		return ELSEWHERE;
	if (parent_line && sscanf(parent_line, " PPid: %d", &pid) == 1)
		parent = process_of(f, pid);
	return parent && !strcmp(parent->name, process->name) ? IDLE : DISCIPLINES;
}

static bool unit_runs(const struct facts *f, const struct known_daemon *known)
{
	for (const char *const *name = known->units; *name; name++) {
		const struct unit *unit = unit_list_find(&f->units, *name);

		if (unit && unit_is_up(unit))
			return true;
	}
	return false;
}

/* What a process shows of the daemon that it is: no more than its name, if several share it. */
static const char *name_by_process(const struct known_daemon *first)
{
	for (const struct known_daemon *known = first + 1; known < KNOWN + ELEMENTS(KNOWN); known++)
		if (!strcmp(known->process, first->process))
			return first->process;
	return first->name;
}

/* The daemons that share a name of a process, of which KNOWN[first] is the first: as many as
 * processes set the clock. Units identify a daemon better, so they are added first, then
 * processes; or, where no process is visible, units alone. */
static void add_daemons(struct facts *f, size_t first, bool by_unit)
{
	size_t n[IDLE + 1] = {}, added = 0, most;

	for (size_t i = 0; i < f->n_processes; i++)
		if (!strcmp(f->processes[i].name, KNOWN[first].process))
			n[process_disciplines(f, &f->processes[i], &KNOWN[first])]++;
	for (size_t i = 0; i < f->n_daemons; i++)
		added += !strcmp(f->daemons[i].known->process, KNOWN[first].process);
	most = n[DISCIPLINES] + n[ELSEWHERE] + n[IDLE] > 0 ? n[DISCIPLINES] : SIZE_MAX;
	for (size_t i = first; by_unit && i < ELEMENTS(KNOWN) && added < most; i++)
		if (!strcmp(KNOWN[i].process, KNOWN[first].process) && unit_runs(f, &KNOWN[i])) {
			*array_add(f->daemons, f->n_daemons) = (struct ntp_daemon){
				KNOWN[i].name, &KNOWN[i]};
			added++;
		}
	for (; !by_unit && added < n[DISCIPLINES]; added++)
		*array_add(f->daemons, f->n_daemons) = (struct ntp_daemon){
			name_by_process(&KNOWN[first]), &KNOWN[first]};
	if (n[ELSEWHERE] > 0 && !f->contained)
		f->contained = name_by_process(&KNOWN[first]);
}

void ntp_read(struct facts *f, struct units *units)
{
	size_t kept = 0;

	for (size_t i = 0, first; i < 2 * ELEMENTS(KNOWN); i++) {
		const size_t row = i % ELEMENTS(KNOWN);

		for (first = 0; strcmp(KNOWN[first].process, KNOWN[row].process) != 0;)
			first++;
		if (first == row)
			add_daemons(f, row, i == row);
	}
	for (size_t i = 0; i < f->n_daemons; i++) {
		struct ntp_daemon *d = &f->daemons[i];

		d->host = d->known->host;
		ntp_ask(d, units);
		if (d->known->optional && (d->silent || !d->text))
			free(TAKE(d->text));
		else
			f->daemons[kept++] = *d;
	}
	f->n_daemons = kept;
}
