/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp-calibrate run: INC short and long, each sample observed and stored, then the protocol's steps from
 * those two runs to a profile. */
#include "calibrate/calibrate.h"
#include "calibrate/constant.h"

#include "lib/base/clock.h"
#include "lib/base/json.h"
#include "lib/base/terminal.h"
#include "lib/protocol/make.h"
#include "lib/record/document.h"
#include "lib/record/environment.h"
#include "lib/record/series.h"

#include <errno.h>
#include <string.h>

/* "128x800": how long, how many. */
struct size {
	int64_t length_ns;
	int count;
};

static struct {
	struct size short_size, long_size;
	const char *save;
	bool anyway, force, replace;
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
	{.name = "save",
		.value = "NAME",
		.summary = "store the profile under this name",
		.into = &options.save},
	{.name = "replace", .summary = "in place of a profile of the same name", .into = &options.replace},
	{.name = "cpu",
		.value = "N",
		.summary = "run INC on this CPU",
		.parse = option_count0,
		.into = &calibrate_options.cpu},
	{.name = "anyway",
		.summary = "run although the audit says that the machine is not fit",
		.into = &options.anyway},
	{.name = "force", .summary = "make a profile although a run is no L", .into = &options.force},
	{.name = "accounting",
		.value = "BACKEND",
		.summary = "auto, bpf or taskstats (default auto)",
		.parse = observer_backend_parse,
		.into = &calibrate_options.backend},
	{},
};

/* What a calibration needs at hand. */
struct calibration {
	struct book *book;
	struct observer observer;
	struct constant constant;
	char *book_path, *inc, *digest, *notes;
	int64_t environment;
	int64_t run[2];
};

static void calibration_clear(struct calibration *c)
{
	observer_close(&c->observer);
	book_free(c->book);
	free(c->book_path);
	free(c->inc);
	free(c->digest);
	free(c->notes);
}

/* On standard output for people; where JSON is asked for, standard output is the document alone. */
static FILE *talk(void)
{
	return calibrate_options.json ? stderr : stdout;
}

/* The profile's name is known to be free before hours are spent. */
static int check_name(struct book *book, struct error *err)
{
	_cleanup_(profile_clearp) struct profile profile = {};
	struct error ignored = {};

	if (!options.save)
		return error_say(err, -EINVAL, "name the profile with --save NAME");
	if (!options.replace && book_get_profile(book, options.save, &profile, &ignored) == 0)
		return error_say(err, -EEXIST,
			"the book has a profile '%s' already: choose another name, or --replace it",
			options.save);
	return 0;
}

/* 0: go on. STATUS_NOT_FIT: the machine is not fit, with a sentence. */
static int check_audit(struct calibration *c, struct error *err)
{
	_cleanup_(json_decrefp) json_t *audit = NULL;
	_cleanup_(freep) char *off = NULL;
	bool fit;
	int r;

	r = environment_audit(&audit, &fit, err);
	if (r < 0)
		return r;
	if (fit) {
		fprintf(talk(), "Audit: fit\n");
		return 0;
	}
	r = environment_audit_off(audit, &off, err);
	if (r < 0)
		return r;
	if (!options.anyway)
		return error_say(err, STATUS_NOT_FIT,
			"the audit says that this machine is not fit for timing (%s): see 'emp-setup audit', "
			"or go on with --anyway",
			off);
	fprintf(talk(), "Audit: not fit (%s); calibrating anyway, and the runs say so\n", off);
	c->notes = text_format("audit: not fit (%s), run anyway", off);
	return c->notes ? 0 : error_os(err, -ENOMEM, "cannot keep the audit");
}

