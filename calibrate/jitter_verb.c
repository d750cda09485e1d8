/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp-calibrate jitter: measures what takes CPUs from a program that wants all of them, and names it. */
#include "calibrate/calibrate.h"

#include "lib/base/terminal.h"
#include "lib/host/cpu/cpus.h"
#include "lib/host/process/pinning.h"
#include "lib/host/process/signals.h"
#include "lib/jitter/jitter_run.h"
#include "lib/jitter/watch.h"

#include <poll.h>
#include <sched.h>

enum {
	DRAIN_MS = 100,
	ROUND_NS = 1000000000,
	STORE_ROUNDS = 30,
	LEAST_BUFFER = 64 << 10,
};

static int64_t observe_ns = 60 * NS_PER_S;
static int *observed_cpus;
static struct watch_request request = {.buffer_bytes = 16 << 20};

static int parse_cpus(const char *value, const char *name, void *into, struct error *err)
{
	int r = text_parse_cpu_list(value, &observed_cpus, &request.n_cpus);

	if (r < 0 || request.n_cpus == 0)
		return error_say(
			err, -EINVAL, "%s: '%s' is not a list of CPUs such as 1, 0-3 or 2,5", name, value);
	for (size_t i = 0; r == 0 && i < request.n_cpus; i++)
		r = pinning_check(observed_cpus[i], AT_FDCWD, err);
	return r;
}

static int parse_buffer(const char *value, const char *name, void *into, struct error *err)
{
	int64_t *bytes = into;
	int r = text_parse_size(value, name, bytes, err);

	if (r == 0 && *bytes < LEAST_BUFFER)
		return error_say(err, -EINVAL, "%s must be 64K or more, not '%s'", name, value);
	return r;
}

const struct option_row jitter_options[] = {
	{0, "cpu", "LIST", "observe these CPUs, such as 1 or 2-5 (default: all but the first)", parse_cpus,
		NULL},
	{0, "for", "TIME", "how long to observe, such as 10min (default 1min)", option_duration, &observe_ns},
	{0, "threshold", "TIME", "record gaps longer than this (default: 10 times the smallest)",
		option_duration, &request.threshold_ns},
	{0, "buffer", "SIZE", "memory for the trace of each CPU (default 16M)", parse_buffer,
		&request.buffer_bytes},
	{0, "keep-trace", "FILE", "write the trace, for trace-cmd and KernelShark", NULL, &request.keep},
	{0, "mono-raw", NULL, NULL, NULL, &request.mono_raw, .hidden = true}, /* the clock that arm64 needs */
	{},
};

struct jitter_session {
	struct run_session base;
	struct watch watch;
	struct run run;
};

static void jitter_session_close(struct jitter_session *s)
{
	watch_close(&s->watch);
	run_clear(&s->run);
	run_session_close(&s->base);
}

static int open_jitter_session(struct jitter_session *s, struct error *err)
{
	_cleanup_(freep) char *list = cpu_list_text(observed_cpus, request.n_cpus);
	int r;

	if (geteuid() != 0)
		return error_say(err, -EPERM,
			"emp-calibrate jitter reads the kernel's trace, which only root can do: use sudo");
	r = run_session_open(&s->base, calibrate_options.db, BOOK_MEASURE, RUN_LOCK_TAKEN, err);
	if (r == 0)
		r = watch_open(&s->watch, &request, err);
	if (r == 0)
		r = run_session_environment(&s->base, err);
	if (r < 0)
		return r;
	s->run = (struct run){
		.kind = RUN_JITTER,
		.program = xstrdup("jitter"),
		.backend = xstrdup("tracefs"),
		.notes = text_format("CPUs %s", list),
		.resolution_ns = 1,
		.started_ns = s->watch.scale.base_realtime_ns,
		.environment = s->base.environment,
		.cpu = request.n_cpus == 1 ? observed_cpus[0] : -1,
	};
	r = book_begin_run(s->base.book, &s->run, err);
	return r == 0 ? watch_start(&s->watch, err) : r;
}

