/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What starts the daemons that made samples long: see daemon_causes.h. */
#include "lib/report/daemon_causes.h"

#include "lib/base/terminal.h"
#include "lib/host/system/policy.h"
#include "lib/host/systemd/units.h"
#include "lib/report/results.h"
#include "lib/report/run_result.h"

/* The output, and the sources of information; units and policy may be missing. */
struct causes_report {
	FILE *file;
	const struct analysis *analyses;
	size_t n;
	bool here; /* the runs are from this machine */
	struct units *units;
	struct policy *policy;
};

/* How often the daemon ran, beside a timer with a period. observed_ns: its period in the runs; 0:
 * none was observed. */
static const char *observed_text(const struct timer *t, int64_t observed_ns)
{
	int64_t tolerance_ns = saturate_add(t->period_ns / 10, t->spread_ns);

	if (!observed_ns)
		return " (not observed)";
	if (llabs(observed_ns - t->period_ns) <= tolerance_ns)
		return ", as observed";
	return text_brief(
		", but observed every %s: something else starts it too, or keeps it from running",
		text_duration(observed_ns));
}

static void print_timer(FILE *file, const struct timer *t, int64_t observed_ns)
{
	const char *random = "";

	if (t->spread_ns > 0)
		random = text_brief(", random delay up to %s", text_duration(t->spread_ns));
	if (t->period_ns > 0)
		terminal_say(file, 4, "  started by %s (%s%s): every %s%s", t->name, t->text,
			random, text_duration(t->period_ns), observed_text(t, observed_ns));
	else
		terminal_say(file, 4, "  started by %s (%s%s), at irregular intervals", t->name,
			t->text, random);
}

/* The period that was observed in one of the runs; 0: in none. */
static int64_t observed_period(const struct causes_report *report, const char *daemon)
{
	for (size_t i = 0; i < report->n; i++) {
		const struct analysis *a = &report->analyses[i];
		const struct daemon_statistics *d = analysis_daemon(a, daemon);

		if (d && period_is_known(&d->period))
			return (int64_t)analysis_period_ns(a, d);
	}
	return 0;
}

/* How to stop a service by systemctl alone, with the timers that start it. */
static void print_stop_commands(
	FILE *file, const char *unit, const struct timer *timers, size_t n_timers)
{
	fprintf(file, "  to stop it until the next boot:\n    systemctl stop");
	for (size_t i = 0; i < n_timers; i++)
		fprintf(file, " %s", terminal_text(timers[i].name));
	fprintf(file, " %s\n", terminal_text(unit));
	terminal_say(
		file, 4, "  or list it under [stop] in /etc/emp/policies, for 'emp-setup apply'");
}

/* Whether the policy stops the service, or a timer that starts it. */
static bool policy_lists(
	const struct policy *policy, const char *unit, const struct timer *timers, size_t n_timers)
{
	bool listed = policy_stop(policy, unit) != NULL;

	for (size_t i = 0; i < n_timers; i++)
		listed |= policy_stop(policy, timers[i].name) != NULL;
	return listed;
}

/* What starts a daemon's service, and how to stop it. */
static void print_service(const struct causes_report *report, const char *daemon, const char *unit)
{
	const struct policy *policy = report->policy;
	const char *never = policy ? policy_never(policy, unit) : NULL;
	const char *ask = policy ? policy_ask(policy, unit) : NULL;
	int64_t observed_ns = observed_period(report, daemon);
	FILE *file = report->file;
	size_t n = 0;
	struct timer *timers = report->units ? timer_list(report->units, unit, &n) : NULL;

	for (size_t i = 0; i < n; i++)
		print_timer(file, &timers[i], observed_ns);

	if (never) {
		terminal_say(
			file, 4, "  must not be stopped (%s); its samples are discarded", never);
	} else if (ask) {
		terminal_say(file, 4, "  to stop it (%s; 'emp-setup restore' undoes that):", ask);
		fprintf(file, "    emp-setup apply --only svc.units --stop %s\n",
			terminal_text(unit));
	} else if (policy && policy_lists(policy, unit, timers, n)) {
		terminal_say(file, 4,
			"  to stop it, with the rest of the policy ('emp-setup restore' undoes "
			"that):");
		fprintf(file, "    emp-setup apply --only svc.units,svc.timers\n");
	} else {
		print_stop_commands(file, unit, timers, n);
	}
	timer_list_free(timers, n);
}

/* The statistics of a daemon in a run in which it ran long; NULL: it did not. */
static const struct daemon_statistics *long_in(const struct analysis *analysis, const char *name)
{
	const struct daemon_statistics *d = analysis_daemon(analysis, name);

	return d && d->n_long_executions > 0 ? d : NULL;
}

/* "one long execution, in sample 3: 228 ms"; "5 long executions, median 12 ms". The caller frees
 * it. */
