/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a jitter run says of one CPU: see jitter_cpu_screen.h. */
#include "lib/jitter/jitter_cpu_screen.h"

#include "lib/base/saturate.h"
#include "lib/base/text.h"

#include <inttypes.h>

static double ratio(int64_t part, int64_t whole)
{
	return whole > 0 ? (double)part / (double)whole : 0;
}

static void print_gaps(
	const char *what, int64_t n, int64_t ns, const struct jitter_cpu *cpu, const char *note)
{
	char time[TEXT_TIME_SIZE], share[TEXT_TIME_SIZE];

	printf("  %-20s %9" PRId64 " %10s %8s%s\n", what, n, text_duration(time, ns),
		text_percent(share, ratio(ns, cpu->gaps_ns)), note);
}

static void print_residue(const char *what, int64_t n, int64_t ns, const struct jitter_cpu *cpu)
{
	char share[TEXT_TIME_SIZE], note[80];

	snprintf(note, sizeof(note), "  %s of the time", text_percent(share, ratio(ns, cpu->sampled_ns)));
	print_gaps(what, n, ns, cpu, note);
}

/* Those that have a time. */
static void print_periods(const struct jitter_run *run, const struct jitter_cpu *cpu)
{
	char period[TEXT_TIME_SIZE], note[80];
	size_t n = 0;

	for (size_t i = 0; i < run->jitter.n_periods; i++) {
		const struct jitter_period *p = &run->jitter.periods[i];

		if (p->cpu != cpu->cpu)
			continue;
		snprintf(note, sizeof(note), "  every %s%s", text_duration(period, p->period_ns),
			p->outside_kernel         ? " (outside)"
			: cpu->outside_kernel < 0 ? " (the host?)"
						  : "");
		print_gaps("without, periodic", p->count, p->total_ns, cpu, note);
		n++;
	}
	if (n == 0)
		print_gaps("without, periodic", 0, 0, cpu, "");
}

/* What counters say of the time outside the kernel. */
static void print_outside(const struct jitter_run *run, const struct jitter_cpu *cpu)
{
	char steal[TEXT_TIME_SIZE];

	if (cpu->outside_kernel >= 0)
		printf("  Outside the kernel: %s\n", jitter_run_outside(run));
	else
		printf("  This processor does not show whether the kernel ran in a gap\n");
	if (cpu->steal_ns > 0)
		printf("  The host reports %s of steal time\n", text_duration(steal, cpu->steal_ns));
	if (cpu->smis > 0)
		printf("  The firmware interrupted this CPU %" PRId64 " times (SMIs)\n", cpu->smis);
}

/* Sentences about what may be wrong with the run. */
static void print_warnings(const struct jitter_cpu *cpu)
{
	char text[TEXT_TIME_SIZE];

	if (cpu->lost > 0)
		printf("  Warning: %" PRId64 " of %" PRId64 " events were lost: sources may lack\n"
		       "  interruptions; use a larger --buffer\n",
			cpu->lost, saturate_add(cpu->lost, cpu->events));
	if (cpu->broken > 0)
		printf("  In %" PRId64 " places the trace lacks switches of tasks; the time there is listed\n"
		       "  as an unknown task\n",
			cpu->broken);
	if (cpu->in_no_gap > 0)
		printf("  %" PRId64 " intervals of the trace are in no gap\n", cpu->in_no_gap);
	if (ratio(cpu->sampled_ns, cpu->wall_ns) < 0.99)
		printf("  Warning: only %s of the time was sampled\n",
			text_percent(text, ratio(cpu->sampled_ns, cpu->wall_ns)));
}

void jitter_cpu_print(const struct jitter_run *run, size_t i)
{
	const struct jitter_cpu *cpu = &run->jitter.cpus[i];
	char time[TEXT_TIME_SIZE], threshold[TEXT_TIME_SIZE], text[TEXT_TIME_SIZE];

	printf("\nCPU %d: %.1f %% of %s sampled, gaps over %s\n", cpu->cpu,
		100 * ratio(cpu->sampled_ns, cpu->wall_ns), text_duration(time, cpu->wall_ns),
		text_duration(threshold, cpu->threshold_ns));
	printf("  %-20s %9s %10s %8s\n", "", "GAPS", "TIME", "SHARE");
	print_gaps("all", cpu->gaps, cpu->gaps_ns, cpu, "");
	print_gaps("explained by events", cpu->explained, cpu->explained_ns, cpu, "");
	print_gaps("  of these by chance", cpu->chance, cpu->chance_ns, cpu, "  (a shifted trace)");
	print_periods(run, cpu);
	if (cpu->outside_kernel >= 0)
		print_residue("outside the kernel", cpu->outside_kernel, cpu->outside_kernel_ns, cpu);
	print_residue("unexplained", cpu->unexplained, cpu->unexplained_ns, cpu);
	print_outside(run, cpu);
	print_warnings(cpu);
	if (cpu->event_cost_ns > 0)
		printf("  Recording took %s an event, %s of the sampled time\n",
			text_duration(time, cpu->event_cost_ns),
			text_percent(text, ratio(saturate_multiply((uint64_t)cpu->event_cost_ns, cpu->events),
						   cpu->sampled_ns)));
}
