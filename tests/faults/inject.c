/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs a command under ptrace, and lets one of its system calls go wrong: the N-th, or none (0).
 *
 *   inject kill N REPORT DIR COMMAND...
 *       of the calls that can change anything outside the process, it is killed (SIGKILL) before
 *       one: before any other, it would leave the same
 *   inject io|full|short N REPORT DIR COMMAND...
 *       of the calls that write, truncate, sync or rename below DIR, one fails with EIO or ENOSPC,
 *       or writes only a half
 *
 * REPORT gets its pid, the number of such calls, and the name of the call. All threads of the
 * process count; the processes that it starts do not, and are left alone. Ends as the command does;
 * 137: killed. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum action { KILL, IO, FULL, SHORT };

static const char *const actions[] = {"kill", "io", "full", "short"};

static struct {
	enum action action;
	long at, calls;
	const char *report, *dir;
	pid_t pid;
	long long number;          /* of the system call that went wrong */
	unsigned long long before; /* the last one that was counted */
} job = {.number = -1};

/* The thread whose system call is to fail when it returns. */
static struct {
	pid_t thread;
	long error;
} failing;

static const struct {
	long number;
	const char *name;
	bool writes; /* bytes, as many as its third argument says */
	bool file;   /* its first argument is a file descriptor */
} calls[] = {
	{SYS_write, "write", true, true},
	{SYS_pwrite64, "pwrite64", true, true},
	{SYS_writev, "writev", false, true},
	{SYS_ftruncate, "ftruncate", false, true},
	{SYS_fallocate, "fallocate", false, true},
	{SYS_fsync, "fsync", false, true},
	{SYS_fdatasync, "fdatasync", false, true},
	{SYS_linkat, "linkat", false, false},
	{SYS_renameat2, "renameat2", false, false},
#ifdef __x86_64__
	{SYS_rename, "rename", false, false},
	{SYS_renameat, "renameat", false, false},
	{SYS_link, "link", false, false},
#endif
};

/* They change nothing but the process itself, which ends. */
static const long harmless[] = {
#ifdef __x86_64__
	SYS_access, SYS_readlink,
#endif
	SYS_read, SYS_pread64, SYS_lseek, SYS_fstat, SYS_newfstatat, SYS_statx, SYS_fstatfs,
	SYS_faccessat, SYS_faccessat2, SYS_readlinkat, SYS_getdents64, SYS_close, SYS_fcntl,
	SYS_ioctl, SYS_mmap, SYS_munmap, SYS_mremap, SYS_mprotect, SYS_madvise, SYS_brk, SYS_futex,
	SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_getpid, SYS_getppid, SYS_gettid,
	SYS_getuid, SYS_geteuid, SYS_getegid, SYS_uname, SYS_clock_gettime, SYS_times,
	SYS_getrusage, SYS_getrandom, SYS_recvmsg, SYS_prlimit64, SYS_sched_getaffinity};

static void die(const char *what)
{
	perror(what);
	exit(99);
}

static bool is_below(pid_t pid, unsigned long long fd)
{
	char link[64], path[PATH_MAX];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/%d/fd/%llu", (int)pid, fd);
	n = readlink(link, path, sizeof(path) - 1);
	if (n < 0)
		return false;
	path[n] = '\0';
	return !strncmp(path, job.dir, strlen(job.dir));
}

/* Again and again, perhaps, while others work. */
static bool is_waiting(unsigned long long number)
{
#ifdef __x86_64__
	if (number == SYS_poll)
		return true;
#endif
	return number == SYS_ppoll || number == SYS_clock_nanosleep;
}

static bool is_harmless(const struct __ptrace_syscall_info *info)
{
	if (info->entry.nr == SYS_openat)
		return !(info->entry.args[2] & (O_CREAT | O_TRUNC));
	if (info->entry.nr == SYS_sendto)
		/* with an address: a question to the kernel, over netlink */
		return info->entry.args[4];
	for (size_t i = 0; i < sizeof(harmless) / sizeof(*harmless); i++)
		if ((long)info->entry.nr == harmless[i])
			return true;
	return false;
}

/* Whether this call is one of those that are counted. */
static bool is_candidate(pid_t pid, const struct __ptrace_syscall_info *info)
{
	if (job.action == KILL) {
		bool waits_on = info->entry.nr == job.before && is_waiting(info->entry.nr);

		if (waits_on || is_harmless(info))
			return false;
		job.before = info->entry.nr;
		return true;
	}
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		if ((long)info->entry.nr == calls[i].number)
			return (!calls[i].file || is_below(pid, info->entry.args[0])) &&
			       (job.action != SHORT ||
				       (calls[i].writes && info->entry.args[2] > 1));
	return false;
}

