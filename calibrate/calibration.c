/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A calibration from the open book to the profile, and what 'run' and 'resume' print of it: a line
 * for each run, for each daemon, and for all warnings; -v adds details. See calibrate.h. */
#include "calibrate/calibrate.h"

#include "lib/document/document.h"
#include "lib/host/cpu/core_types.h"
#include "lib/host/process/pinning.h"
#include "lib/host/process/signals.h"
#include "lib/host/process/subprocess.h"
#include "lib/host/systemd/units.h"
#include "lib/report/daemon_causes.h"
#include "lib/report/results.h"
#include "lib/run/sampling.h"

#include <systemd/sd-daemon.h>

void calibration_clear(struct calibration *c)
{
	closep(&c->inhibitor);
	run_session_close(&c->base);
	calibration_plan_clear(&c->plan);
	free(c->inc.path);
	free(c->notes);
}

int calibration_open(struct calibration *c, enum run_lock lock, struct error *err)
{
	int r = suite_file_find("inc", &c->inc.path, err);

	c->inc.quiet = calibrate_options.quiet;
	calibrate_options.ignore_audit |= calibrate_options.anyway;
	calibrate_options.ignore_changes |= calibrate_options.anyway;
	return r < 0 ? r : run_session_open(&c->base, calibrate_options.db, BOOK_WRITE, lock, err);
}

/* "Audit: not fit (…), ignored", without -v with three of the checks. */
static void print_ignored_audit(const char *checks)
{
	enum { SHOWN = 3 };
	const char *end = checks;
	int more = 0;

	for (int i = 0; i < SHOWN && end; i++)
		end = strstr(end + (i > 0), ", ");
	for (const char *at = end; at; at = strstr(at + 1, ", "))
		more++;
	if (more && !calibrate_options.verbose)
		calibrate_print("Audit: not fit (%.*s and %d more), ignored\n", (int)(end - checks),
			checks, more);
	else
		calibrate_print("Audit: not fit (%s), ignored\n", checks);
}

/* A calibration belongs to the type of core that it was made on. */
static void print_core_type(int cpu)
{
	_cleanup_(core_types_clear) struct core_types types = {};
	_cleanup_(freep) char *text = NULL;
	const struct core_type *type;

	core_types_read(&types, AT_FDCWD);
	type = core_types_of(&types, cpu);
	text = core_types_text(&types);
	if (type)
		calibrate_print("CPU %d is of type %s: the calibration holds for such cores\n", cpu,
			type->name);
	else if (types.n > 0)
		calibrate_print(
			"Warning: INC may run on cores of several types, %s: choose one with --cpu\n",
			text);
}

int calibration_prepare(struct calibration *c, struct error *err)
{
	const struct observer *o = &c->base.observer;
	_cleanup_(freep) char *off = NULL;
	const char *why;
	int backend;
	int r = c->plan.cpu >= 0 ? pinning_check(c->plan.cpu, AT_FDCWD, err) : 0;

	c->inc.cpu = c->plan.cpu;
	if (r == 0)
		r = environment_audit(&off, err);
	if (r < 0)
		return r;
	if (!off) {
		calibrate_print("Audit: fit\n");
	} else if (!c->plan.anyway) {
		return error_say(err, STATUS_NOT_FIT,
			"this machine is not fit for timing (%s): see 'emp-setup audit', or use --ignore-audit",
			off);
	} else {
		print_ignored_audit(off);
		c->notes = text_format("audit: not fit (%s), ignored", off);
	}
	print_core_type(c->plan.cpu);
	r = run_session_environment(&c->base, err);
	if (r == 0)
		r = option_choice(
			c->plan.backend, "--accounting", accounting_backend_names, &backend, err);
	if (r == 0)
		r = observer_open(&c->base.observer, backend, c->plan.cpu, err);
	if (r < 0)
		return r;
	if (!o->accounting) {
		*err = o->no_accounting;
		return error_prefix(err, -EPERM, "a calibration needs accounting");
	}
	why = accounting_state(o->accounting)->why.text;
	if (*why)
		calibrate_print("Accounting: %s (%s)\n", o->backend, why);
	else if (calibrate_options.verbose)
		calibrate_print("Accounting: %s\n", o->backend);
	if (!o->cgroup)
		calibrate_print("Process times come from wait4: %s\n", o->no_cgroup.text);
	return 0;
}

