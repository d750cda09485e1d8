/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp-calibrate jitter: measures what takes CPUs from a program that wants all of them, and names it. */
#include "calibrate/calibrate.h"

#include "lib/base/number.h"
#include "lib/base/terminal.h"
#include "lib/base/text.h"
#include "lib/base/xalloc.h"
#include "lib/host/cpu/cpus.h"
#include "lib/host/process/pinning.h"
#include "lib/host/process/signals.h"
#include "lib/host/system/lock.h"
#include "lib/jitter/jitter_run.h"
#include "lib/jitter/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <string.h>

enum {
	DRAIN_MS = 100,
	ROUND_NS = 1000000000,
	STORE_ROUNDS = 30,
	LEAST_BUFFER = 64 << 10,
};

static struct {
	int *cpus;
	size_t n_cpus;
	int64_t for_ns, threshold_ns, buffer_bytes;
	const char *keep;
	bool mono_raw;
} options = {.for_ns = 60 * NS_PER_S, .buffer_bytes = 16 << 20};

static int parse_cpus(const char *value, const char *name, void *into, struct error *err)
{
	int r = text_parse_cpu_list(value, &options.cpus, &options.n_cpus);

	if (r < 0 || options.n_cpus == 0)
		return error_say(
			err, -EINVAL, "%s: '%s' is not a list of CPUs such as 1, 0-3 or 2,5", name, value);
	r = 0;
	for (size_t i = 0; r == 0 && i < options.n_cpus; i++)
		r = pinning_check(options.cpus[i], AT_FDCWD, err);
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
	{0, "for", "TIME", "how long to observe, such as 10min (default 1min)", option_duration,
		&options.for_ns},
	{0, "threshold", "TIME", "record gaps longer than this (default: 10 times the smallest)",
		option_duration, &options.threshold_ns},
	{0, "buffer", "SIZE", "memory for the trace of each CPU (default 16M)", parse_buffer,
		&options.buffer_bytes},
	{0, "keep-trace", "FILE", "write the trace, for trace-cmd and KernelShark", NULL, &options.keep},
	{0, "mono-raw", NULL, NULL, NULL, &options.mono_raw, .hidden = true}, /* the clock that arm64 needs */
	{},
};

struct session {
	struct book *book;
	struct lock lock;
	struct watch watch;
	struct run run;
};

static void session_close(struct session *s)
{
	watch_close(&s->watch);
	run_clear(&s->run);
	book_free(s->book);
	lock_release(&s->lock);
}

static int open_session(struct session *s, struct error *err)
{
	const struct watch_request request = {
		.cpus = options.cpus,
		.n_cpus = options.n_cpus,
		.threshold_ns = options.threshold_ns,
		.buffer_bytes = options.buffer_bytes,
		.keep = options.keep,
		.mono_raw = options.mono_raw,
	};
	int r;

	if (geteuid() != 0)
		return error_say(err, -EPERM,
			"emp-calibrate jitter reads the kernel's trace, which only root can do: use sudo");
	r = book_open(&s->book, calibrate_options.db, BOOK_MEASURE, err);
	if (r == 0)
		r = lock_take(&s->lock, book_file(s->book), err);
	if (r < 0)
		return r;
	patience_begin(s->book);
	r = watch_open(&s->watch, &request, err);
	if (r == 0) {
		_cleanup_(freep) char *digest = NULL, *list = cpu_list_text(options.cpus, options.n_cpus);

		s->run = (struct run){
			.kind = RUN_JITTER,
			.program = xstrdup("jitter"),
			.backend = xstrdup("tracefs"),
			.notes = text_format("CPUs %s", list),
			.resolution_ns = 1,
			.started_ns = s->watch.scale.base_realtime_ns,
			.cpu = options.n_cpus == 1 ? options.cpus[0] : -1,
		};
		r = environment_take(s->book, &s->run.environment, &digest, err);
		r = r < 0 ? r : book_begin_run(s->book, &s->run, err);
	}
	return r == 0 ? watch_start(&s->watch, err) : r;
}

