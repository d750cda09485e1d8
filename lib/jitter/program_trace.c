/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's trace during samples: see program_trace.h. */
#include "lib/jitter/program_trace.h"

#include "lib/base/xalloc.h"
#include "lib/host/trace/trace.h"
#include "lib/jitter/event_cost.h"
#include "lib/jitter/taking.h"

#include <stdlib.h>

enum { BUFFER_BYTES = 32 << 20, PROBE_BYTES = 1 << 20 };

struct program_trace {
	int cpu;
	struct trace *trace;
	struct identity *identity;
	struct jitter_sources sources;
	int64_t event_cost_ns, lost;
};

void program_trace_free(struct program_trace *t)
{
	if (!t)
		return;
	trace_free(t->trace);
	identity_free(t->identity);
	jitter_sources_clear(&t->sources);
	free(t);
}

/* By a trace that has page faults, which that of a program does not: they are its own. */
static int measure_cost(struct program_trace *t, struct error *err)
{
	const struct trace_request request = {
		.cpus = &t->cpu, .n_cpus = 1, .clock = "mono_raw", .buffer_bytes = PROBE_BYTES};
	_cleanup_(trace_freep) struct trace *probe = NULL;
	int64_t untraced_ns = event_cost_fault_ns(t->cpu);
	int r = trace_open(&probe, &request, err);

	if (r == 0)
		r = trace_start(probe, err);
	if (r == 0)
		t->event_cost_ns = event_cost_ns(untraced_ns, event_cost_fault_ns(t->cpu));
	return r;
}

int program_trace_open(struct program_trace **ret, int cpu, struct error *err)
{
	_cleanup_(program_trace_freep) struct program_trace *t = xcalloc(1, sizeof(*t));
	struct trace_request request = {
		.n_cpus = 1, .clock = "mono_raw", .buffer_bytes = BUFFER_BYTES, .of_program = true};
	int r;

	t->cpu = cpu;
	request.cpus = &t->cpu;
	r = measure_cost(t, err);
	if (r == 0)
		r = identity_new(&t->identity, err);
	if (r == 0)
		r = trace_open(&t->trace, &request, err);
	if (r == 0)
		r = trace_start(t->trace, err);
	if (r < 0)
		return r;
	t->sources.identity = t->identity;
	t->sources.symbol = trace_symbol;
	t->sources.trace = t->trace;
	*ret = TAKE(t);
	return 0;
}

static void forget(const struct trace_event *event, void *data)
{
}

int program_trace_forget(struct program_trace *t, struct error *err)
{
	int r = trace_read(t->trace, 0, forget, NULL, err);

	t->lost = trace_lost(t->trace, 0);
	return r;
}

static void take(const struct trace_event *event, void *data)
{
	taking_add(data, event, (int64_t)event->at);
}

int program_trace_take(struct program_trace *t, pid_t program, struct taken_sample *ret, struct error *err)
{
	_cleanup_(taking_clear) struct taking taking;
	int r;

	taking_begin(&taking, program, &t->sources);
	r = trace_read(t->trace, 0, take, &taking, err);
	if (r < 0)
		return r;
	if (taking_end(&taking, ret) < 0)
		return error_oom(err);
	ret->lost = trace_lost(t->trace, 0) - t->lost;
	t->lost += ret->lost;
	return 0;
}

const struct jitter_source_name *program_trace_source(const struct program_trace *t, uint32_t source)
{
	return &t->sources.items[source];
}

int program_trace_cpu(const struct program_trace *t)
{
	return t->cpu;
}

int64_t program_trace_event_cost_ns(const struct program_trace *t)
{
	return t->event_cost_ns;
}
