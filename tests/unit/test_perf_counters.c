/* SPDX-License-Identifier: GPL-2.0-or-later */
/* perf's counters, with the kernel's software events, which every machine has. */
#include "tests/unit/check.h"

#include "lib/host/perf/perf_counters.h"

#include <sys/wait.h>

static struct error err;

/* What `words` makes the events count. */
static void count(const char *events, const char *line, int64_t *ret)
{
	_cleanup_(perf_counters_clear) struct perf_counters p = {};
	pid_t pid;
	int status;

	if (perf_counters_open(&p, events, &err) < 0 || perf_counters_start(&p, &err) < 0)
		fail_msg("%s", err.text);
	pid = fork();
	if (pid == 0) {
		execl("/bin/sh", "sh", "-c", line, NULL);
		_exit(127);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(perf_counters_stop(&p, ret, &err), 0);
}

TEST(a_program_and_all_that_it_starts_is_counted)
{
	int64_t one[2], four[2];

	count("page-faults,task-clock", "/bin/true", one);
	count("page-faults,task-clock", "/bin/true; /bin/true; /bin/true; /bin/true", four);
	assert_true(one[0] > 10);
	assert_true(one[1] > 10000);
	assert_true(four[0] > one[0] + 30);
	assert_true(four[1] > one[1]);
}

TEST(what_we_do_ourselves_is_not_counted)
{
	_cleanup_(perf_counters_clear) struct perf_counters p = {};
	enum { SIZE = 1 << 24 };
	int64_t faults;
	char *memory;

	assert_int_equal(perf_counters_open(&p, "page-faults", &err), 0);
	assert_int_equal(perf_counters_start(&p, &err), 0);
	memory = malloc(SIZE);
	assert_non_null(memory);
	memset(memory, 1, SIZE);
	assert_int_equal(memory[SIZE / 2], 1);
	assert_int_equal(perf_counters_stop(&p, &faults, &err), 0);
	assert_true(faults <= 0);
	free(memory);
}

TEST(events_have_their_names_as_given)
{
	_cleanup_(perf_counters_clear) struct perf_counters p = {};

	assert_int_equal(perf_counters_open(&p, "faults,page-faults:u", &err), 0);
	assert_int_equal(p.n, 2);
	assert_non_null(strstr(p.items[0].name, "faults"));
	assert_string_equal(p.items[1].name, "page-faults:u");
}

TEST(an_event_that_does_not_exist_is_named_in_the_message)
{
	struct perf_counters p;

	assert_int_equal(perf_counters_open(&p, "page-faults,miracles", &err), -EINVAL);
	assert_non_null(strstr(err.text, "there is no event 'miracles'"));
	assert_int_equal(perf_counters_open(&p, "", &err), -EINVAL);
}

/* Whether this machine has counters or not, the outcome is one of two. */
TEST(a_machine_without_hardware_counters_says_so)
{
	_cleanup_(perf_counters_clear) struct perf_counters p = {};
	int r = perf_counters_open(&p, "cycles", &err);

	if (r == 0) {
		int64_t cycles;

		count("cycles", "/bin/true", &cycles);
		assert_true(cycles > 1000);
		return;
	}
	assert_int_equal(r, -ENOTSUP);
	assert_non_null(strstr(
		err.text, "this machine has no hardware counters: cycles is not supported ("));
}

int check_begin(void)
{
	_cleanup_(perf_counters_clear) struct perf_counters p = {};

	return perf_counters_open(&p, "page-faults", &err) < 0 ? check_cannot_run(err.text) : 0;
}
