/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How the result of a load is shown: see report.h. */
#include "measure/load/report.h"

#include "lib/base/json.h"
#include "lib/base/output_file.h"
#include "lib/base/terminal.h"
#include "lib/base/text.h"
#include "lib/report/results_json.h"
#include "lib/report/run_screen.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { VERSION = 1 };

/* A unit of time in which a rate is not below one, if there is one. */
static const struct unit {
	const char *name;
	double seconds;
} units[] = {{"s", 1}, {"min", 60}, {"h", 3600}};

static const struct unit *unit_for(double nano)
{
	size_t i = 0;

	while (i + 1 < ELEMENTS(units) && nano * units[i].seconds < 1e9)
		i++;
	return &units[i];
}

/* As many decimals as give the step two significant digits. */
static int decimals_for(double step)
{
	int decimals = step > 0 ? 1 - (int)floor(log10(step)) : 3;

	return decimals < 0 ? 0 : decimals > 9 ? 9 : decimals;
}

static void print_rate(FILE *file, const struct rate *rate, const struct unit *unit)
{
	double scale = unit->seconds / 1e9, mean = rate->summary.mean_ns * scale,
	       sd = rate->summary.sd_ns * scale;
	int decimals = decimals_for(rate->summary.n > 1 ? sd : mean / 100);
	char name[64] = "Rate of work", cv[TEXT_TIME_SIZE];

	if (rate->script)
		snprintf(name, sizeof(name), "   %.40s ×%" PRId64, terminal_text(rate->script), rate->slaves);
	fprintf(file, "  %s%*s %.*f", name, (int)(23 - (int)terminal_text_width(name)), "", decimals, mean);
	if (rate->summary.n > 1)
		fprintf(file, " ± %.*f", decimals, sd);
	fprintf(file, " /%s", unit->name);
	if (rate->summary.n > 1)
		fprintf(file, "   CV %s   95 %% CI %.*f … %.*f", text_percent(cv, sd / mean), decimals,
			rate->interval.low_ns * scale, decimals, rate->interval.high_ns * scale);
	fputc('\n', file);
}

static void print_time(FILE *file, const struct rates *rates)
{
	const struct summary *time = &rates->time;
	char text[TEXT_PAIR_SIZE], range[TEXT_PAIR_SIZE];

	if (time->n > 1)
		fprintf(file, "  Time to the last        %s   range %s\n",
			text_mean_sd(text, time->mean_ns, time->sd_ns, NULL),
			text_interval(
				range, (double)time->min_ns, (double)time->max_ns, range_step(time), NULL));
	else
		fprintf(file, "  Time to the last        %s\n", text_duration(text, time->min_ns));
}

/* Means over all slaves and all runs that count; negative: unknown. */
static double mean_of(const struct load_session *s, size_t offset)
{
	double sum = 0;

	for (size_t i = 0; i < s->n_parts; i++) {
		int64_t value = *(const int64_t *)((const char *)&s->parts[i] + offset);

		if (value < 0)
			return -1;
		sum += (double)value;
	}
	return s->n_parts ? sum / (double)s->n_parts : -1;
}

#define MEAN(session, member) mean_of(session, offsetof(struct sample_program, member))

static void print_slaves(FILE *file, const struct load_session *s)
{
	double wait = MEAN(s, wait_ns), io = MEAN(s, io_wait_ns), faults = MEAN(s, major_faults);
	char text[TEXT_TIME_SIZE];

	fprintf(file, "  A slave's mean          PT %s", text_duration(text, (int64_t)MEAN(s, pt_ns)));
	if (wait >= 0)
		fprintf(file, ", waits for a CPU %s", text_duration(text, (int64_t)wait));
	if (io >= 0)
		fprintf(file, ", for a disk %s", text_duration(text, (int64_t)io));
	fputc('\n', file);
	if (faults >= 0.05)
		fprintf(file, "                          %.1f major page faults\n", faults);
}

