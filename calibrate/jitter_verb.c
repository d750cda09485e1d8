/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp-calibrate jitter: measures what takes CPUs from a program that wants all of them, and names
 * it. */
#include "calibrate/options.h"

#include "lib/host/process/signals.h"
#include "lib/jitter/jitter_show.h"
#include "lib/jitter/watch.h"

enum { LEAST_BUFFER = 64 << 10 };

static struct calibrate_cpus observed;
static struct watch_request request = {.observe_ns = 60 * NS_PER_S, .buffer_bytes = 16 << 20};

static int parse_buffer(const char *value, const char *name, void *into, struct error *err)
{
	int64_t *bytes = into;
	int r = text_parse_size(value, name, bytes, err);

	if (r == 0 && *bytes < LEAST_BUFFER)
		return error_say(err, -EINVAL, "%s must be 64K or more, not '%s'", name, value);
	return r;
}

static const struct option_row jitter_options[] = {
	{0, "cpu", "LIST", "observe these CPUs, such as 1 or 2-5 (default: all but the first)",
		calibrate_cpus_option, &observed},
	{0, "for", "TIME", "how long to observe, such as 10min (default 1min)", option_duration,
		&request.observe_ns},
	{0, "threshold", "TIME", "record gaps longer than this (default: 10 times the smallest)",
		option_duration, &request.threshold_ns},
	{0, "buffer", "SIZE", "memory for the trace of each CPU (default 16M)", parse_buffer,
		&request.buffer_bytes},
	{0, "keep-trace", "FILE", "write the trace, for trace-cmd and KernelShark", NULL,
		&request.keep},
	/* the clock that arm64 needs */
	{0, "mono-raw", NULL, NULL, NULL, &request.mono_raw, .hidden = true},
	{},
};

static int calibrate_jitter_verb(int argc, char **argv, struct error *err)
{
	_cleanup_(run_session_close) struct run_session session = RUN_SESSION_NEW;
	_cleanup_(run_clear) struct run run = {};
	const struct jitter_view view = {.summary = true,
		.json = calibrate_options.json,
		.all = calibrate_options.verbose,
		.kept = request.keep};
	int r;

	if (geteuid() != 0)
		return error_say(err, -EPERM,
			"emp-calibrate jitter reads the kernel's trace, which only root can do: "
			"use sudo");
	if (!observed.items) {
		r = calibrate_cpus_default(&observed, err);
		if (r < 0)
			return r;
		/* not the first one: the traces are merged on it */
		if (observed.n > 1)
			memmove(observed.items, observed.items + 1,
				--observed.n * sizeof(*observed.items));
	}

	request.db = calibrate_options.db;
	request.cpus = observed.items;
	request.n_cpus = observed.n;
	request.screen = calibrate_options.json ? stderr : stdout;
	request.quiet = calibrate_options.quiet || calibrate_options.json;

	interrupt_block_others();
	r = watch_run(&request, &session, &run, err);
	free(observed.items);
	if (r == 0)
		r = jitter_show(session.book, run.id, &view, err);
	if (r == 0)
		r = book_checkpoint(session.book, err);
	r = r == 0 && run.state == RUN_INTERRUPTED ? STATUS_INTERRUPTED : r;
	return session.book ? book_say_elsewhere(session.book, run.id, run.id, r, err) : r;
}

const struct verb calibrate_jitter = {
	.name = "jitter",
	.summary = "measure every interruption of a CPU, and name its source",
	.options = jitter_options,
	.run = calibrate_jitter_verb,
};
