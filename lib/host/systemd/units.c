/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is asked of and told to systemd: see units.h.
 *
 * systemd answers a request with a job, and later sends a signal with the result of the job. Calls
 * over D-Bus do not ask a password agent, nor run systemd-sysv-install as systemctl does.
 * systemd-analyze evaluates the calendar expressions of timers. */
#include "lib/host/systemd/units.h"

#include "lib/host/process/process.h"
#include "lib/host/process/subprocess.h"

#include <pwd.h>
#include <stdarg.h>
#include <syslog.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-daemon.h>
#define SD_JOURNAL_SUPPRESS_LOCATION
#include <systemd/sd-journal.h>
#include <systemd/sd-login.h>

#define SERVICE "org.freedesktop.systemd1"
#define OBJECT "/org/freedesktop/systemd1"
#define MANAGER SERVICE, OBJECT, SERVICE ".Manager"
#define TIMESYNC                                                   \
	"org.freedesktop.timesync1", "/org/freedesktop/timesync1", \
		"org.freedesktop.timesync1.Manager"

enum { ASK_CALENDAR_MS = 5000, LOGIND_TIMEOUT_US = 5 * 1000 * 1000 };

/* While systemd reloads its files it answers nobody: longer than the 25 s of sd-bus on a busy
 * machine. */
enum { JOB_TIMEOUT_US = 100 * 1000 * 1000 };

static const uint64_t LONGEST_STOP_US = UINT64_C(3600) * 1000000;

/* The arguments of a method that takes states (none) and patterns. */
#define OF_KINDS "asas", 0, 4, "*.service", "*.timer", "*.socket", "*.path"

struct units {
	sd_bus *bus;
	units_waiting *waiting; /* NULL: nobody is told */
	void *waiting_data;
};

/* The other side's message, or else that of errno. */
static int units_failed(struct error *err, int r, const sd_bus_error *cause, const char *doing)
{
	return cause->message ? error_say(err, r, "%s: %s", doing, cause->message)
			      : error_os(err, r, "%s", doing);
}

/* Calls a method of the manager. `doing`: how the sentence of a failure begins. ret_reply may be
 * NULL. */
static int call_manager(struct units *units, sd_bus_message **ret_reply, struct error *err,
	const char *doing, const char *method, const char *types, ...)
{
	_cleanup_(sd_bus_error_free) sd_bus_error cause = SD_BUS_ERROR_NULL;
	va_list args;
	int r;

	va_start(args, types);
	r = sd_bus_call_methodv(units->bus, MANAGER, method, &cause, ret_reply, types, args);
	va_end(args);
	return r < 0 ? units_failed(err, r, &cause, doing) : 0;
}

/* A manager's own socket. */
static int open_private(sd_bus **ret, const char *socket)
{
	_cleanup_(sd_bus_flush_close_unrefp) sd_bus *bus = NULL;
	_cleanup_(freep) char *address = text_format("unix:path=%s", socket);
	int r = sd_bus_new(&bus);

	if (r >= 0)
		r = sd_bus_set_address(bus, address);
	if (r >= 0)
		r = sd_bus_start(bus);
	if (r >= 0)
		*ret = TAKE(bus);
	return r;
}

int units_open(struct units **ret, const char *socket, struct error *err)
{
	_cleanup_(units_freep) struct units *units = xcalloc(1, sizeof(*units));
	int r;

	if (!socket && sd_booted() <= 0)
		return error_say(err, -ENOTCONN, "systemd does not run");
	r = socket ? open_private(&units->bus, socket) : sd_bus_open_system(&units->bus);
	if (r < 0 && !socket && geteuid() == 0) /* on a system without a message bus */
		r = open_private(&units->bus, "/run/systemd/private");
	if (r < 0)
		return error_say(
			err, -ENOTCONN, "systemd does not answer over D-Bus: %s", strerror(-r));
	*ret = TAKE(units);
	return 0;
}

