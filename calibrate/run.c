/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp-calibrate run: begins a calibration, INC short and long and what comes of it. */
#include "calibrate/calibrate.h"
#include "calibrate/find_calibration.h"
#include "calibrate/calibration.h"

#include "lib/base/text.h"
#include "lib/host/systemd/notify.h"

#include <errno.h>
#include <string.h>

/* "128x800": how long, how many. */
struct size {
	int64_t length_ns;
	int count;
};

static struct {
	struct size short_size, long_size;
	int64_t short_central_max_ns, long_central_max_ns, reuse_long;
	const char *save;
	bool anyway, force, replace, resume;
} options = {{128 * NS_PER_S, 800}, {16384 * NS_PER_S, 40}, .save = NULL};

static int parse_size(const char *value, const char *name, void *into, struct error *err)
{
	const char *x = strrchr(value, 'x');
	_cleanup_(freep) char *length = NULL;
	struct size size;
	int64_t count;
	int r;

	if (!x)
		return error_say(err, -EINVAL, "%s must be LENGTHxCOUNT such as 128x800 or 0.1x150, not '%s'",
			name, value);
	length = text_format("%.*s", (int)(x - value), value);
	if (!length)
		return error_os(err, -ENOMEM, "cannot read %s", name);
	r = text_parse_duration(length, name, &size.length_ns, err);
	if (r < 0)
		return r;
	r = text_parse_int(x + 1, name, 2, 1000000, &count, err);
	if (r < 0)
		return r;
	size.count = (int)count;
	*(struct size *)into = size;
	return 0;
}

static int parse_run(const char *value, const char *name, void *into, struct error *err)
{
	return text_parse_int(value, name, 1, INT64_MAX, into, err);
}

const struct option_row run_options[] = {
	{.name = "short",
		.value = "LENGTHxCOUNT",
		.summary = "the short run (default 128x800: seconds, samples)",
		.parse = parse_size,
		.into = &options.short_size},
	{.name = "long",
		.value = "LENGTHxCOUNT",
		.summary = "the long run (default 16384x40)",
		.parse = parse_size,
		.into = &options.long_size},
	{.name = "reuse-long",
		.value = "RUN",
		.summary = "take this long run of the book, and run the short one only",
		.parse = parse_run,
		.into = &options.reuse_long},
	{.name = "save",
		.value = "NAME",
		.summary = "store the profile under this name",
		.into = &options.save},
	{.name = "replace", .summary = "in place of a profile of the same name", .into = &options.replace},
	{.name = "resume",
		.summary = "go on with the calibration of that name if one was ended before it was done",
		.into = &options.resume},
	{.name = "cpu",
		.value = "N",
		.summary = "run INC on this CPU",
		.parse = pinning_option,
		.into = &calibrate_options.cpu},
	{.name = "anyway",
		.summary = "run although the audit says that the machine is not fit",
		.into = &options.anyway},
	{.name = "short-central-max",
		.value = "TIME",
		.summary = "the longest central ET of the short run, as you see it",
		.parse = option_duration,
		.into = &options.short_central_max_ns},
	{.name = "long-central-max",
		.value = "TIME",
		.summary = "the same for the long run",
		.parse = option_duration,
		.into = &options.long_central_max_ns},
	{.name = "force", .summary = "make a profile although a run is no L", .into = &options.force},
	{.name = "accounting",
		.value = "BACKEND",
		.summary = "auto, bpf or taskstats (default auto)",
		.parse = observer_backend_parse,
		.into = &calibrate_options.backend},
	{},
};

/* The profile's name is known to be free before hours are spent. */
static int check_name(struct book *book, struct error *err)
{
	_cleanup_(profile_clearp) struct profile profile = {};
	struct error ignored = {};

	if (!options.replace && book_get_profile(book, options.save, &profile, &ignored) == 0)
		return error_say(err, -EEXIST,
			"the book has a profile '%s' already: choose another name, or --replace it",
			options.save);
	return 0;
}

static int fill_plan(struct calibration_plan *plan, struct error *err)
{
	static const char *const backends[] = {"auto", "bpf", "taskstats", "none"};

	*plan = (struct calibration_plan){
		.profile = strdup(options.save),
		.backend = strdup(backends[calibrate_options.backend]),
		.phases = {{options.short_size.length_ns, (uint32_t)options.short_size.count,
				   options.short_central_max_ns, 0},
			{options.long_size.length_ns, (uint32_t)options.long_size.count,
				options.long_central_max_ns, 0}},
		.cpu = calibrate_options.cpu,
		.anyway = options.anyway,
		.force = options.force,
		.replace = options.replace,
	};
	return plan->profile && plan->backend ? 0 : error_os(err, -ENOMEM, "cannot begin a calibration");
}

/* --reuse-long: a run of INC that is complete. */
static int take_long_run(struct calibration *w, struct error *err)
{
	struct calibration_phase *phase = &w->plan.phases[LONG_PHASE];
	_cleanup_(run_clearp) struct run run = {};
	int r = book_get_run(w->book, options.reuse_long, &run, err);

	if (r < 0)
		return r;
	if (strncmp(run.program, "INC", 3) != 0 || strcmp(run.state, "done") != 0 || run.n_samples == 0 ||
		run.task_length_ns <= options.short_size.length_ns)
		return error_say(err, -EINVAL,
			"run %lld (%s, '%s', %u samples of it) cannot be the long run: that is a complete run of INC, longer than the short one",
			(long long)run.id, run.program, run.state, run.n_samples);
	phase->run = run.id;
	phase->length_ns = run.task_length_ns;
	phase->samples = run.n_samples;
	return 0;
}

enum { NOTHING_LEFT = 1000 }; /* beside the statuses to exit with */

static int begin_anew(struct calibration *w, struct error *err)
{
	int r;

	r = check_name(w->book, err);
	if (r < 0)
		return r;
	r = fill_plan(&w->plan, err);
	if (r == 0 && options.reuse_long)
		r = take_long_run(w, err);
	if (r < 0)
		return r;
	r = calibration_prepare(w, err);
	return r != 0 ? r : calibration_constant(w, 0, err);
}

/* --resume: what was begun goes on, what was not begins, what is done stays done. */
static int begin_or_go_on(struct calibration *w, struct error *err)
{
	_cleanup_(profile_clearp) struct profile profile = {};
	struct error ignored;
	int r;

	r = find_calibration_for(w->book, options.save, &w->plan, err);
	if (r < 0)
		return r;
	if (r > 0)
		return calibration_continue(w, options.anyway, err);
	if (!options.replace && book_get_profile(w->book, options.save, &profile, &ignored) == 0) {
		fprintf(calibration_talk(), "Profile '%s' is made already: nothing is left to do\n",
			options.save);
		notify_ready(); /* a service that ends without it counts as failed */
		return NOTHING_LEFT;
	}
	return begin_anew(w, err);
}

int verb_run(int argc, char **argv, struct error *err)
{
	_cleanup_(calibration_clear) struct calibration calibration = CALIBRATION_NEW;
	int r;

	if (!options.save)
		return error_say(err, -EINVAL, "name the profile with --save NAME");
	r = calibration_open(&calibration, "run", err);
	if (r == 0)
		r = options.resume ? begin_or_go_on(&calibration, err) : begin_anew(&calibration, err);
	if (r == -EINTR)
		return error_say(err, STATUS_INTERRUPTED, "interrupted before the first sample");
	if (r == NOTHING_LEFT)
		return 0;
	if (r != 0)
		return r;
	calibration_announce(&calibration, err);
	return calibration_run(&calibration, err);
}
