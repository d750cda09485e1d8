/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The coordinator of a load: see session.h. */
#include "lib/load/session.h"

#include "lib/base/argv.h"
#include "lib/base/number.h"
#include "lib/base/text.h"
#include "lib/base/xalloc.h"
#include "lib/host/process/subprocess.h"
#include "lib/host/process/privilege.h"
#include "lib/host/process/signals.h"
#include "lib/host/cpu/cpus.h"
#include "lib/host/system/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>

struct worker_process {
	struct cgroup *cgroup;
	struct program *program;
	struct spawn spawn;
	char *directory, *name;
	char number[24];
	char *argv[5];
	struct cgroup_usage usage; /* when the measurement started */
	int64_t wait_ns, io_wait_ns;
};

/* What the coordinator holds during one run of the load. */
struct coordinator {
	const struct load_plan *plan;
	const struct load *load;
	char *directory; /* DIRECTORY/emp-load-XXXXXX, with one for each worker; locked, so that the next run can remove what a killed one left */
	int directory_fd;
	struct cgroup *all; /* the workers' cgroups are in it */
	struct worker_memory *memory;
	int memory_fd, socket, workers_socket; /* all workers have the same one */
	struct worker_process *workers;
	struct program **programs; /* of the workers, for program_wait_any */
	size_t n;
	cpu_set_t cpus;               /* that the workers may use */
	int64_t idle_ns;              /* of them, when the measurement started; -1: not known */
	struct page_wait_sums *waits; /* [2]: when it started, and ended; NULL: they are not watched */
	bool is_set_up;               /* by the load's own setup */
	int64_t deadline_ns;          /* CLOCK_MONOTONIC */
	int64_t released_ns;          /* CLOCK_MONOTONIC_RAW */
	struct load_result *result;
};

int real_time_begin(struct real_time *ret)
{
	static const struct sched_param first = {.sched_priority = 1};
	int policy = sched_getscheduler(0), kind = policy & ~SCHED_RESET_ON_FORK;

	*ret = (struct real_time){.policy = policy};
	if (policy < 0 || sched_getparam(0, &ret->param) < 0)
		return -errno;
	if (kind != SCHED_OTHER && kind != SCHED_BATCH && kind != SCHED_IDLE)
		return 0;
	if (sched_setscheduler(0, SCHED_FIFO | (policy & SCHED_RESET_ON_FORK), &first) < 0)
		return -errno;
	ret->raised = true;
	return 0;
}

void real_time_end(const struct real_time *r)
{
	if (r->raised)
		sched_setscheduler(0, r->policy, &r->param);
}

int load_allowed_cpus(const struct load *load, cpu_set_t *ret, struct error *err)
{
	*ret = load->cpus;
	if (!load->cpu_list && sched_getaffinity(0, sizeof(*ret), ret) < 0)
		return error_os(err, -errno, "cannot read which CPUs may be used");
	return 0;
}

static int coordinator_prepare(struct coordinator *c, struct error *err)
{
	_cleanup_(freep) char *below = NULL;
	bool is_locked = false;
	int sockets[2], r;
	struct stat st;

	c->workers = xcalloc(c->n, sizeof(*c->workers));
	c->programs = xcalloc(c->n, sizeof(struct program *));
	c->result->parts = xcalloc(c->n, sizeof(*c->result->parts));
	c->result->n = c->n;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) < 0)
		return error_os(err, -errno, "cannot make a socket for the slaves");
	c->socket = sockets[0];
	c->workers_socket = sockets[1];
	/* The directory, after the abandoned directories of others are removed. */
	below = realpath(c->load->directory, NULL); /* workers enter their own */
	if (!below)
		return error_os(err, -errno, "cannot make a directory in '%s'", c->load->directory);
	leftovers_remove_directories(below);
	for (int i = 0; !is_locked; i++) {
		if (i == 100)
			return error_os(err, -EAGAIN, "cannot make a directory in '%s'", c->load->directory);
		free(c->directory);
		closep(&c->directory_fd);
		c->directory_fd = -1;
		c->directory = leftover_directory_name(below);
		if (!mkdtemp(c->directory))
			return error_os(err, -errno, "cannot make a directory in '%s'", c->load->directory);
		/* between mkdtemp and the lock, a neighbour may take the new one for abandoned */
		c->directory_fd = open(c->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		is_locked = c->directory_fd >= 0 && flock(c->directory_fd, LOCK_EX | LOCK_NB) == 0 &&
			    fstat(c->directory_fd, &st) == 0 && st.st_nlink > 0;
	}
	r = worker_memory_new(&c->memory, &c->memory_fd, c->load, c->plan->text, err);
	if (r < 0)
		return r;
	c->memory->coordination = c->load->coordination;
	c->memory->coordinator = getpid();
	c->memory->show_output = c->plan->show_output;
	return 0;
}