int units_open_direct(struct units **ret, struct error *err)
{
	if (geteuid() == 0 && sd_booted() > 0 && units_open(ret, "/run/systemd/private", NULL) == 0)
		return 0;
	return units_open(ret, NULL, err);
}

void units_free(struct units *units)
{
	if (!units)
		return;
	sd_bus_flush_close_unref(units->bus);
	free(units);
}

/* The object of a unit; the caller frees it. */
static char *unit_path(const char *name)
{
	char *path;

	if (sd_bus_path_encode(OBJECT "/unit", name, &path) < 0) /* only without memory */
		xalloc_fail();
	return path;
}

int units_get(struct units *units, const char *name, const char *property, char type, void *ret,
	struct error *err)
{
	_cleanup_(sd_bus_error_free) sd_bus_error cause = SD_BUS_ERROR_NULL;
	const char *dot = strchr(property, '.');
	_cleanup_(freep) char *path = unit_path(name), *interface = text_format(SERVICE ".%.*s",
							       (int)(dot - property), property);
	int r;

	if (type == 's')
		r = sd_bus_get_property_string(
			units->bus, SERVICE, path, interface, dot + 1, &cause, ret);
	else if (type == 'a')
		r = sd_bus_get_property_strv(
			units->bus, SERVICE, path, interface, dot + 1, &cause, ret);
	else
		r = sd_bus_get_property_trivial(
			units->bus, SERVICE, path, interface, dot + 1, &cause, type, ret);
	if (r == -EBADR && type == 'a') /* of a newer systemd */
		*(char ***)ret = NULL;
	else if (r < 0)
		return error_say(err, r, "cannot ask systemd for %s of %s: %s", dot + 1, name,
			cause.message ?: strerror(-r));
	return 0;
}

bool names_have(char *const *names, const char *name)
{
	for (; names && *names; names++)
		if (!strcmp(*names, name))
			return true;
	return false;
}

int units_related(struct units *units, const char *name, const char *const *properties, char ***ret,
	struct error *err)
{
	_cleanup_(argv_freep) char **all = xcalloc(1, sizeof(*all));
	size_t n = 0;

	for (; *properties; properties++) {
		_cleanup_(freep) char *property = text_format("Unit.%s", *properties);
		_cleanup_(argv_freep) char **names = NULL;
		int r = units_get(units, name, property, 'a', &names, err);

		if (r < 0)
			return r;
		for (char **p = names; p && *p; p++) {
			all = xreallocarray(all, n + 2, sizeof(*all));
			all[n++] = xstrdup(*p);
			all[n] = NULL;
		}
	}
	*ret = TAKE(all);
	return 0;
}

void unit_list_clear(struct unit_list *list)
{
	for (size_t i = 0; i < list->n; i++) {
		struct unit *unit = &list->items[i];

		free(unit->name);
		free(unit->load);
		free(unit->active);
		free(unit->sub);
		free(unit->file_state);
		argv_freep(&unit->triggers);
	}
	free(list->items);
	*list = (struct unit_list){};
}

bool unit_is_kind(const char *name, const char *suffix)
{
	const char *dot = strrchr(name, '.');

	return dot && !strcmp(dot, suffix);
}

bool unit_is_up(const struct unit *unit)
{
	const char *active = unit->active;

	return strcmp(active, "inactive") != 0 && strcmp(active, "failed") != 0 &&
	       strcmp(active, "deactivating") != 0;
}

int units_state(struct units *units, const char *name)
{
	_cleanup_(freep) char *active = NULL;
	int r = units_get(units, name, "Unit.ActiveState", 's', &active, NULL);

	return r < 0 ? r : unit_is_up(&(struct unit){.active = active});
}

bool units_is_up(struct units *units, const char *name)
{
	return units_state(units, name) > 0;
}

bool units_is_of_bus(struct units *units, const char *name)
{
	_cleanup_(freep) char *type = NULL, *bus = NULL;

	return unit_is_kind(name, ".service") &&
	       units_get(units, name, "Service.Type", 's', &type, NULL) == 0 &&
	       !strcmp(type, "dbus") &&
	       units_get(units, name, "Service.BusName", 's', &bus, NULL) == 0 && *bus;
}

