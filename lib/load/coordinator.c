/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The coordinator of a load: see coordinator.h. */
#include "lib/load/coordinator.h"

#include "lib/base/argv.h"
#include "lib/host/process/subprocess.h"
#include "lib/host/process/privilege.h"
#include "lib/host/process/signals.h"
#include "lib/host/system/leftovers.h"
#include "lib/host/cpu/cpus.h"
#include "lib/load/session.h"
#include "lib/load/worker.h"

#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>

/* What a worker's cgroup has used so far. */
struct worker_usage {
	struct cgroup_usage cpu;
	int64_t wait_ns, io_wait_ns; /* -1: not known */
};

struct worker_process {
	struct cgroup *cgroup;
	struct command_spec spec;
	char *directory, *name;
	char number[24];
	char *argv[5];
	struct worker_usage before; /* when the measurement started */
};

/* What the coordinator holds during one run of the load. */
struct coordinator {
	const struct load_session *session;
	const struct load *load;
	const struct observer *observer;

	/* DIRECTORY/emp-load-XXXXXX, with one for each worker; locked, so that the next run can
	 * remove what a killed one left */
	char *directory;
	int directory_fd;
	struct cgroup *all; /* the workers' cgroups are in it */
	struct worker_memory *memory;
	size_t memory_size;
	int memory_fd, socket, workers_socket; /* all workers have the same one */
	struct worker_process *workers;
	struct program **programs; /* of the workers */
	size_t n;

	int64_t idle_ns; /* of the CPUs, when the measurement started; -1: not known */
	/* [2]: when it started, and ended; NULL: they are not watched */
	struct page_wait_sums *waits;
	bool is_set_up;      /* by the load's own setup */
	int64_t deadline_ns; /* CLOCK_MONOTONIC */
	int64_t released_ns; /* CLOCK_MONOTONIC_RAW */
	struct load_result *result;
};

/* Makes the memory that the workers share; the text of the load's file is at its end. */
static int make_worker_memory(struct coordinator *c, struct error *err)
{
	const char *text = c->session->text;
	struct worker_memory *memory;

	c->memory_size = sizeof(*memory) + c->n * sizeof(memory->workers[0]) + strlen(text) + 1;
	c->memory_fd = memfd_create("emp-load", MFD_CLOEXEC);
	if (c->memory_fd < 0)
		return error_os(err, -errno, "cannot make memory for %zu slaves", c->n);
	if (posix_fallocate(c->memory_fd, 0, (off_t)c->memory_size) != 0)
		return error_os(err, -ENOMEM, "cannot make memory for %zu slaves", c->n);
	memory = mmap(NULL, c->memory_size, PROT_READ | PROT_WRITE, MAP_SHARED, c->memory_fd, 0);
	if (memory == MAP_FAILED)
		return error_os(err, -errno, "cannot map memory for %zu slaves", c->n);

	memory->n = c->n;
	memory->coordination = c->load->coordination;
	memory->coordinator = getpid();
	memory->show_output = c->session->options->show_output;
	strcpy((char *)&memory->workers[c->n], text);
	c->memory = memory;
	return 0;
}

/* Makes what the workers share: a socket, a directory, and memory. */
static int coordinator_prepare(struct coordinator *c, struct error *err)
{
	int sockets[2], r;

	c->workers = xcalloc(c->n, sizeof(*c->workers));
	c->programs = xcalloc(c->n, sizeof(struct program *));
	c->result->parts = xcalloc(c->n, sizeof(*c->result->parts));
	c->result->n = c->n;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) < 0)
		return error_os(err, -errno, "cannot make a socket for the slaves");
	c->socket = sockets[0];
	c->workers_socket = sockets[1];
	r = leftover_directory_make(c->load->directory, &c->directory, &c->directory_fd, err);
	return r < 0 ? r : make_worker_memory(c, err);
}

/* The worker that is started next receives the descriptor of the memory. */
static int send_memory(const struct coordinator *c, struct error *err)
{
	union {
		char space[CMSG_SPACE(sizeof(int))];
		struct cmsghdr header;
	} control = {.header = {CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS}};
	struct iovec part = {(char[]){'m'}, 1};
	const struct msghdr message = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};

	memcpy(CMSG_DATA(&control.header), &c->memory_fd, sizeof(int));
	if (sendmsg(c->socket, &message, MSG_NOSIGNAL) < 0)
		return error_os(err, -errno, "cannot send a slave its memory");
	return 0;
}

