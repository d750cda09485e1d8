/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What starts the daemons that made samples long: see results.h. A file of its own, because it asks systemd, and emp-measure, which
 * uses the rest of results.h, must not link libsystemd. */
#include "lib/report/results.h"

#include "lib/base/number.h"
#include "lib/base/table.h"
#include "lib/base/terminal.h"
#include "lib/base/text.h"
#include "lib/base/xalloc.h"
#include "lib/host/system/policy.h"
#include "lib/host/systemd/units.h"
#include "lib/protocol/names.h"
#include "lib/report/run_result.h"
#include "lib/stats/summary.h"

#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

/* The daemons that made samples long: for each, its executions in each run, what starts it, and how to stop
 * it. */

/* The output, and the sources of information; units and policy may be missing. */
struct causes_report {
	FILE *file;
	const struct analysis *const *analyses;
	size_t n;
	bool here; /* the runs are from this machine */
	struct units *units;
	struct policy *policy;
	struct sources sources;
	struct names names;
};

static void causes_report_clear(struct causes_report *r)
{
	units_free(r->units);
	policy_free(r->policy);
	sources_clear(&r->sources);
	names_clear(&r->names);
}

/* The observed period, from the first run that has one. */
static int64_t observed_period_ns(const struct causes_report *report, const char *daemon)
{
	for (size_t i = 0; i < report->n; i++) {
		const struct daemon_statistics *d = analysis_daemon(report->analyses[i], daemon);

		if (d && period_is_known(&d->period))
			return (int64_t)analysis_period_ns(report->analyses[i], d);
	}
	return 0;
}

static void print_service(const struct causes_report *report, const char *unit, int64_t observed_ns)
{
	struct timer *timers = NULL;
	struct error err2;
	size_t n = 0;

	if (report->units && timer_list(report->units, unit, &timers, &n, &err2) < 0)
		n = 0;
	for (size_t i = 0; i < n; i++) {
		int64_t slack_ns = saturate_add(timers[i].period_ns / 10, timers[i].spread_ns);
		char period[TEXT_TIME_SIZE], spread[TEXT_TIME_SIZE], observed[TEXT_TIME_SIZE];

		fprintf(report->file, "  started by %s (%s", terminal_text(timers[i].name),
			terminal_text(timers[i].text));
		if (timers[i].spread_ns > 0)
			fprintf(report->file, ", random delay up to %s",
				text_duration(spread, timers[i].spread_ns));
		fputc(')', report->file);
		if (timers[i].period_ns <= 0) {
			fprintf(report->file, ", at irregular intervals\n");
			continue;
		}
		fprintf(report->file, ": every %s", text_duration(period, timers[i].period_ns));
		if (!observed_ns)
			fprintf(report->file, " (not observed)\n");
		else if (llabs(observed_ns - timers[i].period_ns) <= slack_ns)
			fprintf(report->file, ", as observed\n");
		else
			fprintf(report->file,
				", but observed every %s:\n    something else starts it too, or keeps it from running\n",
				text_duration(observed, observed_ns));
	}

	const struct policy *policy = report->policy;
	const char *never = policy ? policy_never(policy, unit) : NULL;
	bool listed = policy && policy_stop(policy, unit);

	if (never) {
		fprintf(report->file, "  must not be stopped (%s); its samples are discarded\n",
			terminal_text(never));
	} else {
		for (size_t i = 0; i < n; i++)
			listed |= policy && policy_stop(policy, timers[i].name);
		if (listed) {
			fprintf(report->file,
				"  to stop it, with the rest of the policy ('emp-setup restore' undoes that):\n"
				"    emp-setup apply --only svc.units,svc.timers\n");
		} else {
			fprintf(report->file, "  to stop it until the next boot:\n    systemctl stop");
			for (size_t i = 0; i < n; i++)
				fprintf(report->file, " %s", terminal_text(timers[i].name));
			fprintf(report->file,
				" %s\n  or list it under [stop] in /etc/emp/policies, for 'emp-setup apply'\n",
				terminal_text(unit));
		}
	}
	timer_list_free(timers, n);
}

static bool is_kernel_thread(const struct causes_report *report, const char *name)
{
	for (size_t i = 0; i < report->sources.n; i++) {
		const struct source *s = &report->sources.items[i];

		if (s->kind == SOURCE_KERNEL && !strcmp(name_group(report->names.rows, s->name), name))
			return true;
	}
	return false;
}

/* The statistics of a daemon in a run in which it ran long; NULL: it did not. */
static const struct daemon_statistics *long_in(const struct analysis *analysis, const char *name)
{
	const struct daemon_statistics *d = analysis_daemon(analysis, name);

	return d && d->n_longs > 0 ? d : NULL;
}