static int unit_by_name(const void *a, const void *b)
{
	return strcmp(((const struct unit *)a)->name, ((const struct unit *)b)->name);
}

const struct unit *unit_list_find(const struct unit_list *list, const char *name)
{
	const struct unit key = {.name = (char *)name};

	return list->n ? bsearch(&key, list->items, list->n, sizeof(key), unit_by_name) : NULL;
}

int units_list(struct units *units, struct unit_list *ret, struct error *err)
{
	_cleanup_(unit_list_clear) struct unit_list list = {};
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
	const char *name, *load, *active, *sub;
	int r = call_manager(units, &reply, err, "cannot ask systemd for its units",
		"ListUnitsByPatterns", OF_KINDS);

	if (r < 0)
		return r;
	r = sd_bus_message_enter_container(reply, 'a', "(ssssssouso)");
	while (r >= 0 && (r = sd_bus_message_read(reply, "(ssssssouso)", &name, NULL, &load,
				  &active, &sub, NULL, NULL, NULL, NULL, NULL)) > 0)
		*array_add(list.items, list.n) = (struct unit){
			xstrdup(name), xstrdup(load), xstrdup(active), xstrdup(sub)};
	if (r < 0)
		return error_os(err, r, "cannot read systemd's list of units");
	if (list.n > 0)
		qsort(list.items, list.n, sizeof(*list.items), unit_by_name);
	for (size_t i = 0; i < list.n; i++) {
		struct unit *unit = &list.items[i];

		if (!strcmp(unit->load, "not-found")) {
			unit->file_state = xstrdup("");
			continue;
		}
		r = units_get(units, unit->name, "Unit.UnitFileState", 's', &unit->file_state, err);
		if (r >= 0 && !unit_is_kind(unit->name, ".service"))
			r = units_get(
				units, unit->name, "Unit.Triggers", 'a', &unit->triggers, err);
		if (r < 0)
			return r;
	}
	*ret = TAKE_STRUCT(list);
	return 0;
}

int units_files(struct units *units, char ***ret, struct error *err)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
	_cleanup_(argv_freep) char **names = NULL;
	const char *path, *state;
	size_t n = 0;
	int r = call_manager(units, &reply, err, "cannot ask systemd for its unit files",
		"ListUnitFilesByPatterns", OF_KINDS);

	if (r < 0)
		return r;
	r = sd_bus_message_enter_container(reply, 'a', "(ss)");
	/* "/usr/lib/systemd/system/cron.service", "enabled" */
	while (r >= 0 && (r = sd_bus_message_read(reply, "(ss)", &path, &state)) > 0) {
		const char *slash = strrchr(path, '/');

		if (slash && strncmp(state, "masked", strlen("masked")) != 0 &&
			strcmp(state, "alias") != 0 && !strstr(path, "@."))
			*array_add(names, n) = xstrdup(slash + 1);
	}
	array_add(names, n); /* the NULL at the end */
	if (r < 0)
		return error_os(err, r, "cannot read systemd's list of unit files");
	*ret = TAKE(names);
	return 0;
}

bool units_flag(struct units *units, const char *name, const char *property, bool otherwise)
{
	int flag = otherwise;

	units_get(units, name, property, 'b', &flag, NULL);
	return flag;
}

int64_t units_timer_next(struct units *units, const char *name)
{
	uint64_t realtime_us = 0, monotonic_us = 0;
	int64_t next = 0;

	if (units_get(units, name, "Timer.NextElapseUSecRealtime", 't', &realtime_us, NULL) < 0 ||
		units_get(units, name, "Timer.NextElapseUSecMonotonic", 't', &monotonic_us, NULL) <
			0)
		return 0;
	if (realtime_us > 0 && realtime_us < INT64_MAX / 1000)
		next = (int64_t)realtime_us * 1000;
	if (monotonic_us > 0 && monotonic_us < INT64_MAX / 1000) {
		int64_t then = clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_BOOTTIME) +
			       (int64_t)monotonic_us * 1000;

		next = next && next < then ? next : then;
	}
	return next;
}

