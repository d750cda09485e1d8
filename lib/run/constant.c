/* SPDX-License-Identifier: GPL-2.0-or-later */
/* INC and its constant: see constant.h. */
#include "lib/run/constant.h"

#include "lib/base/terminal.h"
#include "lib/host/process/signals.h"

#include <math.h>

enum { TRIALS = 9 };

void inc_program_make(struct inc_program *p, const struct inc *inc,
	const struct run_session *session, double iterations)
{
	/* argv[0] is what books have had since the first one; the file is emp-inc */
	*p = (struct inc_program){
		.argv = {(char *)"inc", (char *)"--iterations", p->iterations},
		.spec = {.argv = p->argv,
			.path = inc->path,
			.cpu = inc->cpu,
			.stdin_fd = -1,
			.stdout_fd = -1,
			.stderr_fd = -1,
			.cgroup = session->observer.cgroup,
			.accounting = session->observer.accounting,
			.prober = session->observer.prober},
	};
	snprintf(p->iterations, sizeof(p->iterations), "%.0f", iterations);
}

/* PT of one run of `iterations`, without accounting. */
static int run_inc(const struct inc *inc, const struct run_session *session, uint64_t iterations,
	int64_t *ret_pt_ns, struct error *err)
{
	struct inc_program program;
	struct exec_result exec;
	int r;

	inc_program_make(&program, inc, session, (double)iterations);
	program.spec.accounting = NULL;
	r = program_run(&program.spec, &exec, err);
	if (r < 0)
		return r;
	if (exec.end == PROGRAM_INTERRUPTED ||
		(exec.wait_status != 0 && interrupt_pending())) /* ^C is INC's too */
		return -EINTR;
	if (exec.wait_status != 0)
		return error_say(err, -ECANCELED, "'%s --iterations %s' %s", inc->path,
			program.iterations, process_end_text(exec.wait_status));
	*ret_pt_ns = exec.pt_ns > 0 ? exec.pt_ns : 1;
	return 0;
}

/* Doubles the iterations until a run takes a tenth of a second, then takes the best rate of TRIALS
 * runs of a quarter second: that of the undisturbed machine, because any disturbance makes it
 * slower. The PT of one iteration is subtracted from each, so that starting the program does not
 * count. */
static int measure_constant(struct inc *inc, const struct run_session *session, struct error *err)
{
	_cleanup_(progress_end) struct progress progress;
	uint64_t iterations = 1000000;
	int64_t pt_ns, start_ns;
	double best = 0;
	int r;

	progress_begin(&progress, "Speed of INC", TRIALS, inc->quiet);
	do {
		iterations *= 2;
		r = run_inc(inc, session, iterations, &pt_ns, err);
	} while (r == 0 && pt_ns < 100 * NS_PER_MS);
	if (r < 0)
		return r;
	iterations = (uint64_t)((double)iterations * 0.25e9 / (double)pt_ns);
	for (uint64_t i = 0; i < TRIALS; i++) {
		r = run_inc(inc, session, 1, &start_ns, err);
		if (r == 0)
			r = run_inc(inc, session, iterations, &pt_ns, err);
		if (r < 0)
			return r;
		best = fmax(best, (double)iterations * 1e9 / (double)(pt_ns - start_ns));
		progress_step(&progress, i + 1, NULL);
	}
	inc->per_second = round(best);
	return 0;
}

int inc_find_constant(
	struct inc *inc, const struct run_session *session, int64_t environment, struct error *err)
{
	struct book *book = session->book;
	_cleanup_(freep) char *digest = NULL, *path = NULL, *text = NULL, *there = NULL,
			      *file = NULL;
	_cleanup_(output_file_clear) struct output_file output = {};
	int r = book_get_environment(book, environment, &digest, NULL, NULL, err);

	if (r == 0)
		r = book_get_inc(book, environment, session->inc_digest, &inc->per_second, err);
	inc->found_now = r == 0;
	if (r == 0)
		r = measure_constant(inc, session, err);
	if (r == 0)
		r = book_put_inc(book, environment, session->inc_digest, inc->per_second, err);
	if (r < 0)
		return r;

	/* For inc itself. A file with the right content is not rewritten, so that a full disk does
	 * no harm. */
	path = paths_inc_constant(book_file(book));
	text = text_format("increments_per_second %.17g\nenvironment %s", inc->per_second, digest);
	r = paths_check(path, PATH_WRITE, &file, err);
	if (r == 0)
		r = paths_check_kind(file, err);
	if (r < 0)
		return error_prefix(err, r, "the constant of inc");

	there = path_text(AT_FDCWD, "%s", path);
	if (there && !strcmp(there, text))
		return 0;
	r = output_file_open(&output, path, err);
	if (r == 0)
		fprintf(output.file, "%s\n", text);
	if (r == 0)
		r = output_file_commit(&output, err);
	return r < 0 ? error_prefix(err, r, "the constant of inc") : 0;
}