static int limit_worker(struct cgroup *cgroup, const struct script *script, struct error *err)
{
	int r = 0;

	if (script->weight)
		r = cgroup_set(cgroup, "cpu.weight", script->weight, err);
	else if (script->nice && faccessat(cgroup->fd, "cpu.weight.nice", F_OK, 0) == 0)
		/* with a weight the nice values of processes only count within the cgroup */
		r = cgroup_set(cgroup, "cpu.weight.nice", script->nice, err);
	if (r == 0 && script->memory)
		r = cgroup_set(cgroup, "memory.max", script->memory, err);
	return r;
}

static int start_worker(struct coordinator *c, size_t k, struct error *err)
{
	struct worker_process *w = &c->workers[k];
	int r;

	snprintf(w->number, sizeof(w->number), "%zu", k);
	w->name = load_worker_name(c->load, k);
	w->directory = text_format("%s/%s", c->directory, w->number);
	if (mkdir(w->directory, 0700) < 0)
		return error_os(err, -errno, "cannot make the directory '%s'", w->directory);
	r = cgroup_new_in(&w->cgroup, c->all->path, err);
	if (r == 0)
		r = limit_worker(w->cgroup, load_script_of(c->load, k), err);
	if (r == 0)
		r = send_memory(c, err);
	if (r < 0)
		return r;

	w->argv[0] = (char *)"emp-load";
	w->argv[1] = (char *)"slave";
	w->argv[2] = w->number;
	w->argv[3] = w->directory;
	w->spec = (struct command_spec){
		.argv = w->argv,
		.path = "/proc/self/exe",
		.cpu = -1,
		.affinity = c->load->cpu_list ? &c->load->cpus : NULL,
		.new_session = true,
		.stdin_fd = c->workers_socket,
		.stdout_fd = -1,
		.stderr_fd = -1,
		.cgroup = w->cgroup,
		.accounting = c->observer->accounting,
	};
	return program_start(&c->programs[k], &w->spec, err);
}

/* The time in which some of its processes waited for "cpu" or "io" (PSI), in ns; -1: not known
 * here. */
static int64_t pressure_ns(const struct cgroup *cgroup, const char *resource)
{
	_cleanup_(freep) char *text = path_text(cgroup->fd, "%s.pressure", resource);
	const char *total = text ? strstr(text, "total=") : NULL;

	return total ? strtoll(total + strlen("total="), NULL, 10) * NS_PER_US : -1;
}

static int read_worker_usage(
	const struct cgroup *cgroup, struct worker_usage *ret, struct error *err)
{
	ret->wait_ns = pressure_ns(cgroup, "cpu");
	ret->io_wait_ns = pressure_ns(cgroup, "io");
	return cgroup_usage(cgroup, &ret->cpu, err);
}

/* Whether the kernel has killed processes of the worker that needed more memory than it may
 * have. */
static bool is_over_memory(const struct coordinator *c, size_t k)
{
	static const char name[] = "\noom_kill ";
	_cleanup_(freep) char *events = NULL;
	const char *kills;

	if (!load_script_of(c->load, k)->memory)
		return false;
	events = path_text(c->workers[k].cgroup->fd, "memory.events");
	kills = events ? strstr(events, name) : NULL;
	return kills && strtoll(kills + strlen(name), NULL, 10) > 0;
}

/* `how`: what became of it, "": nothing yet. The limit is shown as in the load's file: "64M". */
static int say_over_memory(
	const struct coordinator *c, size_t k, const char *how, struct error *err)
{
	static const char units[] = "\0KMGT";
	int64_t limit = load_script_of(c->load, k)->memory;
	int unit = 0;

	for (; limit % 1024 == 0 && unit < 4; unit++)
		limit /= 1024;
	return error_say(err, -ECANCELED,
		"slave '%s' exceeded its memory limit, %" PRId64 "%.1s%s%s", c->workers[k].name,
		limit, units + unit, *how ? ": " : "", how);
}

/* Whether a worker has failed, or has been killed: `ended` is one that has come to its end, n:
 * none. */
