/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp-calibrate status: the progress of a calibration, from another terminal. Only reads the book,
 * so it hardly disturbs the calibration. */
#include "calibrate/options.h"
#include "calibrate/screen.h"

#include "lib/book/book.h"
#include "lib/base/table.h"
#include "lib/report/run_result.h"
#include "lib/protocol/discard.h"
#include "lib/protocol/disturbances.h"
#include "lib/record/fields.h"
#include "lib/base/json.h"
#include "lib/host/process/process.h"
#include "lib/record/run.h"
#include "lib/stats/summary.h"
#include "lib/base/terminal.h"

enum { LAST_SHOWN = 5, PACE_OF = 10 };

/* One run of the calibration, as the book has it now. */
struct phase_state {
	struct run_result result; /* without background processes; run.id 0: not begun */
	struct resume_point *resume_points;
	size_t n_resume_points;
	int64_t left_ns;
};

struct state {
	struct calibration_plan calibration;
	pid_t pid; /* of the calibration; 0: it does not run */
	struct phase_state phases[CALIBRATION_PHASES];
	int64_t left_ns;
};

static const char *const NAMES[] = {"Short", "Long"};

static void state_clear(struct state *s)
{
	calibration_plan_clear(&s->calibration);
	for (int i = 0; i < CALIBRATION_PHASES; i++) {
		struct phase_state *phase = &s->phases[i];

		run_result_clear(&phase->result);
		fields_free(&resume_point_table, phase->resume_points, phase->n_resume_points);
	}
}

/* The mean time from the start of one sample to the next, of the last samples since the run was
 * resumed; `otherwise_ns` if the clock was set back meanwhile. */
static int64_t pace_ns(const struct phase_state *phase, int64_t otherwise_ns)
{
	const struct sample *samples = phase->result.samples;
	size_t n = phase->result.n_samples, n_points = phase->n_resume_points;
	size_t last_resume_point = n_points ? phase->resume_points[n_points - 1].n : 1;
	size_t first = n > PACE_OF ? n - PACE_OF : 0;
	int64_t lasted_ns;

	while (first < n && samples[first].n < last_resume_point)
		first++;
	if (first + 1 >= n)
		return otherwise_ns;
	lasted_ns = samples[n - 1].start_ns - samples[first].start_ns;
	return lasted_ns > 0 ? lasted_ns / (int64_t)(n - 1 - first) : otherwise_ns;
}

/* Of a run, or, for 0, of the latest for the profile (NULL: any) that can be resumed, or else of
 * the latest. 1: found; 0: there is none. */
static int gather(
	struct book *book, int64_t run, const char *profile, struct state *s, struct error *err)
{
	int r = book_find_calibration(book, run, profile, true, &s->calibration, err);

	if (r <= 0)
		return r;
	s->pid = process_ref_pid(s->calibration.owner);
	for (int i = 0; r >= 0 && i < CALIBRATION_PHASES; i++) {
		const struct calibration_phase *wanted = &s->calibration.phases[i];
		struct phase_state *phase = &s->phases[i];

		if (wanted->run) {
			r = run_result_read(book, wanted->run, &(struct discard_rules){},
				RESULT_COUNTERS, &phase->result, err);
			if (r == 0)
				r = book_rows(book, wanted->run, &resume_point_table,
					&phase->resume_points, &phase->n_resume_points, err);
		}
		if (phase->result.n_samples < wanted->samples)
			phase->left_ns = saturate_multiply(
				wanted->samples - phase->result.n_samples,
				pace_ns(phase, wanted->length_ns));
		s->left_ns = saturate_add(s->left_ns, phase->left_ns);
	}
	return r < 0 ? r : 1;
}

/* 0: it is not known. */
static const char *moment_or_dash(int64_t realtime_ns)
{
	return realtime_ns > 0 ? text_moment(realtime_ns) : "-";
}

static void print_phase(const struct state *s, int which)
{
	const struct calibration_phase *wanted = &s->calibration.phases[which];
	const struct phase_state *phase = &s->phases[which];

	if (!phase->result.discarding.run.id) {
		printf("%s run: INC%s x %u, not started\n", NAMES[which],
			text_seconds(wanted->length_ns), wanted->samples);
		return;
	}
	printf("%s run: run %lld, %s, %zu of %u samples (%d %%)\n", NAMES[which],
		(long long)phase->result.discarding.run.id,
		terminal_text(phase->result.discarding.run.program), phase->result.n_samples,
		wanted->samples, (int)(phase->result.n_samples * 100 / wanted->samples));
	for (size_t i = 0; i < phase->n_resume_points; i++)
		terminal_say(stdout, 4, "  %s before sample %u, resumed %s",
			phase->resume_points[i].why, phase->resume_points[i].n,
			moment_or_dash(phase->resume_points[i].at_ns));
	for (size_t i = 0; i < phase->result.disturbances.n; i++) {
		_cleanup_(freep) char *description = disturbance_description(
			&phase->result.disturbances, i);

		terminal_say(stdout, 4, "  %s", description);
	}
}

static struct table *list_last(const struct phase_state *phase)
{
	static const struct column columns[] = {
		{"SAMPLE", COLUMN_NUMBER, "n"},
		{"STARTED", COLUMN_TEXT, "start_ns"},
		{"ELAPSED TIME", COLUMN_NUMBER, "et_ns"},
		{"PROCESS TIME", COLUMN_NUMBER, "pt_ns"},
		{},
	};
	size_t first = phase->result.n_samples > LAST_SHOWN ? phase->result.n_samples - LAST_SHOWN
							    : 0;
	struct table *list = table_new(columns);

