/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The infrequent daemons of a calibration: see advice.h. */
#include "calibrate/advice.h"

#include "lib/base/text.h"
#include "lib/host/system/policy.h"
#include "lib/host/systemd/timer.h"
#include "lib/stats/robust.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

/* "281.0 ms, median of 7 long executions, every 112 samples = 3 h 59 min, firm" */
static int print_habit(
	const struct analysis *analysis, const struct daemon_statistics *h, FILE *file, struct error *err)
{
	_cleanup_(freep) int64_t *times = reallocarray(NULL, h->n_longs, sizeof(*times));
	char median[TEXT_TIME_SIZE], period[TEXT_TIME_SIZE], longest[TEXT_TIME_SIZE];

	if (!times)
		return error_os(err, -ENOMEM, "cannot look at the daemons");
	for (size_t i = 0; i < h->n_longs; i++)
		times[i] = h->longs[i].pt_ns;
	fprintf(file, "  run %" PRId64 ": %s, ", analysis->run.id,
		text_duration(median, (int64_t)median_of(times, h->n_longs)));
	if (h->n_longs == 1)
		fprintf(file, "one long execution, in sample %u", h->longs[0].sample);
	else
		fprintf(file, "median of %zu long executions", h->n_longs);
	if (h->period.samples > 0)
		fprintf(file, ", every %g samples = %s, %s", h->period.samples,
			text_duration(period, (int64_t)(h->period.samples * analysis->spacing_ns)),
			h->period.firm ? "firm" : "tentative (seen twice)");
	else if (h->n_longs > 1)
		fprintf(file, ", at no regular distance");
	if (h->n_central > 0)
		fprintf(file, "; at most %s in central samples\n", text_duration(longest, h->central_max_ns));
	else
		fprintf(file, "; in no central sample\n");
	return 0;
}

/* The period that was seen, in the run that shows it best. */
static int64_t seen_period_ns(const struct analysis *const analyses[2], const char *daemon)
{
	for (int i = 0; i < 2; i++) {
		const struct daemon_statistics *h = analysis_daemon(analyses[i], daemon);

		if (h && h->period.samples > 0)
			return (int64_t)(h->period.samples * analyses[i]->spacing_ns);
	}
	return 0;
}

static void print_agreement(const struct timer *timer, int64_t seen_ns, FILE *file)
{
	int64_t slack_ns = timer->period_ns / 10 + timer->spread_ns;

	if (!seen_ns)
		fprintf(file, "; the runs do not show that period\n");
	else if (llabs(seen_ns - timer->period_ns) <= slack_ns)
		fprintf(file, ", as was seen\n");
	else {
		char seen[TEXT_TIME_SIZE];

		fprintf(file,
			", and that disagrees with the %s that were seen: something else starts it too, or keeps it from running\n",
			text_duration(seen, seen_ns));
	}
}

static void print_timer(const struct timer *timer, int64_t seen_ns, FILE *file)
{
	char period[TEXT_TIME_SIZE], spread[TEXT_TIME_SIZE];

	fprintf(file, "  started by %s (%s", timer->name, timer->words);
	if (timer->spread_ns > 0)
		fprintf(file, ", up to %s later by chance", text_duration(spread, timer->spread_ns));
	fputc(')', file);
	if (timer->period_ns > 0) {
		fprintf(file, ": every %s", text_duration(period, timer->period_ns));
		print_agreement(timer, seen_ns, file);
	} else
		fprintf(file, ", at no regular distance\n");
}

static bool is_service(const char *unit)
{
	return unit && unit_is_kind(unit, ".service");
}

/* Who may be asked about a unit; either may be missing. */
struct sources {
	struct units *units;
	struct policy *policy;
	struct daemons daemons;
};

static void sources_clear(struct sources *s)
{
	units_free(s->units);
	policy_free(s->policy);
	daemons_clear(&s->daemons);
}

static void print_remedy(
	const struct policy *policy, const char *unit, const struct timer *timers, size_t n, FILE *file)
{
	const char *never = policy ? policy_never(policy, unit) : NULL;
	bool listed = policy && policy_stop(policy, unit);

	if (never) {
		fprintf(file, "  not to be stopped (%s): its samples are discarded, and that must do\n",
			never);
		return;
	}
	for (size_t i = 0; i < n; i++)
		listed |= policy && policy_stop(policy, timers[i].name);
	if (listed) {
		fprintf(file,
			"  'emp-setup apply --only svc.units,svc.timers' silences it, with what else the policy lists; 'emp-setup restore' undoes that\n");
		return;
	}
	fprintf(file, "  to be without it until the next boot: systemctl stop");
	for (size_t i = 0; i < n; i++)
		fprintf(file, " %s", timers[i].name);
	fprintf(file,
		" %s\n"
		"  or name it under [stop] in a policy of /etc/emp/policies, for 'emp-setup apply --only svc.units,svc.timers'\n",
		unit);
}

