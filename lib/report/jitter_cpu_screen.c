/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a jitter run says of one CPU: see jitter_cpu_screen.h. */
#include "lib/report/jitter_cpu_screen.h"

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

/* What is shorter than any interrupt, and has no event, is none. */
static void print_bound(const struct jitter_cpu *cpu)
{
	char shortest[TEXT_TIME_SIZE], steal[TEXT_TIME_SIZE];

	if (cpu->shortest_ns > 0)
		printf("  Interruptions by this kernel take %s and more. Shorter gaps come\n"
		       "  from the processor, or from a host\n",
			text_duration(shortest, cpu->shortest_ns));
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
	if (cpu->outside > 0)
		printf("  %" PRId64 " intervals of the trace are in no gap\n", cpu->outside);
	if (ratio(cpu->sampled_ns, cpu->wall_ns) < 0.99)
		printf("  Warning: only %s of the time was sampled\n",
			text_percent(text, ratio(cpu->sampled_ns, cpu->wall_ns)));
}

void jitter_cpu_print(const struct jitter_cpu *cpu)
{
	char time[TEXT_TIME_SIZE], threshold[TEXT_TIME_SIZE], text[TEXT_TIME_SIZE], note[80] = "";

	printf("\nCPU %d: %.1f %% of %s sampled, gaps over %s\n", cpu->cpu,
		100 * ratio(cpu->sampled_ns, cpu->wall_ns), text_duration(time, cpu->wall_ns),
		text_duration(threshold, cpu->threshold_ns));
	printf("  %-20s %9s %10s %8s\n", "", "GAPS", "TIME", "SHARE");
	print_gaps("all", cpu->gaps, cpu->gaps_ns, cpu, "");
	print_gaps("explained by events", cpu->explained, cpu->explained_ns, cpu, "");
	print_gaps("  of these by chance", cpu->chance, cpu->chance_ns, cpu, "  (a shifted trace)");
	if (cpu->period_ns > 0)
		snprintf(note, sizeof(note), "  every %s (the host?)", text_duration(time, cpu->period_ns));
	print_gaps("without, periodic", cpu->periodic, cpu->periodic_ns, cpu, note);
	print_residue("without, too short", cpu->too_short, cpu->too_short_ns, cpu);
	print_residue("unexplained", cpu->unexplained, cpu->unexplained_ns, cpu);
	print_bound(cpu);
	print_warnings(cpu);
	if (cpu->event_cost_ns > 0)
		printf("  Recording took %s an event, %s of the sampled time\n",
			text_duration(time, cpu->event_cost_ns),
			text_percent(text, ratio(saturate_multiply((uint64_t)cpu->event_cost_ns, cpu->events),
						   cpu->sampled_ns)));
}
