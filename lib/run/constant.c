/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The constant of INC: see constant.h. */
#include "lib/run/constant.h"

#include "lib/base/paths.h"
#include "lib/host/process/process.h"
#include "lib/host/process/signals.h"

#include <math.h>

enum { TRIALS = 9 };

/* PT of one run of `iterations`. */
static int run_inc(
	const struct constant_request *q, uint64_t iterations, int64_t *ret_pt_ns, struct error *err)
{
	char number[32];
	char *argv[] = {(char *)"inc", (char *)"--iterations", number, NULL};
	struct command_spec spec = {
		.argv = argv,
		.path = q->inc_path,
		.cpu = q->cpu,
		.stdin_fd = -1,
		.stdout_fd = -1,
		.stderr_fd = -1,
		.cgroup = q->session->observer.cgroup,
	};
	struct exec_result exec;
	int r;

	snprintf(number, sizeof(number), "%" PRIu64, iterations);
	r = program_run(&spec, &exec, err);
	if (r < 0)
		return r;
	if (exec.end == SPAWN_INTERRUPTED ||
		(exec.wait_status != 0 && interrupt_pending())) /* ^C is INC's too */
		return -EINTR;
	if (exec.wait_status != 0)
		return error_say(err, -ECANCELED, "'%s --iterations %s' %s", q->inc_path, number,
			process_end_text(exec.wait_status));
	*ret_pt_ns = exec.pt_ns > 0 ? exec.pt_ns : 1;
	return 0;
}

/* Doubles the iterations until a run takes a tenth of a second, then takes the best rate of TRIALS runs of a quarter
 * second: that of the undisturbed machine, because any disturbance makes it slower. The PT of one iteration is
 * subtracted from each, so that starting the program does not count. */
static int measure_constant(const struct constant_request *q, double *ret, struct error *err)
{
	uint64_t iterations = 1000000;
	int64_t pt_ns, start_ns;
	double best = 0;
	int r;

	do {
		iterations *= 2;
		r = run_inc(q, iterations, &pt_ns, err);
	} while (r == 0 && pt_ns < 100 * NS_PER_MS);
	if (r < 0)
		return r;
	iterations = (uint64_t)((double)iterations * 0.25e9 / (double)pt_ns);
	for (int i = 0; i < TRIALS; i++) {
		r = run_inc(q, 1, &start_ns, err);
		if (r == 0)
			r = run_inc(q, iterations, &pt_ns, err);
		if (r < 0)
			return r;
		best = fmax(best, (double)iterations * 1e9 / (double)(pt_ns - start_ns));
	}
	*ret = round(best);
	return 0;
}

int constant_get(const struct constant_request *q, struct constant *ret, struct error *err)
{
	struct book *book = q->session->book;
	_cleanup_(freep) char *digest = NULL, *path = NULL, *text = NULL, *there = NULL;
	_cleanup_(output_file_clear) struct output_file output = {};
	struct constant constant = {};
	int r = book_get_environment(book, q->environment, &digest, NULL, NULL, err);

	if (r == 0)
		r = book_get_inc(book, q->environment, &constant.per_second, err);
	constant.found_now = r == 0;
	if (r == 0)
		r = measure_constant(q, &constant.per_second, err);
	if (r == 0)
		r = book_put_inc(book, q->environment, constant.per_second, err);
	if (r < 0)
		return r;
	/* For inc itself. A file with the right content is not rewritten, so that a full disk does no harm. */
	path = paths_inc_constant(book_file(book));
	text = text_format("iterations_per_second %.17g\nenvironment %s", constant.per_second, digest);
	if (text_read_file(AT_FDCWD, path, &there) < 0 || strcmp(there, text) != 0) {
		r = output_file_open(&output, path, err);
		if (r == 0)
			fprintf(output.file, "%s\n", text);
		if (r == 0)
			r = output_file_commit(&output, err);
		if (r < 0)
			return error_prefix(err, r, "the constant of inc");
	}
	*ret = constant;
	return 0;
}