static void print_unit(const struct sources *s, const char *unit, int64_t seen_ns, FILE *file)
{
	struct timer *timers = NULL;
	struct error ignored;
	size_t n = 0;

	if (s->units && timers_of(s->units, unit, &timers, &n, &ignored) < 0)
		n = 0;
	for (size_t i = 0; i < n; i++)
		print_timer(&timers[i], seen_ns, file);
	print_remedy(s->policy, unit, timers, n, file);
	timers_free(timers, n);
}

static bool is_kernel_thread(const struct daemons *daemons, const char *name)
{
	for (size_t i = 0; i < daemons->n; i++)
		if (daemons->items[i].kernel &&
			!strcmp(name_group(names_default, daemons->items[i].name), name))
			return true;
	return false;
}

static void print_cause(const struct sources *s, const struct cutoff *c, int64_t seen_ns, FILE *file)
{
	_cleanup_(freep) char *known = s->policy && !c->unit ? policy_unit_of_process(s->policy, c->daemon)
							     : NULL;
	const char *unit = c->unit ?: known;

	if (is_kernel_thread(&s->daemons, c->daemon))
		fprintf(file, "  a thread of the kernel: it works for others, and cannot be switched off\n");
	else if (is_service(unit))
		print_unit(s, unit, seen_ns, file);
	else if (unit && !strcmp(unit, "init.scope"))
		fprintf(file,
			"  a part of systemd, at work for others: somebody started or stopped something\n");
	else if (unit)
		fprintf(file, "  part of %s: a login or a command, no service; end it there\n", unit);
	else
		fprintf(file, "  of no unit of systemd: find what starts it (cron, a login, a container)\n");
}

static int open_sources(struct sources *s, struct book *book, FILE *file, struct error *err)
{
	struct machine machine;
	struct error why;

	if (units_open(&s->units, &why) < 0)
		fprintf(file, "(timers are not shown: %s)\n", why.text);
	machine_read(&machine, AT_FDCWD);
	if (policy_load(&s->policy, policy_directories(), NULL, &machine, &why) < 0)
		fprintf(file, "(no policy is at hand: %s)\n", why.text);
	machine_clear(&machine);
	return book_daemons(book, &s->daemons, err);
}

static int print_daemon(const struct sources *s, const struct analysis *const analyses[2],
	const struct cutoff *c, FILE *file, struct error *err)
{
	fprintf(file, "%s%s%s%s\n", c->daemon, c->unit ? " (" : "", c->unit ?: "", c->unit ? ")" : "");
	for (int i = 0; i < 2; i++) {
		const struct daemon_statistics *h = analysis_daemon(analyses[i], c->daemon);
		int r = h && h->n_longs > 0 ? print_habit(analyses[i], h, file, err) : 0;

		if (r < 0)
			return r;
	}
	print_cause(s, c, seen_period_ns(analyses, c->daemon), file);
	return 0;
}

/* Nothing can be said of these but their names. */
static bool was_once(const struct analysis *const analyses[2], const struct cutoff *c, uint32_t *ret_sample)
{
	size_t n = 0;

	for (int i = 0; i < 2; i++) {
		const struct daemon_statistics *h = analysis_daemon(analyses[i], c->daemon);

		n += h ? h->n_longs : 0;
		if (h && h->n_longs == 1)
			*ret_sample = h->longs[0].sample;
	}
	return n == 1 && !c->unit;
}

static void print_those_once(
	const struct profile *profile, const struct analysis *const analyses[2], FILE *file)
{
	bool any = false;
	uint32_t sample = 0;

	for (size_t i = 0; i < profile->n_cutoffs; i++)
		if (was_once(analyses, &profile->cutoffs[i], &sample)) {
			fprintf(file, "%s%s (sample %u)",
				any ? ", " : "Long once only, and of no unit of systemd: ",
				profile->cutoffs[i].daemon, sample);
			any = true;
		}
	if (any)
		fprintf(file, "\n");
}

int advice_print(struct book *book, const struct profile *profile, const struct analysis *short_analysis,
	const struct analysis *long_analysis, FILE *file, struct error *err)
{
	const struct analysis *const analyses[2] = {short_analysis, long_analysis};
	_cleanup_(sources_clear) struct sources sources = {};
	uint32_t once;
	int r;

	if (profile->n_cutoffs == 0)
		return 0;
	fprintf(file, "The infrequent daemons:\n");
	r = open_sources(&sources, book, file, err);
	for (size_t i = 0; r == 0 && i < profile->n_cutoffs; i++)
		if (!was_once(analyses, &profile->cutoffs[i], &once))
			r = print_daemon(&sources, analyses, &profile->cutoffs[i], file, err);
	if (r == 0)
		print_those_once(profile, analyses, file);
	return r;
}