static void print_long_daemon(const struct causes_report *report, const struct daemon_statistics *first)
{
	char label[FAMILY_LABEL_SIZE];

	name_family_label(label, first->name, first->names);
	fprintf(report->file, "%s%s%s%s\n", terminal_text(label), first->unit ? " (" : "",
		terminal_text(first->unit) ?: "", first->unit ? ")" : "");
	for (size_t i = 0; i < report->n; i++) {
		const struct daemon_statistics *d = long_in(report->analyses[i], first->name);

		if (d) {
			_cleanup_(freep) int64_t *times = xcalloc(d->n_longs, sizeof(*times));
			char median[TEXT_TIME_SIZE], longs[TEXT_TIME_SIZE + 64], central[TEXT_TIME_SIZE],
				text[sizeof(longs) + sizeof(central) + 64], period[PERIOD_TEXT_SIZE];
			int at = fprintf(report->file, "  run %" PRId64 ":", report->analyses[i]->run.id);

			for (size_t k = 0; k < d->n_longs; k++)
				times[k] = d->longs[k].pt_ns;
			text_duration(median, (int64_t)median_of(times, d->n_longs));
			if (d->n_longs == 1)
				snprintf(longs, sizeof(longs), "one long execution, in sample %u: %s",
					d->longs[0].sample, median);
			else
				snprintf(longs, sizeof(longs), "%zu long executions, median %s", d->n_longs,
					median);
			if (d->n_central > 0)
				snprintf(text, sizeof(text), "%s; at most %s in central samples", longs,
					text_duration(central, d->central_max_ns));
			else
				snprintf(text, sizeof(text), "%s; in no central sample", longs);
			terminal_wrap(report->file, text, (size_t)at, 4);
			if (!isnan(d->share))
				fprintf(report->file, "    explains %s of the delay of %s\n",
					text_percent(median, d->share),
					d->n_longs == 1 ? "that sample" : "these samples");
			if (period_is_known(&d->period))
				fprintf(report->file, "    %s\n",
					analysis_period_text(period, report->analyses[i], d));
			else if (d->n_longs > 1)
				fprintf(report->file, "    at irregular intervals\n");
		}
	}

	_cleanup_(freep) char *known = report->policy && !first->unit
					       ? policy_unit_of_process(report->policy, first->name)
					       : NULL;
	const char *unit = first->unit ?: known;
	FILE *file = report->file;

	if (is_kernel_thread(report, first->name))
		fprintf(file, "  kernel thread: it works for other processes and cannot be stopped\n");
	else if (!report->here)
		return;
	else if (unit && unit_is_kind(unit, ".service"))
		print_service(report, unit, observed_period_ns(report, first->name));
	else if (unit && !strcmp(unit, "init.scope"))
		fprintf(file, "  part of systemd: busy because something was started or stopped\n");
	else if (unit)
		fprintf(file, "  part of %s: a login or a command, not a service\n", terminal_text(unit));
	else
		fprintf(file, "  not a systemd unit (cron, a login or a container may have started it)\n");
}

int daemon_causes_print(
	struct book *book, const struct analysis *const analyses[], size_t n, FILE *file, struct error *err)
{
	_cleanup_(causes_report_clear) struct causes_report report = {
		.file = file, .analyses = analyses, .n = n};
	bool any = false;

	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < analyses[i]->n_statistics; j++) {
			const struct daemon_statistics *d = &analyses[i]->statistics[j];
			bool before = d->n_longs == 0; /* or it was shown with a run before */

			for (size_t k = 0; k < i; k++)
				before |= long_in(analyses[k], d->name) != NULL;
			if (before)
				continue;
			if (!any) {
				int r;
				struct machine machine;
				struct error why;

				fprintf(file, "Daemons that made samples long:\n");
				machine_read(&machine, AT_FDCWD);
				r = run_is_from(
					book, &report.analyses[0]->run, machine.id, &report.here, err);
				if (r == 0 && report.here && units_open(&report.units, &why) < 0)
					fprintf(report.file, "(timers are not shown: %s)\n",
						terminal_text(why.text));
				if (r == 0 && report.here &&
					policy_load(&report.policy, policy_directories(), NULL, &machine,
						&why) < 0)
					fprintf(report.file, "(policies are not consulted: %s)\n",
						terminal_text(why.text));
				machine_clear(&machine);
				if (r == 0)
					r = names_load(&report.names, err);
				r = r < 0 ? r : book_sources(book, &report.sources, err);
				if (r < 0)
					return r;
				any = true;
			}
			print_long_daemon(&report, d);
		}
	return 0;
}
