/* SPDX-License-Identifier: GPL-2.0-or-later */
/* main of every unit test: see TEST in check.h. What failed is said once more at the end, and
 * nothing follows: no leaks of a test that a failed assertion has left. */
#include "tests/unit/check.h"

#include <assert.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/resource.h>
#include <string.h>
#include <unistd.h>

struct check {
	const char *name;
	CMFixtureFunction setup;
	char *said; /* by the assertion that failed */
};

static struct check checks[64];
static struct CMUnitTest tests[ELEMENTS(checks)];
static size_t n_tests;
static struct check *running;

static int begin(void **state)
{
	running = *state;
	*state = NULL;
	return running->setup ? running->setup(state) : 0;
}

void check_add(struct CMUnitTest test)
{
	assert(n_tests < ELEMENTS(checks));
	checks[n_tests] = (struct check){.name = test.name, .setup = test.setup_func};
	test.setup_func = begin;
	test.initial_state = &checks[n_tests];
	tests[n_tests++] = test;
}

/* In place of cmocka's own: it prints, and keeps for the end what is said while a test runs. After
 * that comes FAILED with the test's name, or PASSED with the number of tests. */
void print_error(const char *const format, ...)
{
	char *text, *both;
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vasprintf(&text, format, arguments);
	va_end(arguments);
	if (length < 0)
		return;
	fputs(text, stderr);
	if (strstr(text, "[  FAILED  ]") || strstr(text, "[  PASSED  ]"))
		running = NULL;
	if (running && asprintf(&both, "%s%s", running->said ?: "", text) >= 0) {
		free(running->said);
		running->said = both;
	}
	free(text);
}

/* Line for line, without labels such as "[   LINE   ] --- ". */
static void tell(const struct check *c)
{
	fprintf(stderr, "FAILED: %s\n", c->name);
	for (char *rest = c->said, *line; (line = strsep(&rest, "\n"));) {
		for (char *label; (label = strstr(line, " ] --- "));)
			line = label + strlen(" ] --- ");
		if (*line)
			fprintf(stderr, "    %s\n", line);
	}
}

static void too_long(int signal)
{
	static const char said[] =
		"\nFAILED: the test that began last has taken more CPU time than EMP_CPU_SECONDS\n";

	_exit(write(STDERR_FILENO, said, sizeof(said) - 1) < 0 ? 2 : 1);
}

/* A number from the environment; 0: none. */
static rlim_t number_of(const char *name)
{
	const char *text = getenv(name);

	return text ? strtoul(text, NULL, 10) : 0;
}

/* Meson's time limits are of elapsed time, which other work takes, too. */
static void limit_cpu_time(void)
{
	rlim_t seconds = number_of("EMP_CPU_SECONDS") * (number_of("EMP_TIMEOUT_MULTIPLIER") ?: 1);
	struct rlimit limit;

	if (seconds == 0 || getrlimit(RLIMIT_CPU, &limit) < 0 || limit.rlim_cur <= seconds)
		return;
	signal(SIGXCPU, too_long);
	limit.rlim_cur = seconds;
	setrlimit(RLIMIT_CPU, &limit);
}

__attribute__((weak)) int check_begin(void)
{
	return 0;
}

int main(void)
{
	int status;

	limit_cpu_time();
	status = check_begin();
	if (status)
		return status;
	status = _cmocka_run_group_tests("tests", tests, n_tests, NULL, NULL);
	if (!status)
		return 0;

	for (size_t i = 0; i < n_tests; i++)
		if (checks[i].said)
			tell(&checks[i]);
	fflush(NULL);
	_exit(1);
}