int calibration_find_constant(struct calibration *c, int64_t environment, struct error *err)
{
	int r = inc_find_constant(&c->inc, &c->base, environment ?: c->base.environment, err);

	if (r == 0)
		calibrate_print("INC: %.3fe9 increments/s (%s)\n", c->inc.per_second / 1e9,
			c->inc.found_now ? "measured now" : "measured before");
	return r;
}

/* INC that runs for `length_ns`, by the calibration's constant. */
static void make_inc(const struct calibration *c, int64_t length_ns, struct inc_program *ret)
{
	inc_program_make(ret, &c->inc, &c->base, c->inc.per_second * (double)length_ns / 1e9);
}

int calibration_new_run(const struct calibration *c, enum run_kind kind, int64_t length_ns,
	struct inc_program *ret_inc, struct run *ret, struct error *err)
{
	make_inc(c, length_ns, ret_inc);
	*ret = (struct run){
		.program = text_format("INC%s", text_seconds(length_ns)),
		.kind = kind,
		.notes = text_copy(c->notes),
		.task_length_ns = length_ns,
		.cpu = c->plan.cpu,
	};
	run_session_describe(&c->base, ret_inc->argv, ret);
	return names_text(&ret->name_patterns, err);
}

/* INC as a duet with itself. The slice is emp-measure's. */
enum { DUET_ROUNDS = 20, LEAST_SLICES = 5 };
static const int64_t SLICE_NS = 10 * NS_PER_MS, MOST_NS = 100 * NS_PER_MS;

/* How long each INC of a duet runs: 0 where there can be no duets by the scheduler's slices, that
 * is, on one CPU and in cgroups, or where it would be too short. */
static int64_t duet_length_ns(const struct calibration *c)
{
	int64_t length_ns = c->plan.phases[SHORT_PHASE].length_ns;

	if (c->plan.cpu < 0 || !c->base.observer.cgroup || length_ns < LEAST_SLICES * SLICE_NS)
		return 0;
	return length_ns < MOST_NS ? length_ns : MOST_NS;
}

/* From rounds of a few seconds together, each of which gives the logarithm of the ratio of their
 * PTs. */
int calibration_duet(struct calibration *c, struct mdd rows[N_MDD], struct error *err)
{
	const struct observer *o = &c->base.observer;
	const struct command_spec all = {
		.cpu = c->plan.cpu, .cgroup = o->cgroup, .accounting = o->accounting};
	struct alternation_plan plan = {.slice_ns = SLICE_NS, .cpu = c->plan.cpu};
	struct cgroup *cgroups[2] = {};
	_cleanup_(progress_end) struct progress progress = {};
	const struct command_spec *specs[2];
	struct inc_program inc[2];
	struct raw_sample seen[2] = {};
	double log_ratios[DUET_ROUNDS];
	bool can = true;
	int r = 0;

	if (rows[0].samples == 0 || duet_length_ns(c) == 0)
		return 0;
	for (size_t i = 0; r == 0 && i < 2; i++) {
		r = cgroup_new_in(&cgroups[i], o->cgroup->path, err);
		make_inc(c, duet_length_ns(c), &inc[i]);
		inc[i].spec.cgroup = cgroups[i];
		inc[i].spec.slice_ns = SLICE_NS;
		specs[i] = &inc[i].spec;
	}
	if (r == 0)
		can = alternation_choose(SLICING_SCHEDULER, SLICE_NS, plan.cpu, cgroups[0],
			      &plan.slicing, NULL) == 0;
	progress_begin(&progress, "INC in a duet with itself", can ? DUET_ROUNDS : 0,
		calibrate_options.quiet);
	for (size_t i = 0; r == 0 && can && i < DUET_ROUNDS; i++) {
		plan.first = i % 2;
		r = interrupt_pending()
			    ? -EINTR
			    : observe_together(&plan, &all, specs, 2, o->counters, seen, err);
		if (r == 0 && (seen[0].exec.pt_ns <= 0 || seen[1].exec.pt_ns <= 0))
			r = error_say(err, -ECANCELED, "INC took no CPU time in a duet");
		if (r == 0)
			log_ratios[i] = log(
				(double)seen[0].exec.pt_ns / (double)seen[1].exec.pt_ns);
		progress_step(&progress, i + 1, NULL);
	}
	if (r == 0 && can)
		mdd_add_duet(rows, log_ratios, DUET_ROUNDS);
	for (size_t i = 0; i < 2; i++)
		cgroup_free(cgroups[i]);
	return r;
}

