/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command of apply --for: see apply.h. */
#include "setup/apply/apply.h"

#include "lib/base/terminal.h"
#include "lib/base/tool.h"
#include "lib/host/cpu/cpupower.h"
#include "lib/host/process/process.h"
#include "lib/host/process/signals.h"
#include "lib/host/process/subprocess.h"

enum { NOT_EXECUTABLE = 126, NOT_FOUND = 127, RETRY_US = 100 * 1000 };

static int shell_status(int r)
{
	return r == -ENOMEM ? r : r == -ENOENT ? NOT_FOUND : NOT_EXECUTABLE;
}

int run_for_find(const char *name, char **ret_path, struct error *err)
{
	int r = executable_find(name, ret_path, err);

	return r < 0 ? shell_status(r) : 0;
}

static int run_command(char *const *argv, const char *path, struct error *err)
{
	static const char latency[] = "/dev/cpu_dma_latency";
	const struct subprocess command = {.argv = argv, .path = path, .forward_signals = true};
	int32_t us = idle_latency_us();
	/* A request that no CPU takes long to wake up; it ends when the file is closed. */
	_cleanup_(closep) int fd = open(latency, O_WRONLY | O_CLOEXEC);
	int status, r;

	if (fd < 0 || write(fd, &us, sizeof(us)) != sizeof(us))
		fprintf(stderr, "emp-setup: CPUs may enter deep idle states: cannot %s %s: %s\n",
			fd < 0 ? "open" : "write", latency, strerror(errno));
	r = subprocess_run(&command, NULL, &status, err);
	return r < 0 ? shell_status(r) : process_exit_status(status);
}

int run_for(char *const *argv, const char *path, size_t first, struct error *err)
{
	_cleanup_(lock_release) struct lock lock = {.fd = -1};
	int status = run_command(argv, path, err), back;
	struct error why = {};
	bool told = false;
	int r;

	/* Whoever uses the machine now ends at some time; without a lock file, it is restored without. */
	while ((r = lock_take(&lock, SETUP_LOCK, &why)) == -EBUSY) {
		if (!told)
			fprintf(stderr, "emp-setup: waiting to restore: %s\n", why.text);
		told = true;
		usleep(RETRY_US);
	}
	if (r < 0)
		fprintf(stderr, "emp-setup: restoring without the host's lock: %s\n", why.text);
	back = change_restore_locked(first, err);
	return back == STATUS_DONE ? status : back;
}

enum { FIRST_LINE_S = 2, NEXT_LINE_S = 10, TEXT_SIZE = 64 };

int waiting_step(void *data, const char *name, bool active, int64_t waited_ns)
{
	const bool terminal = terminal_is(stderr);
	struct waiting *w = data;
	char rest[TEXT_SIZE];
	size_t taken, width;

	if (w->interruptible && interrupt_pending())
		return -EINTR;
	if (waited_ns < FIRST_LINE_S * NS_PER_S) { /* of another unit than before */
		waiting_end(w);
		w->next_ns = FIRST_LINE_S * NS_PER_S;
	}
	if (waited_ns < w->next_ns)
		return 0;
	w->next_ns = waited_ns + (terminal ? 1 : NEXT_LINE_S) * NS_PER_S;
	snprintf(rest, sizeof(rest), " to %s: %d s%s", active ? "start" : "stop", (int)(waited_ns / NS_PER_S),
		w->interruptible ? " (^C undoes all)" : "");
	if (!terminal) {
		fprintf(stderr, "waiting for %s%s\n", name, rest);
		return 0;
	}
	taken = terminal_text_width("waiting for ") + terminal_text_width(rest) + 1;
	width = terminal_width(stderr);
	/* The name is shortened rather than the line wrapped. */
	fprintf(stderr, "\rwaiting for %.*s%s\033[K",
		(int)terminal_text_fit(name, width > taken ? width - taken : 0), name, rest);
	w->drawn = true;
	return 0;
}

void waiting_end(struct waiting *w)
{
	if (w->drawn)
		fprintf(stderr, "\r\033[K");
	w->drawn = false;
}
