/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp-calibrate revalidate: whether a profile still holds, after an upgrade of the system, say: a look at the
 * fingerprints, a few minutes of INC, and a verdict. */
#include "calibrate/calibrate.h"
#include "lib/protocol/validity.h"
#include "calibrate/calibration.h"

#include "lib/base/json.h"
#include "lib/base/text.h"
#include "lib/report/analysis_load.h"
#include "lib/run/environment.h"
#include "lib/run/sampling.h"

#include <errno.h>
#include <string.h>

static struct {
	int64_t length_ns;
	bool anyway, adopt;
} options = {.length_ns = 300 * NS_PER_S};

const struct option_row revalidate_options[] = {
	{.name = "for",
		.value = "TIME",
		.summary = "how long INC runs in all (default 5min)",
		.parse = option_duration,
		.into = &options.length_ns},
	{.name = "cpu",
		.value = "N",
		.summary = "run INC on this CPU (default: the one of the profile's short run)",
		.parse = pinning_option,
		.into = &calibrate_options.cpu},
	{.name = "anyway",
		.summary = "run although the audit says that the machine is not fit",
		.into = &options.anyway},
	{.name = "adopt",
		.summary = "if it stands, let it count for the environment of today",
		.into = &options.adopt},
	{.name = "accounting",
		.value = "BACKEND",
		.summary = "auto, bpf or taskstats (default auto)",
		.parse = observer_backend_parse,
		.into = &calibrate_options.backend},
	{},
};

/* What the profile was made of, as far as this book has it. */
struct past {
	struct profile profile;
	struct run short_run;       /* id 0: not here */
	struct differences changes; /* of the fingerprint since then */
	bool comparable;            /* both fingerprints are known */
	struct analysis then, then_long;
	bool has_long;
};

static void past_clear(struct past *p)
{
	profile_clear(&p->profile);
	run_clear(&p->short_run);
	differences_clear(&p->changes);
	analysis_clear(&p->then);
	analysis_clear(&p->then_long);
}

static int load_past(struct calibration *w, const char *name, struct past *p, struct error *err)
{
	const struct analysis_options analysis = {};
	int r;

	r = book_get_profile(w->book, name, &p->profile, err);
	if (r < 0)
		return r;
	if (!p->profile.short_run.run)
		return error_say(err, -ENOENT,
			"profile '%s' was made elsewhere: its runs are not in this book, and nothing can be held against them. Calibrate this machine with 'emp-calibrate run'",
			name);
	r = book_get_run(w->book, p->profile.short_run.run, &p->short_run, err);
	if (r == 0)
		r = analysis_load(w->book, p->profile.short_run.run, &analysis, &p->then, err);
	if (r == 0 && p->profile.long_run.run) {
		r = analysis_load(w->book, p->profile.long_run.run, &analysis, &p->then_long, err);
		p->has_long = r == 0;
	}
	if (r == 0 && p->short_run.task_length_ns <= 0)
		return error_say(err, -EINVAL,
			"run %lld, the short run of profile '%s', does not say how long its task was",
			(long long)p->short_run.id, name);
	return r;
}

static int load_document(struct book *book, int64_t environment, json_t **ret, struct error *err)
{
	_cleanup_(freep) char *text = NULL;
	int r = environment ? book_get_environment(book, environment, NULL, &text, err) : 0;

	if (r == 0)
		*ret = text ? json_loads(text, 0, NULL) : NULL;
	return r;
}

static int compare_fingerprints(struct calibration *w, struct past *p, struct error *err)
{
	_cleanup_(json_decrefp) json_t *then = NULL, *now = NULL;
	int r;

	r = load_document(w->book, p->short_run.environment, &then, err);
	if (r == 0)
		r = load_document(w->book, w->environment, &now, err);
	if (r < 0)
		return r;
	p->comparable = then && now;
	if (!p->comparable) {
		fprintf(calibration_talk(), "Fingerprint: the one of the profile is not known\n");
		return 0;
	}
	r = environment_diff(then, now, &p->changes, err);
	if (r < 0)
		return r;
	fprintf(calibration_talk(), "Fingerprint: %s\n",
		p->changes.n == 0 ? "the same as when the profile was made" : "changed since then:");
	for (size_t i = 0; i < p->changes.n; i++) {
		const struct difference *d = &p->changes.items[i];

		fprintf(calibration_talk(), "  %s %s: was %s, is %s\n", d->identity ? "identity" : "setting",
			d->what, d->before, d->now);
	}
	return 0;
}