/* The time left, estimated from the samples so far; `all`: with the warm-ups and the duet to
 * come. */
static int64_t calibration_left_ns(const struct calibration *c, bool all)
{
	int64_t ns = all ? DUET_ROUNDS * 2 * duet_length_ns(c) : 0;

	for (int i = 0; i < CALIBRATION_PHASES; i++) {
		const struct calibration_phase *phase = &c->plan.phases[i];
		_cleanup_(run_clear) struct run run = {};
		uint32_t there = phase->run && book_get_run(c->base.book, phase->run, &run, NULL) ==
							 0
					 ? run.n_samples
					 : 0;

		if (there < phase->samples) {
			int64_t pace_ns = c->pace_ns[i] ?: phase->length_ns;

			ns = saturate_add(ns, saturate_multiply(phase->samples - there, pace_ns));
			ns = saturate_add(ns, all ? phase->length_ns : 0);
		}
	}
	return ns;
}

/* Stores a new run, and its calibration with it. */
static int begin_phase(struct calibration *c, int which, struct run *run, struct error *err)
{
	struct book *book = c->base.book;
	int r = book_begin(book, err);

	if (r < 0)
		return r;
	r = book_begin_run(book, run, err);
	c->plan.phases[which].run = run->id;
	if (r == 0)
		r = book_put_calibration(book, &c->plan, err);
	r = book_end(book, r, err);
	if (r < 0)
		c->plan.phases[which].run = 0;
	return r;
}

/* Tells systemd, after each sample, and before the first. */
static int report_progress(struct sampling *s, const struct sample *sample,
	const struct execution *executions, size_t n_executions, struct error *err)
{
	struct calibration *c = s->data;
	const struct run *run = s->run;
	int64_t left_ns;

	if (s->taken > 0)
		c->pace_ns[c->phase] = (clock_ns(CLOCK_MONOTONIC) - s->begun_ns) / s->taken;
	left_ns = calibration_left_ns(c, false);
	sd_notifyf(0, "STATUS=%s run %lld: %u of %u samples of %s; %s left, until %s",
		run_kind_names[run->kind], (long long)run->id, run->n_samples,
		c->plan.phases[c->phase].samples, run->program, text_duration(left_ns),
		text_moment(clock_ns(CLOCK_REALTIME) + left_ns));
	return 0;
}

/* A warm-up and the samples that are missing, each stored before the next starts; systemd is told
 * of the progress. */
static int take_phase(
	struct calibration *c, const struct inc_program *inc, struct run *run, struct error *err)
{
	_cleanup_(freep) char *command = text_format("emp-calibrate%s resume %lld", calibrate_db(),
		(long long)c->plan.phases[SHORT_PHASE].run);
	struct sampling sampling = {.run = run,
		.spec = &inc->spec,
		.warm_ups = 1,
		.samples = c->plan.phases[c->phase].samples,
		.data = c};
	_cleanup_(freep) char *label = text_format(
		"%s run %lld, %s", run_kind_names[run->kind], (long long)run->id, run->program);
	const struct sampling_plan plan = {
		.session = &c->base,
		.items = &sampling,
		.n = 1,
		.hooks = {.taken = report_progress},
		.label = label,
		.quiet = calibrate_options.quiet,
	};
	struct error err2;
	int r;