int64_t units_timer_accuracy(struct units *units, const char *name)
{
	uint64_t accuracy_us = 0;

	if (units_get(units, name, "Timer.AccuracyUSec", 't', &accuracy_us, NULL) < 0 ||
		accuracy_us > INT64_MAX / 1000)
		return 0;
	return (int64_t)accuracy_us * 1000;
}

int units_timesync(struct units *units, char **ret_server, struct error *err)
{
	_cleanup_(sd_bus_error_free) sd_bus_error cause = SD_BUS_ERROR_NULL;
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *message = NULL;
	_cleanup_(freep) char *server = NULL;
	uint32_t leap, stratum;
	uint64_t packets;
	int ignored, r;

	if (!units_is_up(units, "systemd-timesyncd.service")) /* a question would start it */
		return error_say(err, -ESRCH, "systemd-timesyncd is not a service of this system");
	r = sd_bus_get_property(
		units->bus, TIMESYNC, "NTPMessage", &cause, &message, "(uuuuittayttttbtt)");
	if (r >= 0)
		r = sd_bus_get_property_string(units->bus, TIMESYNC, "ServerName", &cause, &server);
	if (r >= 0)
		r = sd_bus_message_enter_container(message, 'r', "uuuuittayttttbtt");
	if (r >= 0)
		r = sd_bus_message_read(message, "uuuu", &leap, NULL, NULL, &stratum);
	if (r >= 0)
		r = sd_bus_message_skip(message, "ittayttt");
	if (r >= 0)
		r = sd_bus_message_read(message, "tbt", NULL, &ignored, &packets);
	if (r < 0)
		return units_failed(err, r, &cause, "cannot ask systemd-timesyncd");
	*ret_server = *server ? TAKE(server) : NULL;
	return packets > 0 && !ignored && leap != 3 && stratum > 0 && stratum < 16;
}

int64_t timer_period(const char *printed)
{
	time_t last = 0, moment;
	int64_t period = 0;
	int n = 0;

	for (const char *line = printed; *line;
		line = strchrnul(line, '\n'), line += *line == '\n') {
		const char *colon;
		struct tm tm = {};

		line += strspn(line, " ");
		if (strncmp(line, "Next elapse:", 12) != 0 && strncmp(line, "Iter", 4) != 0)
			continue;
		colon = strchr(line, ':'); /* "Next elapse: Sat 2026-11-21 06:00:00 UTC" */
		if (!colon ||
			sscanf(colon + 1, "%*s %d-%d-%d %d:%d:%d", &tm.tm_year, &tm.tm_mon,
				&tm.tm_mday, &tm.tm_hour, &tm.tm_min, &tm.tm_sec) != 6 ||
			tm.tm_year < 1970 || tm.tm_year > 9999 || tm.tm_mon < 1)
			continue;
		tm.tm_year -= 1900;
		tm.tm_mon--;
		moment = timegm(&tm); /* local or not: only differences count */
		if (n == 1)
			period = moment - last;
		else if (n > 1 && moment - last != period)
			return 0;
		last = moment;
		n++;
	}
	return period > 0 ? saturate_multiply((uint64_t)period, NS_PER_S) : 0;
}

/* Writes the settings of a timer into `text`, as in its file. `ret_every_ns`: of OnUnitActiveSec or
 * OnUnitInactiveSec; `ret_calendar`: of OnCalendar, if there is one only. */
