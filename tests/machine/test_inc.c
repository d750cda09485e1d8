/* SPDX-License-Identifier: GPL-2.0-or-later */
/* INC, stepped through one instruction at a time: how many instructions and taken branches it needs
 * for an increment. What is the same in two runs, such as its start, cancels in their difference.
 * Its path is in EMP_INC. */
#include "tests/unit/check.h"

#include <elf.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>

/* Instructions of the start that differ from run to run: where the kernel puts the stack. */
enum { START_VARIES = 100 };

struct steps {
	long instructions;
	long turns; /* branches back by less than FAR bytes */
};

static uint64_t counter_of(pid_t pid)
{
	struct user_regs_struct regs;
	struct iovec to = {&regs, sizeof(regs)};

	assert_return_code(ptrace(PTRACE_GETREGSET, pid, NT_PRSTATUS, &to), errno);
#if defined(__x86_64__)
	return regs.rip;
#else
	return regs.pc;
#endif
}

static struct steps steps_of(const char *option, const char *n)
{
	enum { FAR = 1024 };
	struct steps s = {};
	uint64_t last = 0;
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		ptrace(PTRACE_TRACEME);
		execl(getenv("EMP_INC"), "inc", option, n, NULL);
		_exit(127);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	while (WIFSTOPPED(status)) {
		uint64_t at = counter_of(pid);

		s.instructions++;
		s.turns += at <= last && last - at < FAR;
		last = at;
		assert_return_code(ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL), errno);
		assert_int_equal(waitpid(pid, &status, 0), pid);
	}
	assert_int_equal(status, 0);
	return s;
}

/* What `more` takes that `less` does not: between so many instructions and so many, in this number
 * of turns. */
static void assert_takes(
	const char *option, const char *less, const char *more, long least, long most, long turns)
{
	struct steps a = steps_of(option, less), b = steps_of(option, more);

	assert_in_range(b.instructions - a.instructions, least - START_VARIES, most + START_VARIES);
	assert_in_range(b.turns - a.turns, turns - START_VARIES, turns + START_VARIES);
}

/* 500 turns of 64 increments, which need two instructions more, or some if the compiler does not
 * optimize. */
TEST(inc_takes_a_branch_for_64_increments)
{
	assert_takes("--iterations", "6400", "38400", 66 * 500, 72 * 500, 500);
}

TEST(inc_with_branches_takes_one_for_each_increment)
{
	assert_takes("--branches", "2000", "5000", 3 * 3000, 10 * 3000, 3000);
}

/* INC fails unless the register has the number that was asked for: with whole turns of 64, and with
 * a rest. */
TEST(inc_makes_each_number_of_increments)
{
	static const char *const numbers[] = {"1", "63", "64", "65", "127", "4096", "1000003"};

	for (size_t i = 0; i < ELEMENTS(numbers); i++) {
		pid_t pid = fork();
		int status;

		if (pid == 0) {
			execl(getenv("EMP_INC"), "inc", i % 2 ? "--branches" : "--iterations",
				numbers[i], NULL);
			_exit(127);
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(status, 0);
	}
}