	report_progress(&sampling, NULL, NULL, 0, NULL);
	r = sampling_run(&plan, err);
	err2 = *err;
	if (r == -EINTR)
		return error_say(err, STATUS_INTERRUPTED,
			"interrupted: run %lld keeps its %u samples; to resume: %s",
			(long long)run->id, run->n_samples, command);
	if (r < 0)
		return error_say(err, r, "%s; the samples so far are kept; to resume: %s",
			err2.text, command);
	if (calibrate_options.verbose && sampling.taken > 0)
		calibrate_print("The observer took %s of CPU time per sample\n",
			text_duration(sampling.observer_ns / sampling.taken));
	return 0;
}

/* A complete run: its verdict, central cluster and L-samples. */
static int print_run(const struct calibration *c, int which, struct error *err)
{
	const struct calibration_phase *phase = &c->plan.phases[which];
	const struct analysis_options options = {
		.central_max_ns = phase->central_max_ns,
		.by_wait_if_exact = !c->plan.by_et,
		.other_cpus = c->plan.other_cpus,
	};
	_cleanup_(analysis_clear) struct analysis a = {};
	const char *central;
	int r = analysis_load(c->base.book, phase->run, &options, &a, err);

	if (r < 0)
		return r;
	if (a.by_wait)
		central = text_brief(
			"W up to %s", text_duration(a.central.high_ns - a.median_rest_ns));
	else
		central = text_interval((double)a.central.low_ns, (double)a.central.high_ns,
			(double)(a.central.high_ns - a.central.low_ns) / 10, NULL);
	calibrate_print("Run %-3lld %-14s  %-8s  central %s (%zu), %s\n", (long long)a.run.id,
		text_brief("%s x %zu", terminal_text(a.run.program), a.n_samples),
		verdict_name(a.verdict), central, a.central.n_central,
		text_count(a.n_l_samples, "L-sample"));
	if (a.noise.noisy)
		calibrate_print("  It is %s\n", noise_describe(&a.noise));
	if (calibrate_options.verbose)
		calibrate_print("  It shows %s.\n%s", terminal_text(a.why),
			a.by_wait ? "  Long samples were found by waiting time W, not by ET.\n"
				  : "");
	return 0;
}

/* SHORT_PHASE or LONG_PHASE, from where it is to its end. */
static int do_phase(struct calibration *c, int which, struct error *err)
{
	const struct calibration_phase *phase = &c->plan.phases[which];
	_cleanup_(run_clear) struct run run = {};
	struct inc_program inc;
	int r;

	c->phase = which;
	if (!phase->run) {
		r = calibration_new_run(c, which == SHORT_PHASE ? RUN_SHORT : RUN_LONG,
			phase->length_ns, &inc, &run, err);
		if (r == 0)
			r = begin_phase(c, which, &run, err);
	} else {
		make_inc(c, phase->length_ns, &inc);
		r = book_get_run(c->base.book, phase->run, &run, err);
		if (r == 0 && run.n_samples < phase->samples) {
			r = book_reopen_run(c->base.book, phase->run, c->base.environment, err);
			if (r == 0)
				calibrate_print("Run %lld: resumed at sample %u of %u\n",
					(long long)phase->run, run.n_samples + 1, phase->samples);
		}
	}
	if (r == 0 && (run.n_samples < phase->samples || run.state != RUN_DONE))
		r = take_phase(c, &inc, &run, err);
	return r != 0 ? r : print_run(c, which, err);
}