static int read_timer(struct units *units, const char *name, FILE *text, int64_t *ret_every_ns,
	char **ret_calendar)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *monotonic = NULL, *calendars = NULL;
	_cleanup_(freep) char *path = unit_path(name);
	const char *base, *spec;
	uint64_t us;
	int n = 0, r;

	r = sd_bus_get_property(units->bus, SERVICE, path, SERVICE ".Timer", "TimersMonotonic",
		NULL, &monotonic, "a(stt)");
	if (r >= 0)
		r = sd_bus_message_enter_container(monotonic, 'a', "(stt)");
	while (r >= 0 && (r = sd_bus_message_read(monotonic, "(stt)", &base, &us, NULL)) > 0) {
		/* "infinity" is the greatest of all */
		int64_t ns = saturate_multiply(us, NS_PER_US);

		/* the bus says OnUnitActiveUSec for the file's OnUnitActiveSec */
		fprintf(text, "%s%.*sSec=%s", ftell(text) > 0 ? ", " : "",
			(int)(strlen(base) - strlen("USec")), base, text_duration(ns));
		if (!strncmp(base, "OnUnit", strlen("OnUnit")))
			*ret_every_ns = ns;
	}
	if (r >= 0)
		r = sd_bus_get_property(units->bus, SERVICE, path, SERVICE ".Timer",
			"TimersCalendar", NULL, &calendars, "a(sst)");
	if (r >= 0)
		r = sd_bus_message_enter_container(calendars, 'a', "(sst)");
	while (r >= 0 && (r = sd_bus_message_read(calendars, "(sst)", NULL, &spec, NULL)) > 0) {
		fprintf(text, "%sOnCalendar=%s", ftell(text) > 0 ? ", " : "", spec);
		free(TAKE(*ret_calendar));
		*ret_calendar = ++n == 1 ? xstrdup(spec) : NULL;
	}
	return r;
}

/* False: systemd does not say. */
static bool timer_describe(struct units *units, const char *name, struct timer *ret)
{
	_cleanup_(freep) char *calendar = NULL, *printed = NULL;
	uint64_t spread_us = 0;
	int64_t every_ns = 0;
	char *text;
	size_t size;
	FILE *file = xopen_memstream(&text, &size);
	int status, r = read_timer(units, name, file, &every_ns, &calendar);

	text_stream_close(file, &text);
	if (r >= 0)
		r = units_get(units, name, "Timer.RandomizedDelayUSec", 't', &spread_us, NULL);
	if (r < 0) {
		free(text);
		return false;
	}
	*ret = (struct timer){
		xstrdup(name), text, .spread_ns = saturate_multiply(spread_us, NS_PER_US)};
	if (!calendar) {
		ret->period_ns = every_ns;
	} else if (!every_ns) {
		const char *const argv[] = {
			"systemd-analyze", "calendar", "--iterations=8", "--", calendar, NULL};

		if (subprocess_ask(argv, ASK_CALENDAR_MS, &printed, &status, NULL) == 0 &&
			status == 0)
			ret->period_ns = timer_period(printed);
	}
	return true;
}

struct timer *timer_list(struct units *units, const char *service, size_t *ret_n)
{
	_cleanup_(argv_freep) char **triggers = NULL;
	struct timer *timers = NULL, timer;

	*ret_n = 0;
	units_get(units, service, "Unit.TriggeredBy", 'a', &triggers, NULL);
	for (char **name = triggers; name && *name; name++)
		if (unit_is_kind(*name, ".timer") && timer_describe(units, *name, &timer))
			*array_add(timers, *ret_n) = timer;
	return timers;
}

void timer_list_free(struct timer *timers, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(timers[i].name);
		free(timers[i].text);
	}
	free(timers);
}

/* The job to wait for. */
struct job {
	const char *path;
	char result[32]; /* "": not ended */
};

/* A job may end before we know its name, so signals are handled only where run_job waits. */
static int job_removed(sd_bus_message *m, void *data, sd_bus_error *cause)
{
	struct job *job = data;
	const char *path, *result;

	if (sd_bus_message_read(m, "uoss", NULL, &path, NULL, &result) < 0)
		return 0;
	if (job->path && !strcmp(path, job->path))
		snprintf(job->result, sizeof(job->result), "%s", result);
	return 0;
}

void units_set_waiting(struct units *units, units_waiting *waiting, void *data)
{
	units->waiting = waiting;
	units->waiting_data = data;
}

