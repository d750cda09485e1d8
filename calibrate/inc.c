/* SPDX-License-Identifier: GPL-2.0-or-later */
/* INC, the papers' compute-bound program (EMP, Figure 7): it only increments a register. No I/O, no
 * allocation, no library call while it runs; static, so that loading takes next to no time.
 *
 *   emp-inc --iterations N   that many increments: what emp-calibrate runs
 *   emp-inc SECONDS          about that long, by the constant that emp-calibrate measured here
 *   emp-inc --branches N     that many increments, with a taken branch for each */

#include "lib/base/base.h"
#include "lib/host/cpu/increments.h"

#include <math.h>

enum { PER_TURN = 64 };
INCREMENT_LOOP(increment_in_turns, PER_TURN)
INCREMENT_LOOP(increment_singly, 1)

static uint64_t increment(uint64_t n, bool branches)
{
	if (branches)
		return increment_singly(n);
	return increment_in_turns(n / PER_TURN) + increment_singly(n % PER_TURN);
}

#define USAGE "emp-inc SECONDS, emp-inc --iterations N, or emp-inc --branches N"

static int find_iterations(
	int argc, char **argv, uint64_t *ret, bool *ret_branches, struct error *err)
{
	_cleanup_(freep) char *book = NULL, *path = NULL, *text = NULL, *file = NULL;
	int64_t duration_ns, n;
	double per_second;
	int r;

	*ret_branches = argc == 3 && !strcmp(argv[1], "--branches");
	if (*ret_branches || (argc == 3 && !strcmp(argv[1], "--iterations"))) {
		r = text_parse_int(argv[2], argv[1], 1, INT64_MAX, &n, err);
		if (r == 0)
			*ret = (uint64_t)n;
		return r;
	}
	if (argc != 2)
		return error_say(err, -EINVAL, "usage: " USAGE);

	r = text_parse_duration(argv[1], "SECONDS", &duration_ns, err);
	if (r == 0)
		r = paths_book(NULL, &book, err);
	if (r < 0)
		return r;

	path = paths_inc_constant(book);
	r = paths_check(path, PATH_READ, &file, err);
	if (r == 0)
		r = paths_check_kind(file, err);
	if (r < 0)
		return r;

	r = file_read_text(path, &text);
	if (r == -ENOENT)
		return error_say(err, r,
			"no constant is stored in %s: run 'emp-calibrate constant', or use "
			"--iterations N",
			path);
	if (r < 0)
		return error_os(err, r, "cannot read the constant in %s", path);

	/* INC of EMP 0.2, which took a branch for each increment, had "iterations_per_second" */
	if (sscanf(text, "increments_per_second %lf", &per_second) != 1 || !isfinite(per_second) ||
		per_second <= 0)
		return error_say(err, -EINVAL,
			"%s does not contain the constant of this INC: run 'emp-calibrate "
			"constant'",
			path);
	*ret = (uint64_t)llround(per_second * (double)duration_ns / 1e9);
	return 0;
}

int main(int argc, char **argv)
{
	struct error err = {};
	uint64_t iterations = 0;
	bool branches;

	if (argc == 2 && !strcmp(argv[1], "--help")) {
		puts("Usage: " USAGE "\n"
		     "Increments a register: the compute-bound program of EMP. SECONDS become "
		     "iterations\n"
		     "by the constant that 'emp-calibrate constant' measured (EMP_DB: the lab "
		     "book).\n"
		     "--branches takes a branch for each increment, which a busy hardware thread "
		     "beside\n"
		     "it on the same core slows down by half.");
		return 0;
	}
	if (find_iterations(argc, argv, &iterations, &branches, &err) < 0) {
		fprintf(stderr, "emp-inc: %s\n", err.text);
		return 1;
	}
	return increment(iterations, branches) == iterations ? 0 : 1;
}
