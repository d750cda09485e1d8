/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Progress on a terminal of a given width, and without one: what standard error gets. */
#include "tests/unit/check.h"

#include "lib/base/terminal.h"

#include <locale.h>
#include <pty.h>

static char text[4096];

/* What `work` writes to standard error on a terminal of that width (0: a pipe). */
static void capture(unsigned short columns, void (*work)(void))
{
	struct winsize window = {.ws_row = 24, .ws_col = columns};
	int pair[2], before = dup(STDERR_FILENO);
	size_t len = 0;
	char *end;

	if (columns)
		assert_int_equal(openpty(&pair[0], &pair[1], NULL, NULL, &window), 0);
	else
		assert_int_equal(pipe(pair), 0);
	assert_true(dup2(pair[1], STDERR_FILENO) >= 0);
	work();
	fprintf(stderr, "END");
	fflush(stderr);
	dup2(before, STDERR_FILENO);
	do { /* a terminal hands it over piece by piece */
		ssize_t n = read(pair[0], text + len, sizeof(text) - 1 - len);

		assert_true(n > 0);
		len += (size_t)n;
		text[len] = '\0';
		end = strstr(text, "END");
	} while (!end);
	*end = '\0';
	close(before);
	close(pair[0]);
	close(pair[1]);
}

static void half_done(void)
{
	struct progress p;

	progress_begin(&p, "sort --numeric-sort big.txt", 20, false);
	p.drawn = false; /* as if a tenth of a second had passed */
	progress_step(&p, 10, "127.9 ms");
}

static void nothing_asked_for(void)
{
	struct progress p;

	progress_begin(&p, "quiet", 20, true);
	progress_step(&p, 20, NULL);
	progress_end(&p);
}

/* Columns of the longest line between two carriage returns, without escape sequences. */
static size_t longest_line(void)
{
	size_t longest = 0, at = 0;

	for (const char *c = text; *c; c++) {
		if (*c == '\033') {
			c += strcspn(c, "mK");
			continue;
		}
		at = *c == '\r' ? 0 : at + 1;
		longest = at > longest ? at : longest;
	}
	return longest;
}

TEST(a_bar_has_count_estimate_and_time_left)
{
	capture(100, half_done);
	assert_non_null(strstr(text, "sort --numeric-sort big.txt [\033[32m##"));
	assert_non_null(strstr(text, "#..."));
	assert_non_null(strstr(text, "10/20, current estimate 127.9 ms, ETA "));
}

TEST(a_narrow_terminal_keeps_it_in_one_line)
{
	for (unsigned short columns = 1; columns < 120; columns++) {
		capture(columns, half_done);
		assert_non_null(strstr(text, "\033[K"));
		assert_in_range(longest_line(), 0, columns - 1);
		assert_null(strchr(text, '\n'));
	}
}

TEST(no_color_is_honoured)
{
	capture(100, half_done);
	assert_non_null(strstr(text, "\033[32m"));
	setenv("NO_COLOR", "1", 1);
	capture(100, half_done);
	unsetenv("NO_COLOR");
	assert_null(strstr(text, "\033[32m"));
}

static void a_second_later(void)
{
	struct progress p;

	progress_begin(&p, "INC16", 20, false);
	p.said_ns -= 2000000000;
	progress_step(&p, 2, NULL);
	progress_step(&p, 4, NULL); /* in the same second */
	p.said_ns -= 2000000000;
	progress_step(&p, 20, "1.0 s");
	progress_end(&p);
}

TEST(without_a_terminal_there_are_plain_lines_now_and_then)
{
	capture(0, a_second_later);
	assert_non_null(strstr(text, "INC16: 2 of 20, ETA "));
	assert_null(strstr(text, "4 of 20"));
	assert_non_null(strstr(text, "INC16: 20 of 20, current estimate 1.0 s\n"));
	assert_null(strchr(text, '\033'));
}

TEST(quiet_work_says_nothing)
{
	capture(80, nothing_asked_for);
	assert_string_equal(text, "");
}

int check_begin(void)
{
	setenv("TERM", "xterm", 1);
	unsetenv("NO_COLOR");
	unsetenv("COLUMNS");
	setlocale(LC_CTYPE, "C.UTF-8");
	return 0;
}