static int check_workers(const struct coordinator *c, size_t ended, struct error *err)
{
	for (size_t k = 0; k < c->n; k++) {
		const char *how = c->memory->workers[k].failure;

		if (*how && is_over_memory(c, k))
			return say_over_memory(c, k, how, err);
		if (*how)
			return error_say(
				err, -ECANCELED, "slave '%s': %s", c->workers[k].name, how);
	}
	if (ended == c->n)
		return 0;
	if (is_over_memory(c, ended))
		return say_over_memory(c, ended, "it was killed", err);
	return error_say(err, -ECANCELED,
		"slave '%s' was killed by a user, or by the kernel for lack of memory "
		"(see 'dmesg')",
		c->workers[ended].name);
}

/* Sleeps until something has happened: a worker has told, or ended, or a signal has come; at the
 * latest until the deadline, or until the accounting is to be read again. *ret_ended: a child
 * process has ended. -EINTR: a signal came for this process. */
static int wait_for_news(
	const struct coordinator *c, int64_t left_ns, bool *ret_ended, struct error *err)
{
	struct accounting *accounting = c->observer->accounting;
	struct pollfd fds[] = {
		{.fd = c->socket, .events = POLLIN},
		{.fd = interrupt_fd, .events = POLLIN},
		{.fd = interrupt_child_fd, .events = POLLIN},
		{.fd = accounting_state(accounting)->poll_fd, .events = POLLIN},
	};
	int64_t left_ms = left_ns / NS_PER_MS + 1;
	int drain_ms = accounting_state(accounting)->poll_ms;
	char byte;

	left_ms = left_ms < 1000000 ? left_ms : 1000000;
	if (drain_ms >= 0 && drain_ms < left_ms)
		left_ms = drain_ms;
	if (poll(fds, ELEMENTS(fds), (int)left_ms) < 0 && errno != EINTR)
		return error_os(err, -errno, "cannot wait for the slaves");
	if (interrupt_pending())
		return -EINTR;
	while (recv(c->socket, &byte, 1, MSG_DONTWAIT) > 0)
		;
	*ret_ended = fds[2].revents;
	return accounting_drain(accounting, err);
}

/* Until all workers have counted up `counter`. */
static int wait_for_all(
	struct coordinator *c, const uint32_t *counter, const char *what, struct error *err)
{
	while (__atomic_load_n(counter, __ATOMIC_ACQUIRE) < c->n) {
		int64_t now_ns = clock_ns(CLOCK_MONOTONIC);
		size_t ended = c->n;
		bool has_ended = false;
		int r;

		if (now_ns >= c->deadline_ns)
			return error_say(err, -ETIMEDOUT,
				"the load had not %s after %s: see 'timeout' in emp-load(1)", what,
				text_duration(c->load->timeout_ns));
		r = wait_for_news(c, c->deadline_ns - now_ns, &has_ended, err);

		/* Workers do not end by themselves: they repeat their work, or wait. */
		if (r == 0 && has_ended) {
			interrupt_drain(interrupt_child_fd);
			r = program_wait_any(c->programs, c->n,
				clock_ns(CLOCK_MONOTONIC) + NS_PER_MS, &ended, err);
		}
		if (r == 0)
			r = check_workers(c, ended, err);
		if (r < 0)
			return r;
	}
	return 0;
}

int64_t idle_time_ns(const cpu_set_t *cpus, int root_fd, int *ret_n)
{
	_cleanup_(freep) char *text = path_text(root_fd, "/proc/stat");
	int64_t ticks = 0;

	*ret_n = 0;
	for (char *rest = text, *line; (line = strsep(&rest, "\n"));) {
		long long idle, io_wait;
		int cpu;

		if (!strncmp(line, "cpu ", 4) || /* of all CPUs; its first number is a time */
			sscanf(line, "cpu%d %*d %*d %*d %lld %lld", &cpu, &idle, &io_wait) != 3 ||
			cpu < 0 || cpu >= CPU_SETSIZE || !CPU_ISSET(cpu, cpus))
			continue;
		ticks += idle + io_wait;
		++*ret_n;
	}
	return *ret_n > 0 ? ticks * (NS_PER_S / sysconf(_SC_CLK_TCK)) : -1;
}

static int64_t grown(int64_t before, int64_t after)
{
	return before < 0 || after < before ? -1 : after - before;
}

/* How many repetitions a worker has completed, and the end of the last of them. The worker may be
 * completing another meanwhile. */
static int64_t read_repetitions(const struct worker_state *state, int64_t *ret_last_ns)
{
	int64_t n;

	do {
		n = __atomic_load_n(&state->repetitions, __ATOMIC_ACQUIRE);
		*ret_last_ns = __atomic_load_n(&state->last_ns[n % 2], __ATOMIC_ACQUIRE);
	} while (__atomic_load_n(&state->repetitions, __ATOMIC_ACQUIRE) != n);
	return n;
}

