/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The text that 'run' and 'resume' print: see screen.h. */

#include "calibrate/calibrate.h"

#include "lib/base/number.h"
#include "lib/base/terminal.h"
#include "lib/base/text.h"
#include "lib/host/process/signals.h"
#include "lib/report/run_result.h"
#include "lib/report/notes.h"
#include "lib/report/results.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

static const int64_t LONG_NS = 3600 * NS_PER_S;

FILE *screen_file(void)
{
	return calibrate_options.json ? stderr : stdout;
}

void screen_print(const char *format, ...)
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
		screen_print(
			"Audit: not fit (%.*s and %d more), ignored\n", (int)(end - checks), checks, more);
	else
		screen_print("Audit: not fit (%s), ignored\n", checks);
}

void screen_plan(struct calibration *c, const char *sleeps)
{
	const struct calibration_phase *phases = c->plan.phases;
	int64_t ns = saturate_add(calibration_left_ns(c), calibration_duet_ns(c));

	for (int i = 0; i < CALIBRATION_PHASES; i++)
		if (calibration_samples(c, i) < phases[i].samples)
			ns = saturate_add(ns, phases[i].length_ns); /* a warm-up */
	screen_print("Plan: INC%s x %u and INC%s x %u, %s%s, until %s\n", text_seconds(phases[0].length_ns),
		phases[0].samples, text_seconds(phases[1].length_ns), phases[1].samples, text_duration(ns),
		phases[0].run ? " left" : "", text_moment(saturate_add(clock_ns(CLOCK_REALTIME), ns)));
	if (sleeps && (ns > LONG_NS || calibrate_options.verbose))
		screen_print("Sleep and shutdown are not blocked: %s\n", sleeps);
	else if (calibrate_options.verbose)
		screen_print("Sleep and shutdown are blocked until it ends (systemd-inhibit --list)\n");
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
	screen_print("This calibration takes %s, until %s. Continue? [y/N] ", text_duration(ns),
		text_moment(saturate_add(clock_ns(CLOCK_REALTIME), ns)));
	sigprocmask(SIG_SETMASK, interrupt_old_mask(),
		&ours); /* here ^C may end the process: nothing has begun */
	if (!fgets(answer, sizeof(answer), stdin))
		screen_print("\n");
	sigprocmask(SIG_SETMASK, &ours, NULL);
	if (answer[0] == 'y' || answer[0] == 'Y')
		return 0;
	return error_say(
		err, -ECANCELED, "not started; --preset quick takes half a minute, and --yes does not ask");
}

/* The times of the central cluster: by W, the longest of them. */
static const char *central_text(const struct analysis *analysis)
{
	const struct cluster *c = &analysis->central;

	if (analysis->by_wait)
		return text_brief("W up to %s", text_duration(c->high_ns - analysis->median_rest_ns));
	return text_brief("%s … %s", text_duration(c->low_ns), text_duration(c->high_ns));
}

int screen_run(struct calibration *c, int which, struct error *err)
{
	const struct calibration_phase *phase = &c->plan.phases[which];
	_cleanup_(analysis_clear) struct analysis a = {};
	_cleanup_(freep) char *size = NULL;
	char noise[NOISE_TEXT_SIZE];
	int r;

	r = analysis_load(c->base.book, phase->run,
		&(struct analysis_options){
			.central_max_ns = phase->central_max_ns,
			.by_wait_if_exact = !c->plan.by_et,
			.other_cpus = c->plan.other_cpus,
		},
		&a, err);
	if (r < 0)
		return r;
	size = text_format("%s x %zu", terminal_text(a.run.program), a.n_samples);
	screen_print("Run %-3lld %-14s  %-8s  central %s (%zu), %zu L-sample%s", (long long)a.run.id,
		size ?: terminal_text(a.run.program), verdict_name(a.verdict), central_text(&a),
		a.central.n_central, a.n_l_samples, a.n_l_samples == 1 ? "" : "s");
	screen_print("\n");
	noise_describe(&a.noise, noise);
	if (a.noise.noisy)
		screen_print("  It is %s\n", noise);
	if (calibrate_options.verbose)
		screen_print("  It shows %s.\n%s", terminal_text(a.why),
			a.by_wait ? "  Long samples were found by waiting time W, not by ET.\n" : "");
	return 0;
}

/* The warnings of both runs: for each counter, the samples in which it changed. */
struct warnings {
	size_t of[N_COUNTERS];
	size_t n_samples;
};