enum { FEWEST = 10 };

static int samples_for(const struct past *p)
{
	int64_t n = options.length_ns / p->short_run.task_length_ns;

	if (n > p->profile.short_run.samples)
		n = p->profile.short_run.samples;
	return n < FEWEST ? FEWEST : (int)n;
}

static int fill_run(
	const struct calibration *w, const struct past *p, char *argv[], struct run *run, struct error *err)
{
	_cleanup_(json_decrefp) json_t *command = json_pack("[sss]", argv[0], argv[1], argv[2]);

	*run = (struct run){
		.program = strdup(p->short_run.program),
		.command = json_dumps(command, JSON_COMPACT),
		.purpose = strdup("revalidate"),
		.backend = strdup(observer_backend_name(&w->observer)),
		.pt_source = strdup(observer_pt_source(&w->observer)),
		.profile = strdup(p->profile.name),
		.notes = w->notes ? strdup(w->notes) : NULL,
		.task_length_ns = p->short_run.task_length_ns,
		.resolution_ns = 1,
		.environment = w->environment,
		.cpu = w->plan.cpu,
	};
	return run->program && run->command && run->purpose && run->backend && run->pt_source && run->profile
		       ? 0
		       : error_os(err, -ENOMEM, "cannot begin a run");
}

/* The same work as then: the profile's own constant. */
static int run_inc(struct calibration *w, const struct past *p, int64_t *ret_run, struct error *err)
{
	_cleanup_(run_clearp) struct run run = {};
	char number[32], takes[TEXT_TIME_SIZE];
	char *argv[4];
	const struct spawn spawn = {
		.argv = argv,
		.path = w->inc,
		.cpu = w->plan.cpu,
		.stdin_fd = -1,
		.stdout_fd = -1,
		.stderr_fd = -1,
		.cgroup = w->observer.cgroup,
		.accounting = w->observer.accounting,
	};
	struct sampling sampling = {
		.run = &run, .spawn = &spawn, .warm_ups = 1, .samples = (uint32_t)samples_for(p)};
	const struct sampling_plan plan = {
		.book = w->book,
		.counters = w->observer.counters,
		.items = &sampling,
		.n = 1,
		.quiet = calibrate_options.quiet,
	};
	int r;

	constant_arguments(&w->constant, p->short_run.task_length_ns, number, argv);
	r = fill_run(w, p, argv, &run, err);
	if (r < 0)
		return r;
	fprintf(calibration_talk(), "Plan: %s x %u, after one warm-up: %s\n", run.program, sampling.samples,
		text_duration(takes, (sampling.samples + 1) * run.task_length_ns));
	fflush(calibration_talk());
	r = sampling_run(&plan, err);
	if (r == -EINTR)
		return error_say(err, STATUS_INTERRUPTED, "interrupted: there is no verdict");
	*ret_run = run.id;
	return r;
}

/* The member "verdict" of 0.1.0; "validity" has the new names. */
static const char *verdict_word(enum validity validity)
{
	return validity == VALIDITY_HOLDS ? "stands" : validity_name(validity);
}

static void print_verdict(const struct judgement *j, const struct past *p)
{
	const struct profile *profile = &p->profile;

	for (size_t i = 0; i < j->n; i++)
		printf("%s %s\n", j->findings[i].verdict == VALIDITY_HOLDS ? " " : "!", j->findings[i].words);
	switch (j->verdict) {
	case VALIDITY_HOLDS:
		printf("Verdict: profile '%s' stands\n", profile->name);
		if (p->changes.n > 0 && !options.adopt)
			printf("The environment is another one; to let the profile count for it:\n"
			       "  emp-calibrate revalidate %s --adopt\n",
				profile->name);
		break;
	case VALIDITY_REPEAT_SHORT:
		printf("Verdict: repeat the short run of profile '%s'; its long run may stay:\n"
		       "  emp-calibrate run --reuse-long %lld --save %s --replace\n",
			profile->name, (long long)profile->long_run.run, profile->name);
		break;
	case VALIDITY_REPEAT_ALL:
		printf("Verdict: repeat all of profile '%s':\n  emp-calibrate run --save %s --replace\n",
			profile->name, profile->name);
		break;
	}
}