static int run_job(
	struct units *units, const char *name, bool start, const char *mode, struct error *err)
{
	_cleanup_(sd_bus_error_free) sd_bus_error cause = SD_BUS_ERROR_NULL;
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
	_cleanup_(sd_bus_slot_unrefp) sd_bus_slot *slot = NULL;
	int64_t begin_ns, waited_ns, timeout_ns = JOB_TIMEOUT_US * NS_PER_US;
	uint64_t stop_us = 0;
	struct job job = {};
	int r;

	sd_bus_set_method_call_timeout(units->bus, JOB_TIMEOUT_US);
	r = sd_bus_match_signal(units->bus, &slot, MANAGER, "JobRemoved", job_removed, &job);
	if (r >= 0) { /* fails from the second time on: we are subscribed already */
		sd_bus_call_method(units->bus, MANAGER, "Subscribe", NULL, NULL, "");
		r = sd_bus_call_method(units->bus, MANAGER, start ? "StartUnit" : "StopUnit",
			&cause, &reply, "ss", name, mode);
	}
	if (r >= 0)
		r = sd_bus_message_read(reply, "o", &job.path);
	if (r < 0)
		return error_say(err, r, "%s", cause.message ?: strerror(-r));

	/* systemd kills what has not stopped within its TimeoutStopSec, and then waits as long
	 * again */
	begin_ns = clock_ns(CLOCK_MONOTONIC);
	if (unit_is_kind(name, ".service") &&
		units_get(units, name, "Service.TimeoutStopUSec", 't', &stop_us, NULL) == 0 &&
		stop_us <= LONGEST_STOP_US)
		timeout_ns += 2 * (int64_t)stop_us * NS_PER_US;

	while (r >= 0 && !job.result[0]) {
		waited_ns = clock_ns(CLOCK_MONOTONIC) - begin_ns;
		r = sd_bus_process(units->bus, NULL);
		if (r > 0)
			continue;
		if (r == 0 && waited_ns >= timeout_ns)
			r = -ETIMEDOUT;
		if (r == 0 && units->waiting)
			r = units->waiting(units->waiting_data, name, start, waited_ns);
		if (r < 0)
			break;
		r = sd_bus_wait(units->bus, 200000);
		r = r == -EINTR ? 0 : r;
	}

	if (r == -ETIMEDOUT)
		return error_say(
			err, r, "systemd has not finished %s it", start ? "starting" : "stopping");
	if (r < 0)
		return error_os(
			err, r, "cannot wait for systemd to %s it", start ? "start" : "stop");
	if (strcmp(job.result, "done") != 0 && strcmp(job.result, "skipped") != 0)
		return error_say(err, -ECANCELED, "systemd's job ended with '%s'", job.result);
	return 0;
}

/* A usual start also starts everything that the unit wants or requires, the basic system included,
 * and so what the administrator had stopped. That is the second choice, for a unit that does not
 * start alone. */
int units_set(struct units *units, const char *name, bool active, struct error *err)
{
	int r;

	if (!active)
		return run_job(units, name, false, "replace", err);
	r = run_job(units, name, true, "ignore-requirements", err);
	if (r >= 0 || r == -ETIMEDOUT || r == -EINTR)
		return r;
	return run_job(units, name, true, "replace", err);
}

