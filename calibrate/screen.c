/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The text that 'run' and 'resume' print: see calibrate.h. */
#include "calibrate/calibrate.h"

#include "lib/base/terminal.h"
#include "lib/host/process/signals.h"
#include "lib/report/run_result.h"
#include "lib/report/notes.h"
#include "lib/report/results.h"

#include <stdarg.h>

static const int64_t LONG_NS = 3600 * NS_PER_S;

FILE *screen_file(void)
{
	return calibrate_options.json ? stderr : stdout;
}

void calibrate_print(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vfprintf(screen_file(), format, args);
	va_end(args);
	fflush(screen_file()); /* the next line may come much later */
}

void screen_audit_ignored(const char *checks)
{
	enum { SHOWN = 3 };
	const char *end = checks;
	int more = 0;

	for (int i = 0; i < SHOWN && end; i++)
		end = strstr(end + (i > 0), ", ");
	for (const char *at = end; at; at = strstr(at + 1, ", "))
		more++;
	if (more && !calibrate_options.verbose)
		calibrate_print(
			"Audit: not fit (%.*s and %d more), ignored\n", (int)(end - checks), checks, more);
	else
		calibrate_print("Audit: not fit (%s), ignored\n", checks);
}

void screen_plan(const struct calibration *c, const char *sleeps)
{
	const struct calibration_phase *phases = c->plan.phases;
	int64_t ns = calibration_left_ns(c, true);

	calibrate_print("Plan: INC%s x %u and INC%s x %u, %s%s, until %s\n",
		text_seconds(phases[0].length_ns), phases[0].samples, text_seconds(phases[1].length_ns),
		phases[1].samples, text_duration(ns), phases[0].run ? " left" : "",
		text_moment(saturate_add(clock_ns(CLOCK_REALTIME), ns)));
	if (sleeps && (ns > LONG_NS || calibrate_options.verbose))
		calibrate_print("Sleep and shutdown are not blocked: %s\n", sleeps);
	else if (calibrate_options.verbose)
		calibrate_print("Sleep and shutdown are blocked until it ends (systemd-inhibit --list)\n");
}

int screen_confirm(int64_t ns, struct error *err)
{
	char answer[16] = "";
	sigset_t ours;

	if (ns <= LONG_NS)
		return 0;
	if (!isatty(STDIN_FILENO) || !isatty(fileno(screen_file())))
		return error_say(err, -ECANCELED,
			"not started: this calibration takes %s, and there is no terminal to ask on; add --yes, or choose a shorter --preset: quick, hour or day",
			text_duration(ns));
	calibrate_print("This calibration takes %s, until %s. Continue? [y/N] ", text_duration(ns),
		text_moment(saturate_add(clock_ns(CLOCK_REALTIME), ns)));
	sigprocmask(SIG_SETMASK, interrupt_old_mask(),
		&ours); /* here ^C may end the process: nothing has begun */
	if (!fgets(answer, sizeof(answer), stdin))
		calibrate_print("\n");
	sigprocmask(SIG_SETMASK, &ours, NULL);
	if (answer[0] == 'y' || answer[0] == 'Y')
		return 0;
	return error_say(
		err, -ECANCELED, "not started; --preset quick takes half a minute, and --yes does not ask");
}

int screen_run(struct calibration *c, int which, struct error *err)
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
		central = text_brief("W up to %s", text_duration(a.central.high_ns - a.median_rest_ns));
	else
		central = text_brief(
			"%s … %s", text_duration(a.central.low_ns), text_duration(a.central.high_ns));
	calibrate_print("Run %-3lld %-14s  %-8s  central %s (%zu), %zu L-sample%s\n", (long long)a.run.id,
		text_brief("%s x %zu", terminal_text(a.run.program), a.n_samples), verdict_name(a.verdict),
		central, a.central.n_central, a.n_l_samples, a.n_l_samples == 1 ? "" : "s");
	if (a.noise.noisy)
		calibrate_print("  It is %s\n", noise_describe(&a.noise));
	if (calibrate_options.verbose)
		calibrate_print("  It shows %s.\n%s", terminal_text(a.why),
			a.by_wait ? "  Long samples were found by waiting time W, not by ET.\n" : "");
	return 0;
}