static int print_json(const struct judgement *j, const struct past *p, int64_t run, struct error *err)
{
	_cleanup_(json_decrefp) json_t *json = json_pack("{s:s, s:s, s:s, s:I, s:[], s:[]}", "profile",
		p->profile.name, "validity", validity_name(j->verdict), "verdict", verdict_word(j->verdict),
		"run", (json_int_t)run, "changes", "findings");

	for (size_t i = 0; i < p->changes.n; i++) {
		const struct difference *d = &p->changes.items[i];

		json_array_append_new(json_object_get(json, "changes"),
			json_pack("{s:s, s:s, s:s, s:s}", "part", d->identity ? "identity" : "settings",
				"what", d->what, "before", d->before, "now", d->now));
	}
	for (size_t i = 0; i < j->n; i++)
		json_array_append_new(json_object_get(json, "findings"),
			json_pack("{s:s, s:s, s:s}", "validity", validity_name(j->findings[i].verdict),
				"verdict", verdict_word(j->findings[i].verdict), "words",
				j->findings[i].words));
	return json ? json_print(json, stdout, err) : error_os(err, -ENOMEM, "cannot print the verdict");
}

static int adopt(struct calibration *w, struct past *p, struct error *err)
{
	char *digest = strdup(w->digest);
	int r;

	if (!digest)
		return error_os(err, -ENOMEM, "cannot store the profile");
	free(p->profile.environment_digest);
	p->profile.environment_digest = digest;
	r = book_put_profile(w->book, &p->profile, true, err);
	if (r == 0)
		fprintf(calibration_talk(), "Profile '%s' now counts for environment %.16s\n",
			p->profile.name, digest);
	return r;
}

static int judge_run(struct calibration *w, struct past *p, int64_t run, struct error *err)
{
	_cleanup_(analysis_clearp) struct analysis now = {};
	_cleanup_(judgement_clearp) struct judgement judgement = {};
	const struct analysis_options analysis = {};
	const struct evidence evidence = {
		.profile = &p->profile,
		.differences = p->comparable ? &p->changes : NULL,
		.then = &p->then,
		.then_long = p->has_long ? &p->then_long : NULL,
		.now = &now,
	};
	int r;

	r = analysis_load(w->book, run, &analysis, &now, err);
	if (r == 0)
		r = judge(&evidence, &judgement, err);
	if (r < 0)
		return r;
	if (calibrate_options.json)
		r = print_json(&judgement, p, run, err);
	else
		print_verdict(&judgement, p);
	if (r < 0 || judgement.verdict != VALIDITY_HOLDS)
		return r < 0 ? r : STATUS_NOT_FIT;
	return options.adopt && p->changes.n > 0 ? adopt(w, p, err) : 0;
}

static int prepare(struct calibration *w, const char *name, struct past *p, struct error *err)
{
	static const char *const backends[] = {"auto", "bpf", "taskstats", "none"};
	int r;

	r = calibration_open(w, "revalidate", err);
	if (r == 0)
		r = load_past(w, name, p, err);
	if (r < 0)
		return r;
	w->plan.anyway = options.anyway;
	w->plan.cpu = calibrate_options.cpu >= 0 ? calibrate_options.cpu : p->short_run.cpu;
	w->plan.backend = strdup(backends[calibrate_options.backend]);
	if (!w->plan.backend)
		return error_os(err, -ENOMEM, "cannot run INC");
	r = calibration_prepare(w, err);
	if (r == 0)
		r = compare_fingerprints(w, p, err);
	return r != 0 ? r : calibration_constant(w, p->short_run.environment, err);
}

int verb_revalidate(int argc, char **argv, struct error *err)
{
	_cleanup_(calibration_clear) struct calibration calibration = CALIBRATION_NEW;
	_cleanup_(past_clear) struct past past = {};
	int64_t run = 0;
	int r;

	r = prepare(&calibration, argv[0], &past, err);
	if (r == 0)
		r = run_inc(&calibration, &past, &run, err);
	if (r == -EINTR)
		return error_say(err, STATUS_INTERRUPTED, "interrupted: there is no verdict");
	return r != 0 ? r : judge_run(&calibration, &past, run, err);
}