/* What a worker did, up to now. start_ns: when all were released. */
static int end_worker_statistics(struct coordinator *c, size_t k, int64_t start_ns,
	struct sample_program *ret, struct error *err)
{
	const struct worker_process *w = &c->workers[k];
	const struct worker_usage *before = &w->before;
	const struct worker_state *state = &c->memory->workers[k];
	struct worker_usage now;
	int64_t last_ns, n = read_repetitions(state, &last_ns);
	int r = read_worker_usage(w->cgroup, &now, err);
	int rest = cgroup_signal(w->cgroup, 0, err) - 1;

	if (r < 0)
		return r;
	*ret = (struct sample_program){
		.sample = c->result->start.sample,
		.program = (uint32_t)k + 1,
		.start_ns = start_ns + state->started_ns - c->released_ns,
		.finished_ns = state->finished_ns - c->released_ns,
		.et_ns = last_ns - c->released_ns,
		.repetitions = n,
		.pt_ns = now.cpu.usage_ns - before->cpu.usage_ns,
		.user_ns = now.cpu.user_ns - before->cpu.user_ns,
		.system_ns = now.cpu.system_ns - before->cpu.system_ns,
		.wait_ns = grown(before->wait_ns, now.wait_ns),
		.io_wait_ns = grown(before->io_wait_ns, now.io_wait_ns),
		.major_faults = state->major_faults,
		.max_rss_bytes = state->max_rss_bytes,
		.exit_status = -1,
	};
	/* a worker that repeats its work has its commands besides */
	if (c->load->coordination != LOAD_CONSTANT && rest > 0)
		ret->left_behind = rest;
	return 0;
}

/* Into the result; their sum into *ret. */
static int end_statistics(struct coordinator *c, struct exec_result *ret, struct error *err)
{
	struct load_sample *start = &c->result->start;
	int n_cpus;

	if (c->waits)
		c->waits[1] = *c->session->page_wait_meter->sums;
	start->idle_ns = grown(c->idle_ns, idle_time_ns(&c->load->cpus, AT_FDCWD, &n_cpus));
	start->cpus = start->idle_ns < 0 ? -1 : n_cpus;

	for (size_t k = 0; k < c->n; k++) {
		struct sample_program *part = &c->result->parts[k];
		int r = end_worker_statistics(c, k, ret->start_ns, part, err);

		if (r < 0)
			return r;
		ret->pt_ns += part->pt_ns;
		ret->user_ns += part->user_ns;
		ret->system_ns += part->system_ns;
		ret->left_behind += part->left_behind;
		if (part->max_rss_bytes > ret->max_rss_bytes)
			ret->max_rss_bytes = part->max_rss_bytes;
	}
	return 0;
}

/* Begins to measure the CPU time of all workers, and what they wait for. */
static int begin_statistics(struct coordinator *c, struct error *err)
{
	const struct page_wait_meter *meter = c->session->page_wait_meter;
	int r = 0, n_cpus;

	for (size_t k = 0; r == 0 && k < c->n; k++)
		r = read_worker_usage(c->workers[k].cgroup, &c->workers[k].before, err);
	if (r == 0 && meter) {
		c->waits = xcalloc(2, sizeof(*c->waits));
		privilege_raise();
		r = page_wait_meter_set(meter, c->all->fd, err);
		privilege_lower();
		if (r == 0)
			c->waits[0] = *meter->sums;
	}
	c->idle_ns = idle_time_ns(&c->load->cpus, AT_FDCWD, &n_cpus);
	return r;
}

/* The policy that this process had before it ran in real time for a moment. */
struct real_time {
	bool raised;
	int policy;
	struct sched_param param;
};

/* If it may; a process that has a real-time policy keeps it. */
static struct real_time real_time_begin(void)
{
	static const struct sched_param first = {.sched_priority = 1};
	struct real_time before = {.policy = sched_getscheduler(0)};
	int kind = before.policy & ~SCHED_RESET_ON_FORK,
	    with_reset = SCHED_FIFO | (before.policy & SCHED_RESET_ON_FORK);

	if (before.policy < 0 || (kind != SCHED_OTHER && kind != SCHED_BATCH && kind != SCHED_IDLE))
		return before;
	if (sched_getparam(0, &before.param) == 0)
		before.raised = sched_setscheduler(0, with_reset, &first) == 0;
	return before;
}