static int gather_warnings(
	struct book *book, const struct analysis *analysis, struct warnings *warnings, struct error *err)
{
	_cleanup_(disturbances_clear) struct disturbances found = {};
	int r = disturbances_load(book, analysis->run.id, &found, err);

	if (r < 0)
		return r;
	warnings->n_samples += analysis->n_samples;
	for (size_t i = 0; i < found.n; i++) {
		_cleanup_(freep) char *description = disturbance_description(&found, &found.items[i]);

		warnings->of[found.items[i].which] += found.items[i].n;
		if (calibrate_options.verbose)
			screen_print("  Run %lld: %s\n", (long long)analysis->run.id, description ?: "");
	}
	return 0;
}

/* Wrapped at 80 columns. */
static void print_warning(int *column, const char *format, ...)
{
	_cleanup_(freep) char *text = NULL;
	va_list args;
	int length;

	va_start(args, format);
	length = vasprintf(&text, format, args);
	va_end(args);
	if (length < 0)
		return;
	if (*column > 0 && *column + length > 48) {
		screen_print(",\n          %s", text);
		*column = length;
		return;
	}
	screen_print("%s%s", *column ? ", " : "", text);
	*column += length + 2;
}

int screen_warnings(
	struct book *book, const struct analysis *const analyses[CALIBRATION_PHASES], struct error *err)
{
	struct warnings warnings = {};
	bool any = false;
	int r = 0;

	for (int i = 0; r == 0 && i < CALIBRATION_PHASES; i++)
		r = gather_warnings(book, analyses[i], &warnings, err);
	for (int i = 0; i < N_COUNTERS; i++)
		any |= warnings.of[i] > 0;
	if (r == 0 && any) {
		int column = 0;

		screen_print("Warnings: ");
		for (int i = 0; i < N_COUNTERS; i++)
			if (warnings.of[i])
				print_warning(&column, "%s in %zu", disturbance_name(i), warnings.of[i]);
		screen_print(
			" of %zu samples%s\n", warnings.n_samples, calibrate_options.verbose ? "" : " (-v)");
	}
	return r;
}

static void print_noise(const struct profile *profile)
{
	_cleanup_(freep) char *text = noise_text(profile->name, profile->blind_ns, profile->noise);

	screen_print("%s\n", terminal_text(text) ?: "");
}

int screen_profile(const struct profile *profile, const struct cutoffs *left_out)
{
	enum { PAPERS_SAMPLES = 10 };
	char text[RESOLVING_TEXT_SIZE];
	int r = 0;

	screen_print("Profile '%s': %zu cutoff%s", terminal_text(profile->name), profile->n_cutoffs,
		profile->n_cutoffs == 1 ? "" : "s");
	if (left_out->n > 0)
		screen_print(", %zu left out (--material)", left_out->n);
	screen_print("\n");
	cutoffs_print_names(left_out, screen_file());
	cutoffs_print_floor(profile, screen_file());
	if (noise_marked(profile->blind_ns, profile->noise))
		print_noise(profile);
	if (profile->n_cutoffs)
		cutoffs_print(profile, calibrate_options.verbose, screen_file());
	resolving_text_of(text, profile->resolving, PAPERS_SAMPLES);
	if (*text)
		screen_print("Resolution: %s\n", text);
	return r;
}

void screen_next(const struct calibration *c, const struct analysis *const analyses[CALIBRATION_PHASES],
	const struct profile *profile)
{
	int which = analyses[SHORT_PHASE]->n_l_samples ? SHORT_PHASE : LONG_PHASE;
	_cleanup_(freep) char *cpu = c->plan.cpu < 0 ? NULL : text_format(" --cpu %d", c->plan.cpu);

	if (profile->n_cutoffs && !calibrate_options.verbose)
		screen_print("Causes: emp-analyze%s daemons %lld\n", calibrate_db(),
			(long long)c->plan.phases[which].run);
	screen_print("Next: emp-measure%s --profile %s%s -- COMMAND\n", calibrate_db(),
		calibrate_quoted(profile->name), cpu ?: "");
}

void screen_refused(const struct calibration *c)
{
	long long short_run = c->plan.phases[SHORT_PHASE].run, long_run = c->plan.phases[LONG_PHASE].run;

	screen_print("No profile was made. To look at the runs, and to make one anyway:\n"
		     "  emp-analyze%s scatter %lld -o short.png\n"
		     "  emp-analyze%s cutoffs --short %lld --long %lld --force --save %s\n",
		calibrate_db(), short_run, calibrate_db(), short_run, long_run,
		calibrate_quoted(c->plan.profile));
}
