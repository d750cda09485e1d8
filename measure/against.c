/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --against inc: see against.h. */
#include "measure/session.h"

#include "lib/base/xalloc.h"
#include "lib/base/json.h"
#include "lib/base/text.h"
#include "lib/host/process/subprocess.h"
#include "lib/run/constant.h"

#include <inttypes.h>
#include <string.h>

struct against {
	struct command command;
	char iterations[32];
	char *argv[4];
};

/* So many from now on, each time it runs. */
static void set_increments(struct against *a, int64_t increments)
{
	snprintf(a->iterations, sizeof(a->iterations), "%" PRId64, increments);
}

int against_new(struct against **ret, struct error *err)
{
	_cleanup_(freep) char *inc = NULL;
	struct against *a;
	int r = suite_tool_find("inc", &inc, err);

	if (r < 0)
		return error_prefix(err, r, "--against inc");
	a = xcalloc(1, sizeof(*a));
	a->argv[0] = (char *)"inc";
	a->argv[1] = (char *)"--iterations";
	a->argv[2] = a->iterations;
	set_increments(a, 1);
	a->command = (struct command){.name = (char *)"INC",
		.text = (char *)"inc",
		.argv = a->argv,
		.path = TAKE(inc),
		.output = "null"};
	*ret = a;
	return 0;
}

void against_free(struct against *a)
{
	if (a)
		free(a->command.path);
	free(a);
}

const struct command *against_command(const struct against *a)
{
	return &a->command;
}

int64_t against_length_ns(int64_t pt_ns)
{
	const int64_t least_ns = 200 * NS_PER_MS, most_ns = 500 * NS_PER_MS;
	int64_t covered_ns = pt_ns / 10 * 9; /* so that the program is rarely started again */
	int64_t parts = covered_ns / most_ns + 1, times = least_ns / (pt_ns > 0 ? pt_ns : 1) + 1;

	if (covered_ns / parts > least_ns)
		return covered_ns / parts;
	return pt_ns > 0 ? pt_ns * times / 20 * 21 : least_ns; /* so that the last of its runs is complete */
}

/* That of the book, else it is measured now. */
static int find_constant(struct session *s, double *ret_per_second, struct error *err)
{
	struct constant constant;
	const struct constant_request request = {
		.book = s->book,
		.environment = s->environment,
		.environment_digest = s->environment_digest,
		.inc_path = s->against->command.path,
		.observer = &s->observer,
		.cpu = s->options->cpu,
	};
	int r = constant_get(&request, &constant, err);

	if (r == 0)
		*ret_per_second = constant.per_second;
	return r;
}

/* As the book has it. */
static int describe(struct task *t, struct error *err)
{
	char *const *argv = t->command->argv;
	_cleanup_(json_decrefp) json_t *command = json_pack("[sss]", argv[0], argv[1], argv[2]);
	char *text = json_dumps(command, JSON_COMPACT);

	free(t->run.command);
	t->run.command = text;
	return text ? 0 : error_oom(err);
}

int session_size_inc(struct session *s, struct error *err)
{
	size_t inc = session_n_shown(s);
	struct sampling *of_inc = &s->samplings[inc];
	int64_t length_ns = against_length_ns(s->samplings[0].last_pt_ns);
	double per_second = 0;
	int r = find_constant(s, &per_second, err);

	if (r < 0)
		return r;
	of_inc->increments = (int64_t)(per_second * (double)length_ns / 1e9) + 1;
	set_increments(s->against, of_inc->increments);
	return describe(&s->tasks[inc], err);
}