int screen_warnings(
	struct book *book, const struct analysis *const analyses[CALIBRATION_PHASES], struct error *err)
{
	enum { WIDTH = 48 };
	size_t changed[N_COUNTERS] = {}, n_samples = 0;
	int column = 0;

	/* for each counter, the samples of both runs in which it changed */
	for (int i = 0; i < CALIBRATION_PHASES; i++) {
		_cleanup_(disturbances_clear) struct disturbances found = {};
		int r = disturbances_load(book, analyses[i]->run.id, &found, err);

		if (r < 0)
			return r;
		n_samples += analyses[i]->n_samples;
		for (size_t k = 0; k < found.n; k++) {
			_cleanup_(freep) char *description = disturbance_description(&found, &found.items[k]);

			changed[found.items[k].which] += found.items[k].n;
			if (calibrate_options.verbose)
				calibrate_print(
					"  Run %lld: %s\n", (long long)analyses[i]->run.id, description);
		}
	}
	for (int i = 0; i < N_COUNTERS; i++) {
		_cleanup_(freep) char *text = NULL;
		int length;

		if (!changed[i])
			continue;
		text = text_format("%s in %zu", disturbance_name(i), changed[i]);
		length = (int)strlen(text);
		if (column > 0 && column + length > WIDTH) {
			calibrate_print(",\n          %s", text);
			column = length;
		} else {
			calibrate_print("%s%s", column ? ", " : "Warnings: ", text);
			column += length + 2;
		}
	}
	if (column > 0)
		calibrate_print(" of %zu samples%s\n", n_samples, calibrate_options.verbose ? "" : " (-v)");
	return 0;
}

void screen_profile(const struct profile *p, const struct cutoffs *left_out)
{
	enum { PAPERS_SAMPLES = 10 };
	const char *resolving;

	calibrate_print("Profile '%s': %zu cutoff%s", terminal_text(p->name), p->n_cutoffs,
		p->n_cutoffs == 1 ? "" : "s");
	if (left_out->n > 0)
		calibrate_print(", %zu left out (--material)", left_out->n);
	calibrate_print("\n");
	cutoffs_print_names(left_out, screen_file());
	cutoffs_print_floor(p, screen_file());
	noise_print(screen_file(), p->name, p->blind_ns, p->noise);
	if (p->n_cutoffs)
		cutoffs_print(p, calibrate_options.verbose, screen_file());
	resolving = resolving_text_of(p->resolving, PAPERS_SAMPLES, false);
	if (*resolving)
		calibrate_print("Resolution: %s\n", resolving);
}

void screen_next(const struct calibration *c, const struct analysis *const analyses[CALIBRATION_PHASES],
	const struct profile *profile)
{
	int which = analyses[SHORT_PHASE]->n_l_samples ? SHORT_PHASE : LONG_PHASE;
	const char *cpu = c->plan.cpu < 0 ? "" : text_brief(" --cpu %d", c->plan.cpu);

	if (profile->n_cutoffs && !calibrate_options.verbose)
		calibrate_print("Causes: emp-analyze%s daemons %lld\n", calibrate_db(),
			(long long)c->plan.phases[which].run);
	calibrate_print("Next: emp-measure%s --profile %s%s -- COMMAND\n", calibrate_db(),
		calibrate_quoted(profile->name), cpu);
}

void screen_refused(const struct calibration *c)
{
	long long short_run = c->plan.phases[SHORT_PHASE].run, long_run = c->plan.phases[LONG_PHASE].run;

	calibrate_print("No profile was made. To look at the runs, and to make one anyway:\n"
			"  emp-analyze%s scatter %lld -o short.png\n"
			"  emp-analyze%s cutoffs --short %lld --long %lld --force --save %s\n",
		calibrate_db(), short_run, calibrate_db(), short_run, long_run,
		calibrate_quoted(c->plan.profile));
}