/* Releases all workers in real time, if this process may have it, so that nothing comes between the
 * first worker and the last. */
static void release_workers(struct coordinator *c)
{
	struct real_time real_time = real_time_begin();

	c->released_ns = clock_ns(CLOCK_MONOTONIC_RAW);
	__atomic_store_n(&c->memory->go, 1, __ATOMIC_RELEASE);
	syscall(SYS_futex, &c->memory->go, FUTEX_WAKE, INT_MAX);
	c->result->start.release_ns = clock_ns(CLOCK_MONOTONIC_RAW) - c->released_ns;
	if (real_time.raised)
		sched_setscheduler(0, real_time.policy, &real_time.param);
}

/* From the release of all workers to the end of the last one's share: *ret is that of
 * observe_begin. */
static int run_workers(struct coordinator *c, struct exec_result *ret, struct error *err)
{
	int64_t begin_ns, end_ns;
	int r;

	ret->wait_before_ns = ret->wait_ns = 0; /* as if none had waited: see the parts */
	r = begin_statistics(c, err);
	if (r < 0)
		return r;
	ret->start_ns = clock_ns(CLOCK_REALTIME);
	begin_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	release_workers(c);
	r = wait_for_all(c, &c->memory->finished, "finished", err);
	end_ns = clock_ns(CLOCK_MONOTONIC_RAW);
	c->result->start.driver_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - begin_ns;
	ret->et_ns = end_ns - c->released_ns;
	if (r == 0)
		r = end_statistics(c, ret, err);

	/* what a command started may have been killed and not missed */
	for (size_t k = 0; r == 0 && k < c->n; k++)
		if (is_over_memory(c, k) && !load_script_of(c->load, k)->ignore_failure)
			r = say_over_memory(c, k, "", err);
	return r;
}

/* What the page waits of one kind have grown by. */
static void record_page_waits(struct coordinator *c, enum page_wait_kind kind)
{
	const struct page_wait_sums *before = &c->waits[0], *after = &c->waits[1];
	struct page_waits *to = &c->result->page_waits;
	struct page_wait *all = array_add(to->items, to->n);

	*all = (struct page_wait){
		.sample = c->result->start.sample,
		.kind = kind,
		.ready_ns = -1,
		.lost = (int64_t)(after->lost[kind] - before->lost[kind]),
	};
	if (kind == PAGE_WAIT_WORKER)
		all->ready_ns = (int64_t)(after->ready_ns - before->ready_ns);

	for (uint32_t i = 0; i < N_PAGE_WAIT_BINS; i++) {
		const struct page_wait_sum *was = &before->bins[kind][i];
		const struct page_wait_sum *is = &after->bins[kind][i];
		struct page_wait_bin *bin;

		if (is->count == was->count)
			continue;
		bin = array_add(to->bins, to->n_bins);
		*bin = (struct page_wait_bin){
			.sample = all->sample,
			.kind = kind,
			.low_ns = (int64_t)page_wait_bin_from(i),
			.high_ns = -1,
			.count = (int64_t)(is->count - was->count),
			.total_ns = (int64_t)(is->total_ns - was->total_ns),
		};
		if (i + 1 < N_PAGE_WAIT_BINS)
			bin->high_ns = (int64_t)page_wait_bin_from(i + 1);
		all->count += bin->count;
		all->total_ns += bin->total_ns;
	}
}

/* The teardown of a worker, in its directory and environment, by this process. NULL: there is
 * nothing to tear down. The caller frees it. */
static char *worker_teardown(const struct coordinator *c, size_t k)
{
	const struct script *script = load_script_of(c->load, k);
	const struct worker_state *state = &c->memory->workers[k];
	_cleanup_(freep) char *number = NULL, *directory = NULL, *export = NULL;

	if (!script->teardown || !state->is_set_up || state->is_torn_down)
		return NULL;
	number = text_format("EMP_LOAD_SLAVE=%zu", k + 1);
	directory = text_format("TMPDIR=%s", c->workers[k].directory);
	export = argv_join((char *[]){(char *)"export", number, directory, NULL});
	return text_format("%s; cd \"$TMPDIR\" && { %s\n}", export, script->teardown);
}

/* What was set up, also after a failure: a setup may start a server. The first failure is
 * reported. */