static int do_rounds(struct session *s, struct error *err)
{
	_cleanup_(freep) char *list = cpu_list_text(options.cpus, options.n_cpus);
	struct pollfd interrupt = {.fd = interrupt_fd(), .events = POLLIN};
	struct watch *w = &s->watch;
	struct progress progress;
	int64_t in_ns;
	int r = 0;

	screen_print("Observing CPU %s for %s, until %s; ^C ends it and keeps what was measured\n", list,
		text_duration(options.for_ns),
		text_moment(saturate_add(clock_ns(CLOCK_REALTIME), options.for_ns)));
	progress_begin(&progress, "Seconds", (uint64_t)((options.for_ns + NS_PER_S - 1) / NS_PER_S),
		calibrate_options.quiet || calibrate_options.json);
	while (r == 0) {
		in_ns = counter_ns(&w->scale, counter_now()) - w->started_ns;
		if (in_ns >= options.for_ns || (poll(&interrupt, 1, DRAIN_MS) > 0 && interrupt_pending()))
			break;
		if (in_ns < (w->rounds + 1) * ROUND_NS) {
			r = watch_drain(w, err);
		} else {
			r = watch_end_round(w, err);
			if (r == 0 && w->rounds % STORE_ROUNDS == 0)
				r = watch_store(w, s->book, s->run.id, err);
		}
		if (progress_is_due(&progress, (uint64_t)(in_ns / NS_PER_S)))
			progress_step(&progress, (uint64_t)(in_ns / NS_PER_S), NULL);
	}
	progress_end(&progress);
	return r;
}

/* The state is stored although the rounds failed, with all that were finished. */
static int finish_run(struct session *s, int r, struct error *err)
{
	struct error err2 = {};
	enum run_state state = r < 0 ? RUN_FAILED : interrupt_pending() ? RUN_INTERRUPTED : RUN_DONE;
	int end = r < 0 ? 0 : watch_stop(&s->watch, &err2);

	end = watch_store(&s->watch, s->book, s->run.id, &err2) ?: end;
	end = book_end_run(s->book, s->run.id, state, NULL, &err2) ?: end;
	if (end == 0 && state != RUN_FAILED)
		end = trace_keep(s->watch.trace, &err2);
	s->run.state = state;
	if (r == 0 && end < 0)
		*err = err2;
	return r < 0 ? r : end;
}

int verb_jitter(int argc, char **argv, struct error *err)
{
	_cleanup_(session_close) struct session session = {.lock = {-1}};
	cpu_set_t set;
	int r, first = -1;

	/* All that this process may use but the first, which is left for the merging. */
	if (!options.cpus) {
		if (sched_getaffinity(0, sizeof(set), &set) < 0)
			return error_os(err, -errno, "cannot read which CPUs exist; name some with --cpu");
		options.cpus = xcalloc(CPU_SETSIZE, sizeof(*options.cpus));
		for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
			if (!CPU_ISSET(cpu, &set))
				continue;
			if (first >= 0)
				options.cpus[options.n_cpus++] = cpu;
			first = first < 0 ? cpu : first;
		}
		if (options.n_cpus == 0)
			options.cpus[options.n_cpus++] = first;
	}

	interrupt_block_others();
	r = open_session(&session, err);
	if (r == 0)
		r = finish_run(&session, do_rounds(&session, err), err);
	if (r == 0) {
		_cleanup_(jitter_run_clear) struct jitter_run run = {};

		r = jitter_run_load(session.book, session.run.id, &run, err);
		if (r >= 0) {
			if (calibrate_options.json) {
				r = json_print_document("emp-jitter", jitter_as_json(&run), err);
			} else {
				jitter_print_summary(&run, options.keep, calibrate_options.verbose);
				r = 0;
			}
		}
	}
	free(options.cpus);
	if (r == 0)
		r = book_checkpoint(session.book, err);
	r = r == 0 && session.run.state == RUN_INTERRUPTED ? STATUS_INTERRUPTED : r;
	return session.book ? book_say_elsewhere(session.book, session.run.id, session.run.id, r, err) : r;
}