/* The profile and the end of its calibration, in one transaction. */
static int store_profile(struct calibration *c, struct profile *profile, struct error *err)
{
	enum calibration_state before = c->plan.state;
	struct book *book = c->base.book;
	int r = book_begin(book, err);

	if (r < 0)
		return r;
	c->plan.state = CALIBRATION_DONE;
	r = book_put_profile(book, profile, c->plan.replace, err);
	if (r == 0)
		r = book_put_calibration(book, &c->plan, err);
	r = book_end(book, r, err);
	if (r < 0)
		c->plan.state = before; /* it can be resumed */
	return r;
}

/* What disturbed the runs: a line for each counter with -v, and one for all. */
static int print_warnings(
	struct book *book, const struct analysis analyses[CALIBRATION_PHASES], struct error *err)
{
	_cleanup_(freep) char *list = NULL;
	size_t changed[N_COUNTERS] = {}, n_samples = 0;

	/* for each counter, the samples of both runs in which it changed */
	for (int i = 0; i < CALIBRATION_PHASES; i++) {
		_cleanup_(run_result_clear) struct run_result result = {};
		const struct disturbances *found = &result.disturbances;
		int r = run_result_read(book, analyses[i].run.id, &(struct discard_rules){},
			RESULT_COUNTERS, &result, err);

		if (r < 0)
			return r;
		n_samples += analyses[i].n_samples;
		for (size_t k = 0; k < found->n; k++) {
			_cleanup_(freep) char *description = disturbance_description(found, k);

			changed[found->items[k].which] += found->items[k].n;
			if (calibrate_options.verbose)
				calibrate_print("  Run %lld: %s\n", (long long)analyses[i].run.id,
					description);
		}
	}
	for (int i = 0; i < N_COUNTERS; i++) {
		if (changed[i])
			text_append(&list, ", ", "%s in %zu", disturbance_name(i), changed[i]);
	}
	if (list)
		calibrate_print("Warnings: %s of %zu samples%s\n", list, n_samples,
			calibrate_options.verbose ? "" : " (-v)");
	return 0;
}

static int show_new_profile(
	struct calibration *c, const struct new_profile *made, struct error *err)
{
	const struct profile *p = &made->profile;
	int which = made->analyses[SHORT_PHASE].n_l_samples ? SHORT_PHASE : LONG_PHASE;
	enum { PAPERS_SAMPLES = 10 };
	FILE *screen = calibrate_screen();
	int r = 0;

	if (calibrate_options.json) {
		r = document_print_profile(p, err);
	} else {
		const char *mdd;

		printf("Profile '%s': %s", terminal_text(p->name),
			text_count(p->n_cutoffs, "cutoff"));
		if (made->left_out.n > 0)
			printf(", %zu left out (--material)", made->left_out.n);
		printf("\n");
		cutoffs_print_omitted(p, &made->left_out, screen);
		noise_print(screen, p->name, &p->mark);
		if (p->n_cutoffs)
			cutoffs_print(p, calibrate_options.verbose, screen);
		mdd = mdd_text_of(p->mdd, PAPERS_SAMPLES, false);
		if (*mdd)
			terminal_say(stdout, 2, "Resolution: %s", mdd);
	}
	if (r == 0 && calibrate_options.verbose)
		r = daemon_causes_print(
			c->base.book, made->analyses, CALIBRATION_PHASES, screen, err);
	if (r < 0)
		return r;
	if (p->n_cutoffs && !calibrate_options.verbose)
		calibrate_print("Causes: emp-analyze%s daemons %lld\n", calibrate_db(),
			(long long)made->analyses[which].run.id);
	calibrate_print("Next: emp-measure%s --profile %s%s -- COMMAND\n", calibrate_db(),
		calibrate_quoted(p->name),
		c->plan.cpu < 0 ? "" : text_brief(" --cpu %d", c->plan.cpu));
	return 0;
}

/* From two complete runs to the profile in the book, or the reason why there is none:
 * STATUS_NOT_FIT with a sentence where a run is no L, or a failure. */