static char *long_executions_text(const struct daemon_statistics *d)
{
	_cleanup_(freep) int64_t *times = xcalloc(d->n_long_executions, sizeof(*times));
	const char *median;

	for (size_t k = 0; k < d->n_long_executions; k++)
		times[k] = d->long_executions[k].pt_ns;
	median = text_duration((int64_t)median_of(times, d->n_long_executions));
	if (d->n_long_executions == 1)
		return text_format("one long execution, in sample %u: %s",
			d->long_executions[0].sample, median);
	return text_format("%zu long executions, median %s", d->n_long_executions, median);
}

static void print_long_in_run(
	FILE *file, const struct analysis *analysis, const struct daemon_statistics *d)
{
	_cleanup_(freep) char *text = long_executions_text(d);
	int at = fprintf(file, "  run %" PRId64 ":", analysis->run.id);

	if (d->n_central > 0)
		text_append(&text, "; ", "at most %s in central samples",
			text_duration(d->central_max_ns));
	else
		text_append(&text, "; ", "in no central sample");
	terminal_wrap(file, text, (size_t)at, 4);

	if (!isnan(d->share))
		terminal_say(file, 6, "    explains %s of the delay of %s", text_percent(d->share),
			d->n_long_executions == 1 ? "that sample" : "these samples");
	if (period_is_known(&d->period))
		terminal_say(file, 6, "    %s", analysis_period_text(analysis, d));
	else if (d->n_long_executions > 1)
		fprintf(file, "    at irregular intervals\n");
}

/* What starts a daemon of this machine, by its unit (NULL: none). */
static void print_starter(const struct causes_report *report, const char *daemon, const char *unit)
{
	FILE *file = report->file;

	if (unit && unit_is_kind(unit, ".service"))
		print_service(report, daemon, unit);
	else if (unit && !strcmp(unit, "init.scope"))
		terminal_say(file, 4,
			"  part of systemd: busy because something was started or stopped");
	else if (unit)
		terminal_say(file, 4, "  part of %s: a login or a command, not a service", unit);
	else
		terminal_say(file, 4,
			"  not a systemd unit (cron, a login or a container may have started it)");
}

static void print_long_daemon(
	const struct causes_report *report, const struct daemon_statistics *first)
{
	FILE *file = report->file;
	const char *unit = first->unit;

	daemon_print(file, first->name, first->names, first->unit);
	fputc('\n', file);
	for (size_t i = 0; i < report->n; i++) {
		const struct daemon_statistics *d = long_in(&report->analyses[i], first->name);

		if (d)
			print_long_in_run(file, &report->analyses[i], d);
	}

	if (first->kernel) {
		terminal_say(file, 4,
			"  kernel thread: it works for other processes and cannot be stopped");
		return;
	}
	if (!unit && report->policy)
		unit = policy_unit_of_process(report->policy, first->name);
	if (report->here)
		print_starter(report, first->name, unit);
}

/* The daemons that ran long, each as in the first run in which it did. The caller frees them;
 * returns how many. */
static size_t find_long_daemons(
	const struct analysis *analyses, size_t n, const struct daemon_statistics ***ret)
{
	const struct daemon_statistics **daemons = NULL;
	size_t n_daemons = 0;

	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < analyses[i].n_statistics; j++) {
			const struct daemon_statistics *d = &analyses[i].statistics[j];
			bool before = d->n_long_executions == 0;

			for (size_t k = 0; k < i; k++)
				before |= long_in(&analyses[k], d->name) != NULL;
			if (!before)
				*array_add(daemons, n_daemons) = d;
		}
	*ret = daemons;
	return n_daemons;
}

int daemon_causes_print(
	struct book *book, const struct analysis *analyses, size_t n, FILE *file, struct error *err)
{
	_cleanup_(freep) const struct daemon_statistics **daemons = NULL;
	_cleanup_(machine_clear) struct machine machine = {};
	_cleanup_(units_freep) struct units *units = NULL;
	_cleanup_(policy_freep) struct policy *policy = NULL;
	size_t n_daemons = find_long_daemons(analyses, n, &daemons);
	struct error why;
	bool here;
	int r;

	if (n_daemons == 0)
		return 0;
	fprintf(file, "Daemons that made samples long:\n");
	machine_read(&machine, AT_FDCWD);
	r = run_is_from(book, &analyses[0].run, machine.id, &here, err);
	if (r < 0)
		return r;
	if (here && units_open(&units, NULL, &why) < 0)
		terminal_say(file, 2, "(timers are not shown: %s)", why.text);
	if (here && policy_load(&policy, NULL, NULL, &machine, &why) < 0)
		terminal_say(file, 2, "(policies are not consulted: %s)", why.text);
	for (size_t i = 0; i < n_daemons; i++)
		print_long_daemon(&(struct causes_report){file, analyses, n, here, units, policy},
			daemons[i]);
	return 0;
}