static int start_worker(struct coordinator *c, size_t k, struct error *err)
{
	struct worker_process *w = &c->workers[k];
	char *const argv[] = {(char *)"emp-load", (char *)"slave", w->number, NULL, NULL};
	int r;

	snprintf(w->number, sizeof(w->number), "%zu", k);
	w->name = load_slave_name(c->load, k);
	w->directory = text_format("%s/%s", c->directory, w->number);
	if (mkdir(w->directory, 0700) < 0)
		return error_os(err, -errno, "cannot make the directory '%s'", w->directory);
	r = cgroup_new_in(&w->cgroup, c->all->path, err);
	if (r == 0) {
		const struct script *script = load_script_of(c->load, k);

		if (script->weight)
			r = cgroup_set(w->cgroup, "cpu.weight", script->weight, err);
		else if (script->nice && faccessat(w->cgroup->fd, "cpu.weight.nice", F_OK, 0) == 0)
			/* with a weight the nice values of processes only count within the cgroup */
			r = cgroup_set(w->cgroup, "cpu.weight.nice", script->nice, err);
		r = r == 0 && script->memory ? cgroup_set(w->cgroup, "memory.max", script->memory, err) : r;
	}
	if (r == 0)
		r = worker_memory_send(c->socket, c->memory_fd, err);
	if (r < 0)
		return r;
	memcpy(w->argv, argv, sizeof(w->argv));
	w->argv[3] = w->directory;
	w->spawn = (struct spawn){
		.argv = w->argv,
		.path = "/proc/self/exe",
		.cpu = -1,
		.affinity = c->load->cpu_list ? &c->load->cpus : NULL,
		.new_session = true,
		.stdin_fd = c->workers_socket,
		.stdout_fd = -1,
		.stderr_fd = -1,
		.cgroup = w->cgroup,
		.accounting = c->plan->observer->accounting,
	};
	r = program_start(&w->program, &w->spawn, err);
	c->programs[k] = w->program;
	return r;
}

/* Whether the kernel has killed processes of the worker that needed more memory than it may have. */
static bool is_over_memory(const struct coordinator *c, size_t k)
{
	return load_script_of(c->load, k)->memory && cgroup_oom_kills(c->workers[k].cgroup) > 0;
}

/* `how`: what became of it, "": nothing yet. The limit is shown as in the load's file: "64M". */
static int say_over_memory(const struct coordinator *c, size_t k, const char *how, struct error *err)
{
	static const char units[] = "\0KMGT";
	int64_t limit = load_script_of(c->load, k)->memory;
	int unit = 0;

	for (; limit % 1024 == 0 && unit < 4; unit++)
		limit /= 1024;
	return error_say(err, -ECANCELED, "slave '%s' exceeded its memory limit, %" PRId64 "%.1s%s%s",
		c->workers[k].name, limit, units + unit, *how ? ": " : "", how);
}

static int check_failures(const struct coordinator *c, struct error *err)
{
	for (size_t k = 0; k < c->n; k++) {
		const char *how = c->memory->workers[k].failure;

		if (*how && is_over_memory(c, k))
			return say_over_memory(c, k, how, err);
		if (*how)
			return error_say(err, -ECANCELED, "slave '%s': %s", c->workers[k].name, how);
	}
	return 0;
}

/* Until all workers have counted up `counter`. Sleeps until something has happened: a worker has told, or ended, or a signal has
 * come. */