/* Processes of a unit that began at most so long after its last start; 0: whenever they did. */
static char *left_processes(struct units *units, const char *name, int64_t within_ns)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
	_cleanup_(freep) char *active = NULL;
	enum { MOST_NAMED = 4 };
	uint64_t began_us = 0;
	size_t n = 0;
	uint32_t pid;
	char *text = NULL;

	/* while it is still stopping, nothing is left yet */
	if (units_get(units, name, "Unit.ActiveState", 's', &active, NULL) < 0 ||
		(strcmp(active, "inactive") != 0 && strcmp(active, "failed") != 0))
		return NULL;
	if (within_ns)
		units_get(units, name, "Service.ExecMainStartTimestampMonotonic", 't', &began_us,
			NULL);
	if (sd_bus_call_method(units->bus, MANAGER, "GetUnitProcesses", NULL, &reply, "s", name) <
			0 ||
		sd_bus_message_enter_container(reply, 'a', "(sus)") < 0)
		return NULL;
	while (sd_bus_message_read(reply, "(sus)", NULL, &pid, NULL) > 0) {
		_cleanup_(freep) char *comm = path_text(AT_FDCWD, "/proc/%u/comm", pid);
		int64_t since_ns = (int64_t)process_ref_start_ticks((pid_t)pid) *
					   (NS_PER_S / sysconf(_SC_CLK_TCK)) -
				   saturate_multiply(began_us, NS_PER_US) +
				   clock_ns(CLOCK_MONOTONIC) - clock_ns(CLOCK_BOOTTIME);

		if (comm && (!within_ns || since_ns <= within_ns) && n++ < MOST_NAMED)
			text_append(&text, ", ", "%s (PID %u)", comm, pid);
	}
	if (n > MOST_NAMED)
		text_append(&text, " ", "and %zu more", n - MOST_NAMED);
	return text;
}

char *units_left(struct units *units, const char *name)
{
	return left_processes(units, name, 0);
}

char *units_left_of_start(struct units *units, const char *name)
{
	return left_processes(units, name, 10 * NS_PER_S);
}

int units_wait_left(struct units *units, const char *name)
{
	enum { LOOK_AGAIN_US = 100 * 1000 };
	const int64_t begin_ns = clock_ns(CLOCK_MONOTONIC);
	int r = 0;

	for (char *left; r >= 0 && (left = units_left(units, name)); free(left)) {
		_cleanup_(freep) char *what = text_format("%s of %s", left, name);

		if (units->waiting)
			r = units->waiting(units->waiting_data, what, false,
				clock_ns(CLOCK_MONOTONIC) - begin_ns);
		usleep(LOOK_AGAIN_US);
	}
	return r;
}

int units_mask(
	struct units *units, const char *name, bool masked, bool persistent, struct error *err)
{
	sd_bus_set_method_call_timeout(units->bus, JOB_TIMEOUT_US);
	return masked ? call_manager(units, NULL, err, "cannot mask it", "MaskUnitFiles", "asbb", 1,
				name, !persistent, 0)
		      : call_manager(units, NULL, err, "cannot unmask it", "UnmaskUnitFiles", "asb",
				1, name, !persistent);
}

int units_reload(struct units *units, struct error *err)
{
	sd_bus_set_method_call_timeout(units->bus, JOB_TIMEOUT_US);
	return call_manager(units, NULL, err, "systemd could not reload its files", "Reload", "");
}

char *units_file_state(struct units *units, const char *name)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
	const char *state;

	if (sd_bus_call_method(units->bus, MANAGER, "GetUnitFileState", NULL, &reply, "s", name) <
			0 ||
		sd_bus_message_read(reply, "s", &state) < 0)
		return NULL;
	return xstrdup(state);
}

/* What logind knows and does: desktop sessions, and holding off sleep and shutdown. */

char **sessions_desktops(void)
{
	_cleanup_(argv_freep) char **sessions = NULL;
	char **users = NULL;
	size_t n = 0;

	if (sd_get_sessions(&sessions) < 0)
		sessions = NULL;
	for (char **session = sessions; session && *session; session++) {
		_cleanup_(freep) char *type = NULL, *state = NULL;
		const struct passwd *user;
		uid_t uid;

		if (sd_session_get_type(*session, &type) < 0 ||
			sd_session_get_state(*session, &state) < 0 ||
			(strcmp(type, "x11") != 0 && strcmp(type, "wayland") != 0 &&
				strcmp(type, "mir") != 0) ||
			!strcmp(state, "closing") || sd_session_get_uid(*session, &uid) < 0)
			continue;
		user = getpwuid(uid);
		*array_add(users, n) = user ? xstrdup(user->pw_name) : text_format("%u", uid);
	}
	array_add(users, n); /* the NULL at the end */
	return users;
}