static void print_others(FILE *file, const struct load_session *s)
{
	const struct others *others = &s->result.discarding.others;
	char time[TEXT_TIME_SIZE];

	if (others->n == 0)
		return;
	fprintf(file, "  Other processes        ");
	for (size_t i = 0; i < others->n && i < SCREEN_OTHERS; i++)
		fprintf(file, "%s %s %s", i ? "," : "", terminal_text(others->items[i].name),
			text_duration(time, others->items[i].total_ns));
	fprintf(file, "%s\n", others->n > SCREEN_OTHERS ? ", …" : "");
}

static void print_discarded(FILE *file, const struct load_session *s)
{
	const struct discarding *d = &s->result.discarding;
	size_t n = s->result.n_samples;

	if (s->n_kept == n)
		return;
	fprintf(file, "  Kept %zu of %zu runs      discarded:", s->n_kept, n);
	for (size_t i = 0; i < d->n_over; i++)
		fprintf(file, "%s %s #%" PRIu32, i ? "," : "", terminal_text(d->over[i].daemon),
			d->over[i].sample);
	if (d->n_incomplete)
		fprintf(file, "%s lost records", d->n_over ? "," : "");
	fputc('\n', file);
}

/* NULL: they were watched. */
static const char *why_no_page_waits(const struct load_session *s)
{
	return s->page_wait_meter ? NULL : s->no_page_waits.text;
}

void load_report_print(FILE *file, const struct load_session *s)
{
	char released[TEXT_TIME_SIZE], last[TEXT_TIME_SIZE], driver[TEXT_TIME_SIZE];
	const struct unit *unit;

	if (s->rates.n == 0 || s->n_kept == 0) {
		print_discarded(file, s);
		return;
	}
	unit = unit_for(s->rates.items[0].summary.mean_ns);
	fprintf(file, "%s%s%s: %zu runs, %s, %zu slaves on %s%s (run %" PRId64 " of the book)\n",
		terminal_mark(file, MARK_STRONG), terminal_text(s->load.name), terminal_mark(file, MARK_END),
		s->result.n_samples, coordination_names[s->load.coordination], load_slaves(&s->load),
		s->load.cpu_list ? "CPUs " : "all CPUs", s->load.cpu_list ?: "", s->run.id);
	for (size_t i = 0; i < s->rates.n; i++)
		if (i == 0 || s->rates.n > 2)
			print_rate(file, &s->rates.items[i], unit);
	print_time(file, &s->rates);
	print_slaves(file, s);
	print_discarded(file, s);
	print_others(file, s);
	fprintf(file, "  Released within         %s, the last one ran after %s, driver's PT %s\n",
		text_duration(released, s->release_ns), text_duration(last, s->last_start_ns),
		text_duration(driver, s->driver_ns));
	if (s->rates.order_changed > 0)
		fprintf(file,
			"  Order of finishing      another one than the run before in %.0f %% of the runs\n",
			100 * s->rates.order_changed);
	page_wait_report_print(
		file, &s->page_wait_report, s->options->page_wait_bin_ns, why_no_page_waits(s));
}

static json_t *numbers(const int64_t *values, size_t n, double scale)
{
	json_t *array = json_array();

	for (size_t i = 0; i < n; i++)
		json_array_append_new(array, json_real((double)values[i] * scale));
	return array;
}

static json_t *rate_json(const struct rate *rate)
{
	json_t *object = json_pack("{s:I, s:f, s:f, s:o}", "slaves", (json_int_t)rate->slaves, "mean_per_s",
		rate->summary.mean_ns / 1e9, "sd_per_s", rate->summary.sd_ns / 1e9, "runs_per_s",
		numbers(rate->nano, rate->summary.n, 1e-9));

	if (rate->script)
		json_object_set_new(object, "script", json_string(rate->script));
	if (rate->summary.n > 1) {
		json_object_set_new(object, "ci95_low_per_s", json_real(rate->interval.low_ns / 1e9));
		json_object_set_new(object, "ci95_high_per_s", json_real(rate->interval.high_ns / 1e9));
	}
	return object;
}