static int wait_for_all(struct coordinator *c, const uint32_t *counter, const char *what, struct error *err)
{
	struct accounting *a = c->plan->observer->accounting;
	char byte;

	while (__atomic_load_n(counter, __ATOMIC_ACQUIRE) < c->n) {
		struct pollfd fds[] = {
			{.fd = c->socket, .events = POLLIN},
			{.fd = interrupt_fd(), .events = POLLIN},
			{.fd = interrupt_child_fd(), .events = POLLIN},
			{.fd = accounting_poll_fd(a), .events = POLLIN},
		};
		int64_t now_ns = clock_ns(CLOCK_MONOTONIC),
			left_ms = (c->deadline_ns - now_ns) / NS_PER_MS + 1;
		int drain_ms = accounting_poll_ms(a), r;
		size_t over;

		if (now_ns >= c->deadline_ns)
			return error_say(err, -ETIMEDOUT,
				"the load had not %s after %s: see 'timeout' in emp-load(1)", what,
				text_duration(c->load->timeout_ns));
		/* Until the deadline, or until the accounting is to be read again. */
		left_ms = left_ms < 1000000 ? left_ms : 1000000;
		if (drain_ms >= 0 && drain_ms < left_ms)
			left_ms = drain_ms;
		if (poll(fds, ELEMENTS(fds), (int)left_ms) < 0 && errno != EINTR)
			return error_os(err, -errno, "cannot wait for the slaves");
		if (interrupt_pending())
			return -EINTR;
		while (recv(c->socket, &byte, 1, MSG_DONTWAIT) > 0)
			;
		r = accounting_drain(a, err);
		if (r == 0)
			r = check_failures(c, err);
		if (r < 0)
			return r;
		if (!fds[2].revents)
			continue;
		interrupt_child_clear();
		/* Workers do not end by themselves: they repeat their work, or wait. */
		r = program_wait_any(c->programs, c->n, clock_ns(CLOCK_MONOTONIC) + NS_PER_MS, &over, err);
		if (r == 0)
			r = check_failures(c, err);
		if (r < 0)
			return r;
		if (over < c->n)
			return is_over_memory(c, over)
				       ? say_over_memory(c, over, "it was killed", err)
				       : error_say(err, -ECANCELED,
						 "slave '%s' was killed by a user, or by the kernel for lack of memory (see 'dmesg')",
						 c->workers[over].name);
	}
	return 0;
}

static int64_t grown(int64_t before, int64_t after)
{
	return before < 0 || after < before ? -1 : after - before;
}

/* Into the result; their sum into *ret. */
static int end_statistics(struct coordinator *c, struct spawned *ret, struct error *err)
{
	struct load_sample *start = &c->result->start;
	int n_cpus;

	if (c->waits)
		c->waits[1] = *c->plan->page_waits->sums;
	start->idle_ns = grown(c->idle_ns, idle_time_ns(&c->cpus, AT_FDCWD, &n_cpus));
	start->cpus = start->idle_ns < 0 ? -1 : n_cpus;
	for (size_t k = 0; k < c->n; k++) {
		const struct worker_process *w = &c->workers[k];
		const struct worker_state *state = &c->memory->workers[k];
		struct sample_program *part = &c->result->parts[k];
		struct cgroup_usage usage;
		int64_t last_ns, n;
		int r, rest;

		/* The complete repetitions, and the end of the last of them; the worker may be completing another. */
		do {
			n = __atomic_load_n(&state->repetitions, __ATOMIC_ACQUIRE);
			last_ns = __atomic_load_n(&state->last_ns[n % 2], __ATOMIC_ACQUIRE);
		} while (__atomic_load_n(&state->repetitions, __ATOMIC_ACQUIRE) != n);
		r = cgroup_usage(w->cgroup, &usage, err);
		rest = cgroup_count(w->cgroup, err) - 1;
		if (r < 0)
			return r;
		*part = (struct sample_program){
			.sample = start->sample,
			.program = (uint32_t)k + 1,
			.start_ns = ret->start_ns + state->started_ns - c->released_ns,
			.finished_ns = state->finished_ns - c->released_ns,
			.et_ns = last_ns - c->released_ns,
			.repetitions = n,
			.pt_ns = usage.usage_ns - w->usage.usage_ns,
			.user_ns = usage.user_ns - w->usage.user_ns,
			.system_ns = usage.system_ns - w->usage.system_ns,
			.wait_ns = grown(w->wait_ns, cgroup_pressure_ns(w->cgroup, "cpu")),
			.io_wait_ns = grown(w->io_wait_ns, cgroup_pressure_ns(w->cgroup, "io")),
			.major_faults = state->major_faults,
			.max_rss_bytes = state->max_rss_bytes,
			.exit_status = -1,
			/* one that repeats its work has its commands besides */
			.left_behind = c->load->coordination != LOAD_CONSTANT && rest > 0 ? rest : 0,
		};
		ret->pt_ns += part->pt_ns;
		ret->user_ns += part->user_ns;
		ret->system_ns += part->system_ns;
		ret->left_behind += part->left_behind;
		if (part->max_rss_bytes > ret->max_rss_bytes)
			ret->max_rss_bytes = part->max_rss_bytes;
	}
	return 0;
}