static int open_observer(struct calibration *c, struct error *err)
{
	int r;

	r = observer_open(&c->observer, calibrate_options.backend, err);
	if (r < 0)
		return r;
	if (!c->observer.accounting) {
		*err = c->observer.no_accounting;
		return error_prefix(err, -EPERM, "a calibration must see what other processes do");
	}
	fprintf(talk(), "Observer: %s", accounting_name(c->observer.accounting));
	if (accounting_why(c->observer.accounting))
		fprintf(talk(), " (%s)", accounting_why(c->observer.accounting));
	fprintf(talk(), "; process time from %s", observer_pt_source(&c->observer));
	if (!c->observer.cgroup)
		fprintf(talk(), " (%s)", c->observer.no_cgroup.text);
	fputc('\n', talk());
	return 0;
}

static int find_constant(struct calibration *c, struct error *err)
{
	const struct constant_request request = {
		.book = c->book,
		.book_path = c->book_path,
		.environment = c->environment,
		.environment_digest = c->digest,
		.inc_path = c->inc,
		.observer = &c->observer,
		.cpu = calibrate_options.cpu,
	};
	int r = constant_get(&request, &c->constant, err);

	if (r == 0)
		fprintf(talk(), "INC: %.0f iterations a second in environment %.16s (%s)\n",
			c->constant.per_second, c->digest,
			c->constant.found_now ? "found now, and stored" : "stored before");
	return r;
}

static int gather(struct calibration *c, struct error *err)
{
	int r;

	r = calibrate_find_inc(&c->inc, err);
	if (r < 0)
		return r;
	r = calibrate_open_book(BOOK_WRITE, &c->book, &c->book_path, err);
	if (r < 0)
		return r;
	r = check_name(c->book, err);
	if (r < 0)
		return r;
	r = check_audit(c, err);
	if (r != 0)
		return r;
	r = environment_take(c->book, &c->environment, &c->digest, err);
	if (r < 0)
		return r;
	r = open_observer(c, err);
	return r < 0 ? r : find_constant(c, err);
}

static void print_plan(void)
{
	char short_length[TEXT_TIME_SIZE], long_length[TEXT_TIME_SIZE], takes[TEXT_TIME_SIZE],
		ends[TEXT_TIME_SIZE];
	int64_t ns = options.short_size.length_ns * (options.short_size.count + 1) +
		     options.long_size.length_ns * (options.long_size.count + 1);

	fprintf(talk(), "Plan: INC%s x %d and INC%s x %d, each after one warm-up: %s, until %s\n",
		text_seconds(short_length, options.short_size.length_ns), options.short_size.count,
		text_seconds(long_length, options.long_size.length_ns), options.long_size.count,
		text_duration(takes, ns), text_moment(ends, clock_ns(CLOCK_REALTIME) + ns));
	fflush(talk());
}

static int name_run(struct run *run, char *argv[], struct error *err)
{
	char seconds[TEXT_TIME_SIZE];
	_cleanup_(json_decrefp) json_t *command = json_pack("[sss]", argv[0], argv[1], argv[2]);

	run->program = text_format("INC%s", text_seconds(seconds, run->task_length_ns));
	run->command = json_dumps(command, JSON_COMPACT);
	return run->program && run->command ? 0 : error_os(err, -ENOMEM, "cannot begin a run");
}

static int run_one(struct calibration *c, const char *purpose, const struct size *size, int64_t *ret_id,
	struct error *err)
{
	_cleanup_(run_clearp) struct run run = {
		.purpose = strdup(purpose),
		.backend = strdup(observer_backend_name(&c->observer)),
		.pt_source = strdup(observer_pt_source(&c->observer)),
		.notes = c->notes ? strdup(c->notes) : NULL,
		.task_length_ns = size->length_ns,
		.resolution_ns = 1,
		.environment = c->environment,
		.cpu = calibrate_options.cpu,
	};
	char number[32], cost[TEXT_TIME_SIZE];
	char *argv[4];
	const struct spawn spawn = {
		.argv = argv,
		.path = c->inc,
		.cpu = calibrate_options.cpu,
		.stdin_fd = -1,
		.stdout_fd = -1,
		.stderr_fd = -1,
		.cgroup = c->observer.cgroup,
		.accounting = c->observer.accounting,
	};
	struct series series = {.book = c->book,
		.run = &run,
		.spawn = &spawn,
		.warm_ups = 1,
		.samples = size->count,
		.quiet = calibrate_options.quiet};
	int r;

