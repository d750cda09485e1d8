/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Results of the protocol as members of JSON documents and as tables: see results.h. */
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

static json_t *numbers_as_json(const uint32_t *numbers, size_t n)
{
	json_t *array = json_array();

	for (size_t i = 0; i < n; i++)
		json_array_append_new(array, json_integer(numbers[i]));
	return array;
}

json_t *summary_as_json(const struct summary *s)
{
	return json_pack("{s:I, s:I, s:I, s:f, s:f, s:f, s:f}", "n", (json_int_t)s->n, "min_ns",
		(json_int_t)s->min_ns, "max_ns", (json_int_t)s->max_ns, "mean_ns", s->mean_ns, "median_ns",
		s->median_ns, "sd_ns", s->sd_ns, "relative_error", s->relative_error);
}

static json_t *over_as_json(const struct over_cutoff *over, size_t n, const char *limit)
{
	json_t *array = json_array();

	for (size_t i = 0; i < n; i++)
		json_array_append_new(
			array, json_pack("{s:I, s:s, s:s*, s:I, s:I}", "sample", (json_int_t)over[i].sample,
				       "daemon", over[i].daemon, "unit", over[i].unit, "pt_ns",
				       (json_int_t)over[i].pt_ns, limit, (json_int_t)over[i].cutoff_ns));
	return array;
}

json_t *others_as_json(const struct daemons *others, bool unprofiled)
{
	json_t *array = json_array();

	for (size_t i = 0; i < others->n; i++) {
		const struct daemon_statistics *o = &others->items[i];
		json_t *row;

		if (unprofiled && (o->profiled || !o->long_once))
			continue;
		row = json_pack("{s:s, s:s*, s:b, s:I, s:I, s:I, s:I, s:I}", "daemon", o->name, "unit",
			o->unit, "in_profile", o->profiled, "disturbed_ns", (json_int_t)o->disturbed_ns,
			"total_ns", (json_int_t)o->total_ns, "max_ns", (json_int_t)o->max_ns, "most_ns",
			(json_int_t)o->max_ns, "sample", (json_int_t)o->max_sample);
		if (o->names > 0)
			json_object_set_new(row, "names", json_integer(o->names));
		json_array_append_new(array, row);
	}
	return array;
}

static json_t *clock_as_json(const struct clock_discarding *c)
{
	json_t *clock = summary_as_json(&c->papers), *kept = summary_as_json(&c->kept);
	const struct interval *i = &c->interval;

	json_object_set_new(kept, "interval_ns", json_interval(i->low_ns, i->high_ns));
	if (!isnan(i->lag1))
		json_object_set_new(kept, "lag1", json_real(i->lag1));
	json_object_set_new(kept, "effective_n", json_real(i->effective_n));
	json_object_set_new(clock, "kept", kept);
	json_object_set_new(clock, "by_two_sd", numbers_as_json(c->by_two_sd, c->n_by_two_sd));
	json_object_set_new(clock, "raw", summary_as_json(&c->raw));
	return clock;
}

void profile_noise_add_json(json_t *object, int64_t blind_ns, const char *noise)
{
	if (blind_ns > 0)
		json_object_set_new(object, "profile_blind_ns", json_integer(blind_ns));
	if (noise)
		json_object_set_new(object, "profile_noise", json_string(noise));
}

json_t *discarding_as_json(const struct discarding *d)
{
	json_t *document = json_object();

	json_object_set_new(document, "run", json_integer(d->run.id));
	json_object_set_new(document, "by_cutoff", over_as_json(d->over, d->n_over, "cutoff_ns"));
	json_object_set_new(
		document, "by_unprofiled", over_as_json(d->unprofiled, d->n_unprofiled, "limit_ns"));
	json_object_set_new(document, "by_two_sd", numbers_as_json(d->pt.by_two_sd, d->pt.n_by_two_sd));
	json_object_set_new(document, "incomplete", numbers_as_json(d->incomplete, d->n_incomplete));
	profile_noise_add_json(document, d->blind_ns, d->noise);
	json_object_set_new(document, "pt", clock_as_json(&d->pt));
	json_object_set_new(document, "et", clock_as_json(&d->et));
	return document;
}

