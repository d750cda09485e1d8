/* SPDX-License-Identifier: GPL-2.0-or-later */
/* INC, the papers' compute-bound program (EMP, Figure 7): it only increments. No I/O, no allocation, no library
 * call while it runs; static, so that loading takes next to no time.
 *
 *   inc --iterations N   that many increments: what emp-calibrate runs
 *   inc SECONDS          about that long, by the constant that emp-calibrate measured on this machine */

#include "lib/base/base.h"

#include <math.h>

/* Aligned, so that a rebuild does not change its speed; opaque, so that the compiler keeps each step. */
static __attribute__((noinline, aligned(64))) uint64_t increment(uint64_t iterations)
{
	uint64_t count = 0;

	while (count < iterations) {
		count++;
		__asm__ volatile("" : "+r"(count));
	}
	return count;
}

static int find_iterations(int argc, char **argv, uint64_t *ret, struct error *err)
{
	_cleanup_(freep) char *book = NULL, *path = NULL, *text = NULL;
	int64_t duration_ns, n;
	double per_second;
	int r;

	if (argc == 3 && !strcmp(argv[1], "--iterations")) {
		r = text_parse_int(argv[2], "--iterations", 1, INT64_MAX, &n, err);
		if (r == 0)
			*ret = (uint64_t)n;
		return r;
	}
	if (argc != 2)
		return error_say(err, -EINVAL, "usage: inc SECONDS, or inc --iterations N");
	r = text_parse_duration(argv[1], "SECONDS", &duration_ns, err);
	if (r == 0)
		r = paths_book(NULL, &book, err);
	if (r < 0)
		return r;
	path = paths_inc_constant(book);
	r = file_read_text(path, &text);
	if (r == -ENOENT)
		return error_say(err, r,
			"no constant is stored in %s: run 'emp-calibrate constant', or use --iterations N",
			path);
	if (r < 0)
		return error_os(err, r, "cannot read the constant in %s", path);
	if (sscanf(text, "iterations_per_second %lf", &per_second) != 1 || !isfinite(per_second) ||
		per_second <= 0)
		return error_say(
			err, -EINVAL, "%s does not contain a constant: run 'emp-calibrate constant'", path);
	*ret = (uint64_t)llround(per_second * (double)duration_ns / 1e9);
	return 0;
}

int main(int argc, char **argv)
{
	struct error err = {};
	uint64_t iterations = 0;

	if (argc == 2 && !strcmp(argv[1], "--help")) {
		puts("Usage: inc SECONDS, or inc --iterations N\n"
		     "Increments a register: the compute-bound program of EMP. SECONDS become iterations\n"
		     "by the constant that 'emp-calibrate constant' measured (EMP_DB: the lab book).");
		return 0;
	}
	if (find_iterations(argc, argv, &iterations, &err) < 0) {
		fprintf(stderr, "inc: %s\n", err.text);
		return 1;
	}
	return increment(iterations) == iterations ? 0 : 1;
}