	for (size_t i = first; i < phase->result.n_samples; i++) {
		const struct sample *sample = &phase->result.samples[i];
		const struct discarding *d = &phase->result.discarding;
		const double et_ns = (double)sample->et_ns, pt_ns = (double)sample->pt_ns;

		/* with the digits in which samples differ */
		table_row(list, columns, NUMBER(sample->n), MOMENT(sample->start_ns),
			VALUE(json_integer(sample->et_ns),
				text_precise(et_ns, summary_sd(&d->et.raw))),
			VALUE(json_integer(sample->pt_ns),
				text_precise(pt_ns, summary_sd(&d->pt.raw))));
	}
	return list;
}

static json_t *phase_json(const struct calibration_phase *wanted, const struct phase_state *phase)
{
	_cleanup_(table_freep) struct table *last = list_last(phase);
	json_t *points = json_array(), *warnings = json_array();
	json_t *json = JSON_OBJECT({"task_length_ns", json_integer(wanted->length_ns)},
		{"wanted", json_integer(wanted->samples)},
		{"samples", json_integer(phase->result.n_samples)},
		{"left_ns", json_integer(phase->left_ns)}, {"resume_points", points},
		{"seams", json_incref(points)}, /* its name in 0.1.0 */
		{"warnings", warnings});

	if (phase->result.discarding.run.id)
		json_object_set_new(json, "run", json_integer(phase->result.discarding.run.id));
	for (size_t i = 0; i < phase->n_resume_points; i++) {
		const struct resume_point *point = &phase->resume_points[i];

		json_array_append_new(points,
			json_pack("{s:I, s:o, s:s}", "sample", (json_int_t)point->n, "at_ns",
				json_int_if(point->at_ns > 0, point->at_ns), "why", point->why));
	}
	for (size_t i = 0; i < phase->result.disturbances.n; i++) {
		_cleanup_(freep) char *description = disturbance_description(
			&phase->result.disturbances, i);

		json_array_append_new(warnings, json_string(description));
	}
	json_object_set_new(json, "last", table_json(last));
	return json;
}

static const char *state_name(const struct state *s)
{
	if (s->pid)
		return "running";
	if (s->calibration.state == CALIBRATION_OPEN)
		return "stopped";
	return calibration_state_names[s->calibration.state];
}

static int print_json(const struct state *s, struct error *err)
{
	const struct calibration_plan *c = &s->calibration;
	json_t *json = JSON_OBJECT({"profile", json_text(c->profile)},
		{"state", json_text(state_name(s))},
		{"started_ns", json_int_if(c->started_ns > 0, c->started_ns)},
		{"left_ns", json_integer(s->left_ns)},
		{"short", phase_json(&c->phases[SHORT_PHASE], &s->phases[SHORT_PHASE])},
		{"long", phase_json(&c->phases[LONG_PHASE], &s->phases[LONG_PHASE])});

	if (s->pid)
		json_object_set_new(json, "pid", json_integer(s->pid));
	return json_print_document("emp-calibration", json, err);
}

static void print_status(const struct state *s)
{
	const struct calibration_plan *c = &s->calibration;
	/* the run that samples were last added to */
	const struct phase_state *phase =
		&s->phases[s->phases[LONG_PHASE].result.n_samples > 0 ? LONG_PHASE : SHORT_PHASE];
	_cleanup_(table_freep) struct table *last = list_last(phase);

	terminal_say(stdout, 2, "Calibration for profile '%s', started %s:", c->profile,
		moment_or_dash(c->started_ns));
	fputs("  ", stdout);
	if (s->pid)
		printf("running, process %d\n", s->pid);
	else if (c->state == CALIBRATION_OPEN)
		printf("stopped; to resume: emp-calibrate%s resume %lld\n", calibrate_db(),
			(long long)c->phases[SHORT_PHASE].run);
	else if (c->state == CALIBRATION_DONE)
		printf("complete\n");
	else
		printf("complete, no profile: a run was neither L nor clean\n");
	if (s->pid)
		printf("Left: %s, until about %s\n", text_duration(s->left_ns),
			text_moment(saturate_add(clock_ns(CLOCK_REALTIME), s->left_ns)));
	else if (s->left_ns > 0)
		printf("Left: %s\n", text_duration(s->left_ns));
	for (int i = 0; i < CALIBRATION_PHASES; i++)
		print_phase(s, i);
	if (phase->result.n_samples == 0)
		return;
	printf("Last samples of run %lld:\n", (long long)phase->result.discarding.run.id);
	table_print(last, stdout);
}

static int calibrate_status_verb(int argc, char **argv, struct error *err)
{
	_cleanup_(state_clear) struct state status = {};
	_cleanup_(book_freep) struct book *book = NULL;
	const char *profile;
	int64_t run;
	int r = calibrate_operand(argc > 0 ? argv[0] : NULL, &run, &profile, err);

	if (r == 0)
		r = book_open(&book, calibrate_options.db, BOOK_READ, err);
	if (r == 0)
		r = gather(book, run, profile, &status, err);
	if (r < 0)
		return r;
	if (r == 0 && run)
		return error_say(err, -ENOENT, "run %lld is not part of a calibration in this book",
			(long long)run);
	if (r == 0 && profile)
		return error_say(
			err, -ENOENT, "no calibration for a profile '%s' is in this book", profile);
	if (calibrate_options.json)
		return r > 0 ? print_json(&status, err)
			     : json_print_document(
				       "emp-calibration", json_pack("{s:s}", "state", "none"), err);
	if (r > 0)
		print_status(&status);
	else
		terminal_say(stdout, 2,
			"The lab book has no calibration; 'emp-calibrate run' starts one.");
	return 0;
}

const struct verb calibrate_status = {
	.name = "status",
	.args = "[RUN|PROFILE]",
	.summary = "show the progress, from another terminal",
	.max_args = 1,
	.run = calibrate_status_verb,
	.without = "quiet verbose",
};