json_t *analysis_as_json(const struct analysis *analysis)
{
	const struct cluster *c = &analysis->central;
	json_t *document = json_pack("{s:I, s:s*, s:I, s:s, s:s, s:b, s:I, s:f}", "run",
		(json_int_t)analysis->run.id, "program", analysis->run.program, "samples",
		(json_int_t)analysis->n_samples, "shape", verdict_name(analysis->verdict), "why",
		analysis->why, "noisy", analysis->noise.noisy, "blind_ns",
		(json_int_t)analysis->noise.blind_ns, "pt_sd", analysis->noise.pt_sd);

	json_object_set_new(document, "central",
		json_pack("{s:I, s:I, s:I, s:I, s:I, s:I}", "samples", (json_int_t)c->n_central,
			"pairs_in_arms", (json_int_t)c->n_arms, "pairs_upper_right", (json_int_t)c->n_corners,
			"low_ns", (json_int_t)c->low_ns, "high_ns", (json_int_t)c->high_ns, "median_ns",
			(json_int_t)c->median_ns));
	json_object_set_new(document, "by_wait", json_boolean(analysis->by_wait));
	if (analysis->by_wait)
		json_object_set_new(document, "usual_ns", json_integer(analysis->median_rest_ns));
	if (analysis->verdict == VERDICT_FREQUENT) {
		json_t *names = json_array();

		for (size_t i = 0; i < analysis->n_statistics; i++)
			if (analysis->statistics[i].frequent)
				json_array_append_new(names, json_string(analysis->statistics[i].name));
		json_object_set_new(document, "frequent", names);
	}

	json_t *zooms = json_array();

	for (size_t i = 0; i < c->n_zooms; i++) {
		const struct zoom *z = &c->zooms[i];
		char why[ZOOM_WHY_SIZE];

		json_array_append_new(zooms, json_pack("{s:I, s:I, s:I, s:s}", "samples", (json_int_t)z->left,
						     "low_ns", (json_int_t)z->low_ns, "high_ns",
						     (json_int_t)z->high_ns, "next", zoom_why(why, z)));
	}
	json_object_set_new(document, "zooms", zooms);
	json_object_set_new(
		document, "l_samples", numbers_as_json(analysis->l_samples, analysis->n_l_samples));
	json_object_set_new(
		document, "unexplained", numbers_as_json(analysis->unexplained, analysis->n_unexplained));
	return document;
}

void cutoffs_print(const struct profile *profile, bool details, FILE *file)
{
	static const struct column brief[] = {{"DAEMON"}, {"SHORT", COLUMN_NUMBER}, {"LONG", COLUMN_NUMBER},
		{"SHARE", COLUMN_NUMBER}, {"PERIOD", COLUMN_NUMBER}, {"FIRM"}, {"TASK TIME", COLUMN_NUMBER},
		{}};
	static const struct column all[] = {{"DAEMON"}, {"SHORT", COLUMN_NUMBER}, {"LONG", COLUMN_NUMBER},
		{"PERIOD", COLUMN_NUMBER}, {"FIRM"}, {"TASK TIME", COLUMN_NUMBER}, {"BELOW", COLUMN_NUMBER},
		{"FROM", COLUMN_NUMBER}, {}};
	_cleanup_(table_freep) struct table *table = table_new(details ? all : brief);

	for (size_t i = 0; i < profile->n_cutoffs; i++) {
		const struct cutoff *c = &profile->cutoffs[i];
		bool periodic = c->period_ns > 0;
		int64_t share_ppm = cutoff_share_ppm(c);
		char label[FAMILY_LABEL_SIZE], share[TEXT_TIME_SIZE];

		table_row(table);
		table_cell(table, "%s", name_family_label(label, c->daemon, c->names));
		table_cell_duration(table, c->short_ns);
		table_cell_duration(table, c->long_ns);
		if (!details)
			table_cell(table, "%s",
				share_ppm < 0 ? "-" : text_percent(share, (double)share_ppm / PPM));
		table_cell_duration(table, periodic ? c->period_ns : -1);
		table_cell(table, "%s", !periodic ? "-" : c->firm ? "yes" : "no");
		table_cell_duration(table, c->task_time_ns > 0 ? c->task_time_ns : -1);
		if (details) {
			table_cell_duration(table, c->below_ns);
			table_cell_duration(table, c->atleast_ns);
		}
	}
	table_print(table, file);
}

void cutoffs_print_floor(const struct profile *profile, FILE *file)
{
	char short_floor[TEXT_TIME_SIZE], long_floor[TEXT_TIME_SIZE];

	if (profile->noise &&
		strstr(profile->noise, "forced")) /* then the floor is that of what disturbed the runs */
		return;
	if (profile->short_run.floor_ns > 0 && profile->long_run.floor_ns > 0)
		fprintf(file, "Floor: executions below %s (short run), %s (long run) give no cutoff\n",
			text_duration(short_floor, profile->short_run.floor_ns),
			text_duration(long_floor, profile->long_run.floor_ns));
}

void cutoffs_print_names(const struct cutoffs *cutoffs, FILE *file)
{
	_cleanup_(freep) char *text = NULL;
	size_t size;
	FILE *memory = xopen_memstream(&text, &size);

	for (size_t i = 0; i < cutoffs->n; i++) {
		const struct cutoff *c = &cutoffs->items[i];
		char label[FAMILY_LABEL_SIZE], share[TEXT_TIME_SIZE];

		fprintf(memory, "%s%s (%s)", i > 0 ? ", " : "", name_family_label(label, c->daemon, c->names),
			text_percent(share, (double)cutoff_share_ppm(c) / PPM));
	}
	text_stream_close(memory, &text);
	if (cutoffs->n > 0)
		terminal_wrap(file, text, (size_t)fprintf(file, "  "), 2);
}

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