struct inhibitor *inhibitors_read(size_t *ret_n)
{
	_cleanup_(sd_bus_flush_close_unrefp) sd_bus *bus = NULL;
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
	const char *what, *who, *why, *mode;
	struct inhibitor *all = NULL;
	uint32_t pid;

	*ret_n = 0;
	if (access("/run/systemd/seats/", F_OK) < 0 ||
		sd_bus_open_system(&bus) < 0) /* a call would start logind */
		return NULL;
	sd_bus_set_method_call_timeout(bus, LOGIND_TIMEOUT_US);
	if (sd_bus_call_method(bus, "org.freedesktop.login1", "/org/freedesktop/login1",
		    "org.freedesktop.login1.Manager", "ListInhibitors", NULL, &reply, "") < 0 ||
		sd_bus_message_enter_container(reply, 'a', "(ssssuu)") < 0)
		return NULL;
	while (sd_bus_message_read(reply, "(ssssuu)", &what, &who, &why, &mode, NULL, &pid) > 0)
		if (!strncmp(mode, "block", strlen("block")))
			*array_add(all, *ret_n) = (struct inhibitor){
				xstrdup(what), xstrdup(who), xstrdup(why), (pid_t)pid};
	return all;
}

void inhibitors_free(struct inhibitor *inhibitors, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(inhibitors[i].what);
		free(inhibitors[i].who);
		free(inhibitors[i].why);
	}
	free(inhibitors);
}

char *inhibitors_blocking(void)
{
	char *list = NULL;
	size_t n;
	struct inhibitor *all = inhibitors_read(&n);

	for (size_t i = 0; i < n; i++) {
		const struct inhibitor *one = &all[i];

		if (strncmp(one->who, "emp-", 4) != 0 &&
			(strstr(one->what, "shutdown") || strstr(one->what, "sleep")))
			text_append(&list, ", ", "%s: %s", one->who, one->why);
	}
	inhibitors_free(all, n);
	return list;
}

int inhibit_sleep(const char *who, const char *why, struct error *err)
{
	_cleanup_(sd_bus_flush_close_unrefp) sd_bus *bus = NULL;
	_cleanup_(sd_bus_error_free) sd_bus_error cause = SD_BUS_ERROR_NULL;
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
	int fd = -1, r;

	if (access("/run/systemd/seats/", F_OK) < 0)
		return error_say(err, -ENOTCONN, "logind does not run");
	r = sd_bus_open_system(&bus);
	if (r < 0)
		return error_os(err, r, "logind cannot be reached");
	sd_bus_set_method_call_timeout(bus, LOGIND_TIMEOUT_US);
	r = sd_bus_call_method(bus, "org.freedesktop.login1", "/org/freedesktop/login1",
		"org.freedesktop.login1.Manager", "Inhibit", &cause, &reply, "ssss",
		"shutdown:sleep:idle:handle-lid-switch", who, why, "block");
	if (r < 0)
		return error_say(err, r, "logind refuses: %s", cause.message ?: strerror(-r));
	r = sd_bus_message_read(reply, "h", &fd);
	if (r < 0)
		return error_os(err, r, "logind's answer cannot be read");
	fd = fcntl(fd, F_DUPFD_CLOEXEC, 3); /* the reply closes its own */
	return fd >= 0 ? fd : error_os(err, -errno, "logind's answer cannot be kept");
}

/* Random numbers (systemd-id128 new); they never change their meaning. */
static const char *const ACTION_IDS[] = {
	[ACTION_APPLY] = "39ed5289e048415bb66b259795e4518c",
	[ACTION_SET] = "38f6dd4d69e74c799304614ad703b7be",
	[ACTION_STOP] = "4528b6ce556b49c689e08c08e20da7cb",
	[ACTION_RESTORE] = "99736b756bc44bd3885547c49894405e",
	[ACTION_RESTORE_ONE] = "8272fd7e5bda4e76916de1683a63bcb9",
};

void action_log(enum action action, const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	sd_journal_send("MESSAGE=%s", text, "MESSAGE_ID=%s", ACTION_IDS[action], "PRIORITY=%i",
		LOG_INFO, NULL);
}