static void go_wrong(pid_t thread)
{
	if (job.action == KILL) {
		kill(job.pid, SIGKILL);
		return;
	}
#ifdef __x86_64__
	struct user_regs_struct regs;

	if (ptrace(PTRACE_GETREGS, thread, NULL, &regs) < 0)
		die("PTRACE_GETREGS");
	if (job.action == SHORT)
		regs.rdx /= 2;
	else {
		regs.orig_rax = (unsigned long long)-1;
		failing.thread = thread;
		failing.error = job.action == IO ? EIO : ENOSPC;
	}
	if (ptrace(PTRACE_SETREGS, thread, NULL, &regs) < 0)
		die("PTRACE_SETREGS");
#endif
}

static void fail_now(pid_t thread)
{
#ifdef __x86_64__
	struct user_regs_struct regs;

	if (ptrace(PTRACE_GETREGS, thread, NULL, &regs) < 0)
		die("PTRACE_GETREGS");
	regs.rax = (unsigned long long)-failing.error;
	if (ptrace(PTRACE_SETREGS, thread, NULL, &regs) < 0)
		die("PTRACE_SETREGS");
#endif
	failing.thread = 0;
}

static void at_system_call(pid_t thread)
{
	struct __ptrace_syscall_info info;

	if (ptrace(PTRACE_GET_SYSCALL_INFO, thread, sizeof(info), &info) <= 0)
		return; /* it is being killed */
	if (info.op == PTRACE_SYSCALL_INFO_EXIT && thread == failing.thread)
		fail_now(thread);
	if (info.op != PTRACE_SYSCALL_INFO_ENTRY || !is_candidate(job.pid, &info) ||
		++job.calls != job.at)
		return;
	job.number = (long long)info.entry.nr;
	go_wrong(thread);
}

static pid_t start(char **argv)
{
	int gate[2];
	char byte;
	pid_t pid;

	if (pipe2(gate, O_CLOEXEC) < 0)
		die("pipe");
	pid = fork();
	if (pid < 0)
		die("fork");
	if (pid == 0) {
		close(gate[1]);
		if (read(gate[0], &byte, 1) < 0) /* until it is traced */
			_exit(99);
		execvp(argv[0], argv);
		_exit(99);
	}
	if (ptrace(PTRACE_SEIZE, pid, NULL,
		    PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC |
			    PTRACE_O_EXITKILL) < 0)
		die("PTRACE_SEIZE");
	close(gate[0]);
	close(gate[1]);
	return pid;
}

/* The status of the command. */
static int follow(void)
{
	bool runs = false; /* the command, and no longer this program's copy */
	int status;
	pid_t thread;

	while ((thread = waitpid(-1, &status, __WALL)) > 0) {
		int signal = 0, event = status >> 16;

		if (WIFEXITED(status) || WIFSIGNALED(status)) {
			if (thread == job.pid)
				return WIFEXITED(status) ? WEXITSTATUS(status)
							 : 128 + WTERMSIG(status);
			continue;
		}
		if (event == PTRACE_EVENT_EXEC)
			runs = true;
		else if (event == PTRACE_EVENT_STOP && WSTOPSIG(status) != SIGTRAP) {
			/* stopped by a signal, and stays so */
			ptrace(PTRACE_LISTEN, thread, NULL, NULL);
			continue;
		} else if (!event && WSTOPSIG(status) == (SIGTRAP | 0x80)) {
			if (runs)
				at_system_call(thread);
		} else if (!event)
			signal = WSTOPSIG(status);
		ptrace(runs ? PTRACE_SYSCALL : PTRACE_CONT, thread, NULL,
			(void *)(ptrdiff_t)signal);
	}
	die("waitpid");
	return 99;
}

static const char *name_of(long long number)
{
	static char text[32];

	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		if (number == calls[i].number)
			return calls[i].name;
	snprintf(text, sizeof(text), "%lld", number);
	return text;
}

int main(int argc, char **argv)
{
	int status;
	FILE *report;

	if (argc < 6)
		return 99;
	while (strcmp(argv[1], actions[job.action]) != 0)
		if (job.action++ == SHORT)
			return 99;
#ifndef __x86_64__
	if (job.action != KILL)
		return 77;
#endif
	job.at = strtol(argv[2], NULL, 10);
	job.report = argv[3];
	job.dir = argv[4];
	job.pid = start(argv + 5);
	status = follow();
	report = fopen(job.report, "w");
	if (!report ||
		fprintf(report, "%d %ld %s\n", (int)job.pid, job.calls, name_of(job.number)) < 0 ||
		fclose(report) != 0)
		die(job.report);
	return status;
}