/* From the release of all workers to the end of the last one's share. They are released in real time, if this process may have
 * it, so that nothing comes between the first worker and the last. */
static int run_workers(struct coordinator *c, struct spawned *ret, struct error *err)
{
	const struct page_wait_meter *meter = c->plan->page_waits;
	struct real_time real_time;
	int64_t begin_ns, end_ns;
	int r, n_cpus;

	*ret = (struct spawned){};
	/* Begin to measure the CPU time of all workers, and what they wait for. */
	r = load_allowed_cpus(c->load, &c->cpus, err);
	for (size_t k = 0; r == 0 && k < c->n; k++) {
		struct worker_process *w = &c->workers[k];

		w->wait_ns = cgroup_pressure_ns(w->cgroup, "cpu");
		w->io_wait_ns = cgroup_pressure_ns(w->cgroup, "io");
		r = cgroup_usage(w->cgroup, &w->usage, err);
	}
	if (r == 0 && meter) {
		c->waits = xcalloc(2, sizeof(*c->waits));
		privilege_raise();
		r = page_wait_meter_set(meter, c->all->fd, err);
		privilege_lower();
		if (r == 0)
			c->waits[0] = *meter->sums;
	}
	c->idle_ns = idle_time_ns(&c->cpus, AT_FDCWD, &n_cpus);
	if (r < 0)
		return r;
	ret->start_ns = clock_ns(CLOCK_REALTIME);
	begin_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	real_time_begin(&real_time);
	c->released_ns = clock_ns(CLOCK_MONOTONIC_RAW);
	worker_memory_release(c->memory);
	c->result->start.release_ns = clock_ns(CLOCK_MONOTONIC_RAW) - c->released_ns;
	real_time_end(&real_time);
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
static void record_page_waits(struct coordinator *c, enum page_wait_kind kind, enum page_wait_histogram from)
{
	const struct page_wait_sums *before = &c->waits[0], *after = &c->waits[1];
	struct page_waits *to = &c->result->page_waits;
	struct page_wait all = {.sample = c->result->start.sample, .kind = kind, .ready_ns = -1};

	if (kind == PAGE_WAIT_SLAVE)
		all.ready_ns = (int64_t)(after->ready_ns - before->ready_ns);
	all.lost = (int64_t)(after->lost[from] - before->lost[from]);
	for (uint32_t i = 0; i < N_PAGE_WAIT_BINS; i++) {
		const struct page_wait_sum *was = &before->bins[from][i], *is = &after->bins[from][i];
		struct page_wait_bin *bin;

		if (is->count == was->count)
			continue;
		bin = array_add(to->bins, to->n_bins);
		*bin = (struct page_wait_bin){
			.sample = all.sample,
			.kind = kind,
			.low_ns = (int64_t)page_wait_bin_from(i),
			.high_ns = i + 1 < N_PAGE_WAIT_BINS ? (int64_t)page_wait_bin_from(i + 1) : -1,
			.count = (int64_t)(is->count - was->count),
			.total_ns = (int64_t)(is->total_ns - was->total_ns),
		};
		all.count += bin->count;
		all.total_ns += bin->total_ns;
	}
	*array_add(to->items, to->n) = all;
}

/* What was set up, also after a failure: a setup may start a server. The first failure is reported. */
static int tear_down(const struct coordinator *c, struct error *err)
{
	struct error err2 = {};
	int r = 0, outcome = 0;

	for (size_t k = 0; c->memory && k < c->n; k++) {
		const struct script *script = load_script_of(c->load, k);
		const struct worker_state *state = &c->memory->workers[k];
		_cleanup_(freep) char *directory = NULL, *export = NULL, *command = NULL;
		char number[64];

		/* The teardown of a worker, in its directory and environment, by this process. */
		if (!script->teardown || !state->is_set_up || state->is_torn_down) {
			r = 0;
		} else {
			snprintf(number, sizeof(number), "EMP_LOAD_SLAVE=%zu", k + 1);
			directory = text_format("TMPDIR=%s", c->workers[k].directory);
			export = argv_join((char *[]){(char *)"export", number, directory, NULL});
			command = text_format("%s; cd \"$TMPDIR\" && { %s\n}", export, script->teardown);
			r = hook_run(command, NULL, c->plan->show_output, "teardown", outcome ? &err2 : err);
		}
		outcome = outcome ?: r;
	}
	if (c->is_set_up && c->load->teardown)
		r = hook_run(
			c->load->teardown, NULL, c->plan->show_output, "teardown", outcome ? &err2 : err);
	return outcome ?: r;
}

/* By force: most are at work. */
static void end_workers(struct coordinator *c)
{
	struct error err2;

	if (!c->workers)
		return;
	cgroup_kill(c->all, &err2);
	for (size_t k = 0; k < c->n; k++)
		program_free(TAKE(c->workers[k].program));
	for (size_t k = 0; k < c->n; k++)
		cgroup_free(TAKE(c->workers[k].cgroup));
	cgroup_renew(c->all, &err2);
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
	worker_memory_free(c->memory);
	free(c->workers);
	free(c->programs);
	free(c->waits);
	closep(&c->memory_fd);
	closep(&c->socket);
	closep(&c->workers_socket);
}

int load_run_once(const struct load_plan *plan, uint32_t sample, struct load_result *ret, struct error *err)
{
	_cleanup_(load_result_clear) struct load_result result = {.start.sample = sample};
	_cleanup_(coordinator_clear) struct coordinator c = {
		.plan = plan,
		.load = plan->load,
		.all = plan->observer->cgroup,
		.n = load_slaves(plan->load),
		.result = &result,
		.directory_fd = -1,
		.memory_fd = -1,
		.socket = -1,
		.workers_socket = -1,
	};
	struct error err2 = {};
	int r, torn_down;

	if (!c.all) {
		*err = plan->observer->no_cgroup;
		return error_prefix(err, -ENOTSUP,
			"a load needs a cgroup for each slave ('systemd-run --user --scope -p Delegate=yes' provides them)");
	}
	r = coordinator_prepare(&c, err);
	if (r == 0) {
		r = c.load->setup ? hook_run(c.load->setup, NULL, c.plan->show_output, "setup", err) : 0;
		c.is_set_up = r == 0;
		c.deadline_ns = clock_ns(CLOCK_MONOTONIC) + c.load->timeout_ns;
		if (r == 0)
			r = load_limits_pass_on(c.plan->limits, c.all, err);
		for (size_t k = 0; r == 0 && k < c.n; k++)
			r = interrupt_pending() ? -EINTR : start_worker(&c, k, err);
		r = r == 0 ? wait_for_all(&c, &c.memory->ready, "been set up", err) : r;
	}
	if (r == 0) {
		static const enum page_wait_histogram from[N_PAGE_WAIT_KINDS] = {
			[PAGE_WAIT_SLAVE] = PAGE_WAITS_OF_TASKS,
			[PAGE_WAIT_READ] = PAGE_WAITS_OF_READS,
			[PAGE_WAIT_WRITE] = PAGE_WAITS_OF_WRITES,
		};
		const struct observer *observer = c.plan->observer;
		const struct spawn all = {.cpu = -1, .cgroup = c.all, .accounting = observer->accounting};
		struct observation *observation = &c.result->observation;

		r = observe_begin(&all, observer->counters, observation, err);
		if (r == 0)
			r = run_workers(&c, &observation->spawned, err);
		if (r == 0)
			r = observe_end(&all, observer->counters, observation, err);
		observation->usages.wait_ns = -1; /* mostly for each other: see the workers' own */
		for (enum page_wait_kind kind = 0; r == 0 && c.waits && kind < N_PAGE_WAIT_KINDS; kind++)
			if (kind == PAGE_WAIT_SLAVE || c.plan->page_waits->has_devices)
				record_page_waits(&c, kind, from[kind]);
	}
	end_workers(&c);
	torn_down = tear_down(&c, r < 0 ? &err2 : err);
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
