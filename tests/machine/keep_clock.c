/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs a command that disturbs the kernel's clock discipline, which the machine shares with all its
 * containers, and then restores the discipline. Usage: keep_clock COMMAND... */
#include <stdio.h>
#include <stdlib.h>
#include <sys/timex.h>
#include <sys/wait.h>
#include <unistd.h>

/* Ends what is left of a slew; then what can be set at once; then the offset to TAI, which comes in
 * the member that also is the time constant, and counts four higher where the clock is not kept in
 * nanoseconds. */
static int put_back(const struct timex *was)
{
	struct timex end_slew = {.modes = ADJ_STATUS | ADJ_OFFSET, .status = was->status | STA_PLL},
		     all = *was, tai = {.modes = ADJ_TAI, .constant = was->tai};

	all.modes = ADJ_STATUS | ADJ_FREQUENCY | ADJ_MAXERROR | ADJ_ESTERROR | ADJ_TIMECONST;
	if (!(was->status & STA_NANO))
		all.constant = was->constant > 4 ? was->constant - 4 : 0;
	return adjtimex(&end_slew) < 0 || adjtimex(&all) < 0 || adjtimex(&tai) < 0 ? -1 : 0;
}

int main(int argc, char **argv)
{
	struct timex was = {};
	int status;
	pid_t pid;

	if (adjtimex(&was) < 0 || put_back(&was) < 0) {
		perror("not run: the clock must not be set");
		return getenv("EMP_MUST_RUN") ? 1 : 77;
	}
	pid = fork();
	if (pid == 0) {
		execvp(argv[1], argv + 1);
		perror(argv[1]);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		return 1;
	if (put_back(&was) < 0) {
		perror("the clock's state could not be put back");
		return 1;
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