	constant_arguments(&c->constant, size->length_ns, number, argv);
	r = name_run(&run, argv, err);
	if (r < 0)
		return r;
	r = series_run(&series, err);
	if (r == -EINTR)
		return error_say(err, STATUS_INTERRUPTED,
			"interrupted: run %lld keeps its %u samples, no profile was made", (long long)run.id,
			run.n_samples);
	if (r < 0)
		return r;
	fprintf(talk(), "Run %lld: %s, %u samples; the observer took %s of CPU time a sample\n",
		(long long)run.id, run.program, run.n_samples,
		text_duration(cost, series.observer_ns / run.n_samples));
	*ret_id = run.id;
	return 0;
}

static void print_reading(const struct reading *reading)
{
	char low[TEXT_TIME_SIZE], high[TEXT_TIME_SIZE];

	fprintf(talk(), "Run %lld (%s): %s. Central cluster %s to %s, %zu of %zu samples; %zu L-samples\n",
		(long long)reading->run.id, reading->run.program, shape_name(reading->shape),
		text_duration(low, reading->central.low_ns), text_duration(high, reading->central.high_ns),
		reading->central.n_central, reading->n_samples, reading->n_l_samples);
}

static int print_profile(const struct calibration *c, const struct profile *profile, struct error *err)
{
	_cleanup_(json_decrefp) json_t *document = NULL;
	int r;

	if (calibrate_options.json) {
		r = document_make_profile(profile, &document, err);
		return r < 0 ? r : json_print(document, stdout, err);
	}
	printf("Profile '%s': %zu cutoff%s\n", profile->name, profile->n_cutoffs,
		profile->n_cutoffs == 1 ? "" : "s");
	if (profile->n_cutoffs > 0) {
		r = profile_print_cutoffs(profile, err);
		if (r < 0)
			return r;
	}
	printf("See: emp-analyze scatter %lld -o short.png\nUse: emp-measure --profile %s -- COMMAND\n",
		(long long)c->run[0], profile->name);
	return 0;
}

static int make_and_save(struct calibration *c, struct error *err)
{
	_cleanup_(reading_clearp) struct reading short_reading = {};
	_cleanup_(reading_clearp) struct reading long_reading = {};
	_cleanup_(profile_clearp) struct profile profile = {};
	const struct making making = {
		.name = options.save,
		.force = options.force,
		.short_reading = &short_reading,
		.long_reading = &long_reading,
	};
	int r;

	r = make_profile(c->book, c->run[0], c->run[1], &making, &profile, err);
	if (r < 0)
		return r;
	print_reading(&short_reading);
	print_reading(&long_reading);
	if (r == MAKE_REFUSED) {
		fprintf(talk(),
			"No profile was made. The runs are kept: look at them with 'emp-analyze scatter', "
			"and if you know better:\n"
			"  emp-analyze cutoffs --short %lld --long %lld --force --save %s\n",
			(long long)c->run[0], (long long)c->run[1], options.save);
		return STATUS_NOT_FIT;
	}
	if (!profile.environment_digest)
		profile.environment_digest = strdup(c->digest);
	r = book_put_profile(c->book, &profile, options.replace, err);
	if (r < 0)
		return r;
	return print_profile(c, &profile, err);
}

int verb_run(int argc, char **argv, struct error *err)
{
	_cleanup_(calibration_clear) struct calibration c = {};
	int r;

	r = gather(&c, err);
	if (r == -EINTR)
		return error_say(err, STATUS_INTERRUPTED, "interrupted before the first sample");
	if (r != 0)
		return r;
	print_plan();
	r = run_one(&c, "short", &options.short_size, &c.run[0], err);
	if (r == 0)
		r = run_one(&c, "long", &options.long_size, &c.run[1], err);
	if (r != 0)
		return r;
	r = make_and_save(&c, err);
	if (r < 0)
		return r;
	return book_checkpoint(c.book, err) < 0 ? STATUS_ERROR : r;
}