static json_t *part_json(const struct load_session *s, const struct sample_program *part)
{
	json_t *object = json_pack("{s:I, s:I, s:s, s:I, s:I, s:I, s:I, s:I}", "sample",
		(json_int_t)part->sample, "slave", (json_int_t)part->program, "script",
		s->programs[part->program - 1].name, "repetitions", (json_int_t)part->repetitions,
		"finished_ns", (json_int_t)part->finished_ns, "last_ns", (json_int_t)part->et_ns, "pt_ns",
		(json_int_t)part->pt_ns, "major_faults", (json_int_t)part->major_faults);

	if (part->wait_ns >= 0)
		json_object_set_new(object, "wait_ns", json_integer(part->wait_ns));
	if (part->io_wait_ns >= 0)
		json_object_set_new(object, "io_wait_ns", json_integer(part->io_wait_ns));
	return object;
}

static json_t *document(const struct load_session *s)
{
	json_t *root = json_pack("{s:s, s:i, s:I, s:s, s:s, s:I, s:I, s:I, s:I, s:I}", "format", "emp-load",
		"version", VERSION, "run", (json_int_t)s->run.id, "load", s->run.program, "coordination",
		coordination_names[s->load.coordination], "runs", (json_int_t)s->result.n_samples, "kept",
		(json_int_t)s->n_kept, "release_ns", (json_int_t)s->release_ns, "last_start_ns",
		(json_int_t)s->last_start_ns, "driver_ns", (json_int_t)s->driver_ns);
	json_t *scripts = json_array(), *slaves = json_array(), *times = json_array();

	for (size_t i = 1; i < s->rates.n; i++)
		json_array_append_new(scripts, rate_json(&s->rates.items[i]));
	for (size_t i = 0; i < s->n_parts; i++)
		json_array_append_new(slaves, part_json(s, &s->parts[i]));
	for (size_t i = 0; i < s->n_kept; i++)
		json_array_append_new(times, json_integer(s->kept[i].et_ns));
	json_object_set_new(root, "rate", s->rates.n ? rate_json(&s->rates.items[0]) : json_null());
	json_object_set_new(root, "scripts", scripts);
	json_object_set_new(root, "et_ns", times);
	json_object_set_new(root, "slaves", slaves);
	json_object_set_new(
		root, "page_waits", page_wait_report_as_json(&s->page_wait_report, why_no_page_waits(s)));
	json_object_set_new(root, "discarding", discarding_as_json(&s->result.discarding));
	return root;
}

int load_report_export(const struct load_session *s, const char *path, struct error *err)
{
	_cleanup_(output_file_clear) struct output_file output = {};
	_cleanup_(json_decrefp) json_t *root = document(s);
	int r = output_file_open(&output, path, err);

	if (r == 0)
		r = json_print(root, output.file, err);
	return r == 0 ? output_file_commit(&output, err) : r;
}

static void print_script(FILE *file, const struct script *script)
{
	fprintf(file, "  %s ×%d, %d repetition%s\n", terminal_text(script->name), script->slaves,
		script->repetitions, script->repetitions == 1 ? "" : "s");
	for (size_t i = 0; i < script->n_steps; i++) {
		static const char *const kinds[] = {"", "think ", "flush ", "flush "};
		const struct step *step = &script->steps[i];

		fprintf(file, "    %s%s\n", kinds[step->kind], terminal_text(step->text));
		if (step->input)
			fprintf(file, "      < %s\n", terminal_text(step->input));
	}
}

void load_print(FILE *file, const struct load *load)
{
	fprintf(file, "%s: %d runs, %s, %zu slaves on %s%s\n", terminal_text(load->name), load->runs,
		coordination_names[load->coordination], load_slaves(load),
		load->cpu_list ? "CPUs " : "all CPUs", load->cpu_list ? terminal_text(load->cpu_list) : "");
	for (size_t i = 0; i < load->n_scripts; i++)
		print_script(file, &load->scripts[i]);
}