static int conclude(struct calibration *c, struct error *err)
{
	_cleanup_(new_profile_clear) struct new_profile made = {};
	const struct calibration_phase *phases = c->plan.phases;
	const struct profile_request request = {
		.name = c->plan.profile,
		.runs = {phases[SHORT_PHASE].run, phases[LONG_PHASE].run},
		.central_max_ns = {phases[SHORT_PHASE].central_max_ns,
			phases[LONG_PHASE].central_max_ns},
		.options = {.by_wait_if_exact = !c->plan.by_et, .other_cpus = c->plan.other_cpus},
		.least_share_ppm = c->plan.material_ppm,
		.force = c->plan.force,
	};
	int r, refused = profile_from_runs(c->base.book, &request, &made, err);

	if (refused < 0)
		return refused;
	r = print_warnings(c->base.book, made.analyses, err);
	if (r < 0)
		return r;
	if (refused) {
		calibrate_print(
			"No profile was made. To look at the runs, and to make one anyway:\n"
			"  emp-analyze%s scatter %lld -o short.png\n"
			"  emp-analyze%s cutoffs --short %lld --long %lld --force --save %s\n",
			calibrate_db(), (long long)phases[SHORT_PHASE].run, calibrate_db(),
			(long long)phases[SHORT_PHASE].run, (long long)phases[LONG_PHASE].run,
			calibrate_quoted(c->plan.profile));
		c->plan.state = CALIBRATION_REFUSED;
		book_put_calibration(c->base.book, &c->plan, NULL);
		return STATUS_NOT_FIT;
	}
	r = calibration_duet(c, made.profile.mdd, err);
	if (r == -EINTR)
		return error_say(err, STATUS_INTERRUPTED,
			"interrupted: both runs are complete; to resume: emp-calibrate%s resume %lld",
			calibrate_db(), (long long)phases[SHORT_PHASE].run);
	if (r == 0)
		r = store_profile(c, &made.profile, err);
	return r < 0 ? r : show_new_profile(c, &made, err);
}

/* In the book once the calibration is there. */
static int set_owner(struct calibration *c, bool ours, struct error *err)
{
	free(c->plan.owner);
	c->plan.owner = ours ? xstrdup(process_ref(getpid())) : NULL;
	return c->plan.id ? book_put_calibration(c->base.book, &c->plan, err) : 0;
}

int calibration_run(struct calibration *c, struct error *err)
{
	const struct calibration_phase *phases = c->plan.phases;
	int64_t left_ns = calibration_left_ns(c, true);
	_cleanup_(freep) char *reused = NULL;
	struct error err2 = {};
	int r;

	/* blocks sleep and shutdown, and tells systemd that the service has started */
	c->inhibitor = inhibit_sleep("emp-calibrate", "a calibration runs", &err2);
	if (!phases[0].run && phases[1].run)
		reused = text_format("run %lld, ", (long long)phases[1].run);
	calibrate_print("Plan: INC%s x %u and %sINC%s x %u, %s%s, until %s\n",
		text_seconds(phases[0].length_ns), phases[0].samples, reused ?: "",
		text_seconds(phases[1].length_ns), phases[1].samples, text_duration(left_ns),
		phases[0].run ? " left" : "",
		text_moment(saturate_add(clock_ns(CLOCK_REALTIME), left_ns)));
	if (c->inhibitor < 0 && (left_ns > CALIBRATION_LONG_NS || calibrate_options.verbose))
		calibrate_print("Sleep and shutdown are not blocked: %s\n", err2.text);
	else if (calibrate_options.verbose)
		calibrate_print(
			"Sleep and shutdown are blocked until it ends (systemd-inhibit --list)\n");
	sd_notify(0, "READY=1");
	r = set_owner(c, true, err);
	for (int i = 0; r == 0 && i < CALIBRATION_PHASES; i++)
		r = do_phase(c, i, err);
	sd_notify(0, "STOPPING=1");
	if (r == 0)
		r = conclude(c, err);
	if (r < 0) {
		set_owner(c, false, &err2);
		return r;
	}
	if (set_owner(c, false, err) < 0 || book_checkpoint(c->base.book, err) < 0)
		return STATUS_ERROR;
	return r;
}