static int tear_down(const struct coordinator *c, struct error *err)
{
	bool show_output = c->session->options->show_output;
	int outcome = 0, r = 0;

	for (size_t k = 0; c->memory && k < c->n; k++) {
		_cleanup_(freep) char *command = worker_teardown(c, k);

		if (!command)
			continue;
		r = hook_run(command, NULL, show_output, "teardown", outcome ? NULL : err);
		outcome = outcome ?: r;
	}
	if (c->is_set_up && c->load->teardown)
		r = hook_run(
			c->load->teardown, NULL, show_output, "teardown", outcome ? NULL : err);
	return outcome ?: r;
}

/* By force: most are at work. */
static void end_workers(struct coordinator *c)
{
	if (!c->workers)
		return;
	cgroup_kill(c->all, NULL);
	for (size_t k = 0; k < c->n; k++)
		program_free(TAKE(c->programs[k]));
	for (size_t k = 0; k < c->n; k++)
		cgroup_free(TAKE(c->workers[k].cgroup));
	cgroup_renew(c->all, NULL);
}

static void coordinator_clear(struct coordinator *c)
{
	end_workers(c);
	for (size_t k = 0; c->workers && k < c->n; k++) {
		free(c->workers[k].directory);
		free(c->workers[k].name);
	}
	if (c->directory_fd >= 0)
		leftover_directory_remove(c->directory);
	closep(&c->directory_fd);
	free(c->directory);
	if (c->memory)
		munmap(c->memory, c->memory_size);
	free(c->workers);
	free(c->programs);
	free(c->waits);
	closep(&c->memory_fd);
	closep(&c->socket);
	closep(&c->workers_socket);
}

/* From one snapshot of all processes to the next. */
static int observe_workers(struct coordinator *c, struct error *err)
{
	const struct command_spec all = {
		.cpu = -1, .cgroup = c->all, .accounting = c->observer->accounting};
	struct raw_sample *raw = &c->result->raw;
	int r = observe_begin(&all, c->observer->counters, raw, err);

	if (r == 0)
		r = run_workers(c, &raw->exec, err);
	if (r == 0)
		r = observe_end(&all, c->observer->counters, raw, err);
	raw->usages.wait_ns = -1; /* mostly for each other: see the workers' own */
	for (enum page_wait_kind kind = 0; r == 0 && c->waits && kind < N_PAGE_WAIT_KINDS; kind++)
		if (kind == PAGE_WAIT_WORKER || c->session->page_wait_meter->has_devices)
			record_page_waits(c, kind);
	return r;
}

int load_run_once(const struct load_session *session, uint32_t sample, struct load_result *ret,
	struct error *err)
{
	_cleanup_(load_result_clear) struct load_result result = {.start.sample = sample};
	_cleanup_(coordinator_clear) struct coordinator c = {
		.session = session,
		.load = &session->load,
		.observer = &session->base.observer,
		.all = session->base.observer.cgroup,
		.n = session->work.n_programs,
		.result = &result,
		.directory_fd = -1,
		.memory_fd = -1,
		.socket = -1,
		.workers_socket = -1,
	};
	bool show_output = session->options->show_output;
	int r, torn_down;

	if (!c.all) {
		*err = c.observer->no_cgroup;
		return error_prefix(err, -ENOTSUP,
			"a load needs a cgroup for each slave ('systemd-run --user --scope "
			"-p Delegate=yes' provides them)");
	}

	r = coordinator_prepare(&c, err);
	if (r == 0 && c.load->setup)
		r = hook_run(c.load->setup, NULL, show_output, "setup", err);
	c.is_set_up = r == 0;
	c.deadline_ns = clock_ns(CLOCK_MONOTONIC) + c.load->timeout_ns;
	if (r == 0)
		r = load_limits_pass_on(session->limits, c.all, err);
	for (size_t k = 0; r == 0 && k < c.n; k++)
		r = interrupt_pending() ? -EINTR : start_worker(&c, k, err);
	if (r == 0)
		r = wait_for_all(&c, &c.memory->ready, "been set up", err);
	if (r == 0)
		r = observe_workers(&c, err);

	end_workers(&c);
	torn_down = tear_down(&c, r < 0 ? NULL : err);
	r = r < 0 ? r : torn_down;
	if (r < 0)
		return r;
	*ret = TAKE_STRUCT(result);
	return 0;
}

void load_result_clear(struct load_result *result)
{
	free(result->parts);
	page_waits_clear(&result->page_waits);
	*result = (struct load_result){};
}