static int do_rounds(struct jitter_session *s, struct error *err)
{
	_cleanup_(freep) char *list = cpu_list_text(observed_cpus, request.n_cpus);
	struct pollfd interrupt = {.fd = interrupt_fd(), .events = POLLIN};
	struct watch *w = &s->watch;
	struct progress progress;
	int64_t now_ns, in_ns;
	int r = 0;

	calibrate_print("Observing CPU %s for %s, until %s; ^C ends it and keeps what was measured\n", list,
		text_duration(observe_ns), text_moment(saturate_add(clock_ns(CLOCK_REALTIME), observe_ns)));
	progress_begin(&progress, "Seconds", (uint64_t)((observe_ns + NS_PER_S - 1) / NS_PER_S),
		calibrate_options.quiet || calibrate_options.json);
	while (r == 0) {
		now_ns = counter_ns(&w->scale, counter_now());
		in_ns = now_ns - w->started_ns;
		if (in_ns >= observe_ns || (poll(&interrupt, 1, DRAIN_MS) > 0 && interrupt_pending()))
			break;
		if (in_ns < (w->rounds + 1) * ROUND_NS) {
			r = watch_drain(w, err);
		} else {
			r = watch_end_round(w, now_ns, err);
			if (r == 0 && w->rounds % STORE_ROUNDS == 0)
				r = watch_store(w, s->base.book, s->run.id, err);
		}
		if (progress_is_due(&progress, (uint64_t)(in_ns / NS_PER_S)))
			progress_step(&progress, (uint64_t)(in_ns / NS_PER_S), NULL);
	}
	progress_end(&progress);
	return r;
}

/* The state is stored although the rounds failed, with all that were finished. */
static int finish_run(struct jitter_session *s, int r, struct error *err)
{
	struct error err2 = {};
	enum run_state state = r < 0 ? RUN_FAILED : interrupt_pending() ? RUN_INTERRUPTED : RUN_DONE;
	int end = r < 0 ? 0 : watch_stop(&s->watch, &err2);

	end = watch_store(&s->watch, s->base.book, s->run.id, &err2) ?: end;
	end = book_end_run(s->base.book, s->run.id, state, NULL, &err2) ?: end;
	if (end == 0 && state != RUN_FAILED)
		end = trace_keep(s->watch.trace, &err2);
	s->run.state = state;
	if (r == 0 && end < 0)
		*err = err2;
	return r < 0 ? r : end;
}

/* All CPUs that this process may use but the first, which is left for the merging. */
static int choose_watched_cpus(struct error *err)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set) < 0)
		return error_os(err, -errno, "cannot read which CPUs exist; name some with --cpu");
	observed_cpus = xcalloc(CPU_SETSIZE, sizeof(*observed_cpus));
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &set))
			observed_cpus[request.n_cpus++] = cpu;
	if (request.n_cpus > 1)
		memmove(observed_cpus, observed_cpus + 1, --request.n_cpus * sizeof(*observed_cpus));
	return 0;
}

static int show_jitter(struct book *book, int64_t id, struct error *err)
{
	_cleanup_(jitter_run_clear) struct jitter_run run = {};
	int r = jitter_run_load(book, id, &run, err);

	if (r < 0)
		return r;
	if (calibrate_options.json)
		return json_print_document("emp-jitter", jitter_as_json(&run), err);
	jitter_print_summary(&run, request.keep, calibrate_options.verbose);
	return 0;
}

int verb_jitter(int argc, char **argv, struct error *err)
{
	_cleanup_(jitter_session_close) struct jitter_session session = {.base = RUN_SESSION_NEW};
	struct book *book;
	int r = observed_cpus ? 0 : choose_watched_cpus(err);

	if (r < 0)
		return r;
	request.cpus = observed_cpus;
	interrupt_block_others();
	r = open_jitter_session(&session, err);
	book = session.base.book;
	if (r == 0)
		r = finish_run(&session, do_rounds(&session, err), err);
	if (r == 0)
		r = show_jitter(book, session.run.id, err);
	free(observed_cpus);
	if (r == 0)
		r = book_checkpoint(book, err);
	r = r == 0 && session.run.state == RUN_INTERRUPTED ? STATUS_INTERRUPTED : r;
	return book ? book_say_elsewhere(book, session.run.id, session.run.id, r, err) : r;
}
