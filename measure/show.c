/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp-measure's result for people. PT stands first: it is what the protocol calls execution time. */
#include "measure/measure.h"

#include "lib/base/terminal.h"
#include "lib/base/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* As the papers write it: "8.5e-5". */
static char *relative_error(char buffer[16], double value)
{
	char *e;

	snprintf(buffer, 16, "%.1e", value);
	e = strchr(buffer, 'e');
	if (e && e[2] == '0')
		memmove(e + 2, e + 3, strlen(e + 3) + 1);
	return buffer;
}

static void show_summary(const char *label, const struct summary *s)
{
	char mean[TEXT_TIME_SIZE], sd[TEXT_TIME_SIZE], min[TEXT_TIME_SIZE], max[TEXT_TIME_SIZE], error[16];

	if (s->n == 0) {
		printf("  %-18s no sample is left\n", label);
		return;
	}
	printf("  %-18s %s%s%s", label, terminal_mark(stdout, MARK_STRONG),
		text_duration(mean, llround(s->mean_ns)), terminal_mark(stdout, MARK_END));
	if (s->n > 1)
		printf(", sd %s, relative error %s", text_duration(sd, llround(s->sd_ns)),
			relative_error(error, s->relative_error));
	printf("; %s to %s in %zu sample%s\n", text_duration(min, s->min_ns), text_duration(max, s->max_ns),
		s->n, s->n == 1 ? "" : "s");
}

static void show_interval(const struct summary *s)
{
	char low[TEXT_TIME_SIZE], high[TEXT_TIME_SIZE];
	double half;

	if (s->n < 2)
		return;
	half = summary_interval(s, 0.95);
	printf("  %-18s %s to %s (95 %% confidence)\n", "its mean lies in",
		text_duration(low, llround(s->mean_ns - half)),
		text_duration(high, llround(s->mean_ns + half)));
}

static void show_user_system(const struct measured *m)
{
	char user[TEXT_TIME_SIZE], system[TEXT_TIME_SIZE];
	int64_t user_ns = 0, system_ns = 0;

	for (size_t i = 0; i < m->n_samples; i++) {
		user_ns += m->samples[i].user_ns;
		system_ns += m->samples[i].system_ns;
	}
	printf("  %-18s %s user, %s system (means of all samples)\n", "of it",
		text_duration(user, user_ns / (int64_t)m->n_samples),
		text_duration(system, system_ns / (int64_t)m->n_samples));
}

static void show_discards(const struct measured *m, const struct measure_options *o)
{
	const struct discarding *d = &m->result;
	size_t gone = d->pt.raw.n - d->pt.clean.n;

	if (!o->profile)
		printf("No profile: nothing could be discarded for a named cause (--profile NAME, made by "
		       "'emp-calibrate run').\n");
	if (gone == 0) {
		printf("Discarded: none of %zu samples\n", d->pt.raw.n);
		return;
	}
	printf("Discarded: %zu of %zu samples\n", gone, d->pt.raw.n);
	for (size_t i = 0; i < d->n_over; i++) {
		const struct over_cutoff *over = &d->over[i];
		char pt[TEXT_TIME_SIZE], cutoff[TEXT_TIME_SIZE];

		printf("  sample %u: %s%s%s%s took %s, its cutoff is %s\n", over->sample, over->daemon,
			over->unit ? " (" : "", over->unit ?: "", over->unit ? ")" : "",
			text_duration(pt, over->pt_ns), text_duration(cutoff, over->cutoff_ns));
	}
	for (size_t i = 0; i < d->n_incomplete; i++)
		printf("  sample %u: incomplete, records of processes that ended were lost\n",
			d->incomplete[i]);
	for (size_t i = 0; i < d->pt.n_by_two_sd; i++) {
		char pt[TEXT_TIME_SIZE];

		printf("  sample %u: its PT, %s, is more than 2 sd from the mean of the others\n",
			d->pt.by_two_sd[i], text_duration(pt, m->samples[d->pt.by_two_sd[i] - 1].pt_ns));
	}
	show_summary("PT without this", &d->pt.raw);
}

static void show_observer(const struct measured *m)
{
	const char *backend = m->result.run.backend;
	char cost[TEXT_TIME_SIZE];

	printf("Observer: %s, %s of CPU time a sample", backend, text_duration(cost, m->observer_ns));
	if (m->backend_why)
		printf(" (%s)", m->backend_why);
	printf("\n");
	if (!strcmp(backend, "none"))
		printf("  Other processes were not seen: nothing could be discarded for a named cause.\n");
	if (m->cgroup_why)
		printf("  PT is partial: it is that of the processes that were waited for (%s).\n",
			m->cgroup_why);
	if (m->lost > 0)
		printf("  %lld records of processes that ended were lost.\n", (long long)m->lost);
}

static void show_warnings(const struct measured *m, const struct measure_options *o)
{
	if (m->failures > 0)
		printf("Warning: the program failed in %d of %zu samples.\n", m->failures, m->n_samples);
	if (m->left_behind > 0)
		printf("Note: the program left %d process%s behind, over all samples; %d had to be ended "
		       "after --linger.\n",
			m->left_behind, m->left_behind == 1 ? "" : "es", m->killed);
	if (m->profile_digest && strcmp(m->profile_digest, m->environment_digest))
		printf("Warning: profile '%s' was made in another environment (%.16s; now %.16s): its "
		       "cutoffs may not hold.\n",
			o->profile, m->profile_digest, m->environment_digest);
}

void show_measured(const struct measured *m, const struct measure_options *o)
{
	const struct discarding *d = &m->result;

	printf("%s\n", m->command);
	show_summary("process time (PT)", &d->pt.clean);
	show_interval(&d->pt.clean);
	show_user_system(m);
	show_summary("elapsed time (ET)", &d->et.clean);
	show_discards(m, o);
	show_observer(m);
	show_warnings(m, o);
	printf("Run %lld in the book: emp-analyze show %lld\n", (long long)d->run.id, (long long)d->run.id);
}
