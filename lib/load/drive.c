/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The driver of a load: see drive.h. */
#include "lib/load/driver.h"
#include "lib/base/xalloc.h"
#include "lib/load/real_time.h"
#include "lib/load/slave.h"
#include "lib/load/slave_limits.h"

#include "lib/base/argv.h"
#include "lib/base/clock.h"
#include "lib/host/process/signals.h"
#include "lib/host/process/subprocess.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

static int64_t raw_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC_RAW);
}

static int make_places(struct driver *d, struct error *err)
{
	int sockets[2], r;

	d->slaves = xcalloc(d->n, sizeof(*d->slaves));
	d->programs = xcalloc(d->n, sizeof(*d->programs));
	d->result->slaves = xcalloc(d->n, sizeof(*d->result->slaves));
	d->result->n = d->n;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) < 0)
		return error_os(err, -errno, "cannot make a socket for the slaves");
	d->socket = sockets[0];
	d->slaves_socket = sockets[1];
	r = directory_new(&d->directory, d->load->directory, err);
	if (r == 0)
		r = shared_new(&d->shared, &d->memory_fd, d->load, d->drive->text, err);
	if (r < 0)
		return r;
	d->shared->coordination = d->load->coordination;
	d->shared->driver = getpid();
	d->shared->show_output = d->drive->show_output;
	return 0;
}

static int start_slave(struct driver *d, size_t k, struct error *err)
{
	struct slave_process *s = &d->slaves[k];
	const struct script *script = load_script_of(d->load, k);
	int r;

	snprintf(s->number, sizeof(s->number), "%zu", k);
	s->name = load_slave_name(d->load, k);
	if (!s->name)
		return error_oom(err);
	r = directory_add(d->directory, s->number, &s->directory, err);
	if (r == 0)
		r = cgroup_new_in(&s->cgroup, d->all, err);
	if (r == 0)
		r = slave_limits_set(s->cgroup, script, err);
	if (r == 0)
		r = slave_send_memory(d->socket, d->memory_fd, err);
	if (r < 0)
		return r;
	memcpy(s->argv, (char *[]){(char *)"emp-load", (char *)"slave", s->number, s->directory, NULL},
		sizeof(s->argv));
	s->spawn = (struct spawn){
		.argv = s->argv,
		.path = "/proc/self/exe",
		.cpu = -1,
		.affinity = d->load->cpu_list ? &d->load->cpus : NULL,
		.new_session = true,
		.stdin_fd = d->slaves_socket,
		.stdout_fd = -1,
		.stderr_fd = -1,
		.cgroup = s->cgroup,
		.accounting = d->drive->observer->accounting,
	};
	r = program_start(&s->program, &s->spawn, err);
	d->programs[k] = s->program;
	return r;
}

static bool is_over_memory(const struct driver *d, size_t k)
{
	return slave_limits_exceeded(d->slaves[k].cgroup, load_script_of(d->load, k));
}

/* `how`: what became of it, "": nothing yet. */
static int say_over_memory(const struct driver *d, size_t k, const char *how, struct error *err)
{
	char limit[LIMIT_SIZE];

	return error_say(err, -ECANCELED, "slave '%s' exceeded its memory limit, %s%s%s", d->slaves[k].name,
		slave_limits_memory(limit, load_script_of(d->load, k)), *how ? ": " : "", how);
}

static int find_failure(const struct driver *d, struct error *err)
{
	for (size_t k = 0; k < d->n; k++) {
		const char *how = d->shared->slaves[k].failure;

		if (*how && is_over_memory(d, k))
			return say_over_memory(d, k, how, err);
		if (*how)
			return error_say(err, -ECANCELED, "slave '%s': %s", d->slaves[k].name, how);
	}
	return 0;
}

/* What a command started may have been killed and not missed. */
static int find_over_memory(const struct driver *d, struct error *err)
{
	for (size_t k = 0; k < d->n; k++)
		if (is_over_memory(d, k) && !load_script_of(d->load, k)->ignore_failure)
			return say_over_memory(d, k, "", err);
	return 0;
}

/* Slaves do not end by themselves: they repeat their work, or wait. */
static int check_ended(struct driver *d, struct error *err)
{
	size_t over;
	int r = program_wait_any(d->programs, d->n, clock_ns(CLOCK_MONOTONIC) + NS_PER_MS, &over, err);

	if (r == 0)
		r = find_failure(d, err);
	if (r < 0 || over == d->n)
		return r;
	if (is_over_memory(d, over))
		return say_over_memory(d, over, "it was killed", err);
	return error_say(err, -ECANCELED,
		"slave '%s' was killed by a user, or by the kernel for lack of memory (see 'dmesg')",
		d->slaves[over].name);
}

static int time_is_up(const struct driver *d, const char *what, struct error *err)
{
	char time[TEXT_TIME_SIZE];

	return error_say(err, -ETIMEDOUT, "the load had not %s after %s: see 'timeout' in emp-load(1)", what,
		text_duration(time, d->load->timeout_ns));
}

/* Until the deadline, or the next look at the accounting. */
static int wait_ms(const struct driver *d)
{
	int64_t left_ms = (d->deadline_ns - clock_ns(CLOCK_MONOTONIC)) / NS_PER_MS + 1;
	struct accounting *a = d->drive->observer->accounting;
	int drain_ms = a ? accounting_poll_ms(a) : -1;

	left_ms = left_ms < 0 ? 0 : left_ms;
	return drain_ms >= 0 && drain_ms < left_ms ? drain_ms : (int)(left_ms < 1000000 ? left_ms : 1000000);
}

/* Sleeps until something has happened: a slave has told, or ended, or a signal has come. */
static int sleep_once(struct driver *d, struct error *err)
{
	struct accounting *a = d->drive->observer->accounting;
	struct pollfd fds[] = {
		{.fd = d->socket, .events = POLLIN},
		{.fd = interrupt_fd(), .events = POLLIN},
		{.fd = interrupt_child_fd(), .events = POLLIN},
		{.fd = a ? accounting_poll_fd(a) : -1, .events = POLLIN},
	};
	char byte;
	int r = 0;

	if (poll(fds, ELEMENTS(fds), wait_ms(d)) < 0 && errno != EINTR)
		return error_os(err, -errno, "cannot wait for the slaves");
	if (interrupt_pending())
		return -EINTR;
	while (recv(d->socket, &byte, 1, MSG_DONTWAIT) > 0)
		;
	if (a)
		r = accounting_drain(a, err);
	if (r == 0)
		r = find_failure(d, err);
	if (r < 0 || !fds[2].revents)
		return r;
	interrupt_child_clear();
	return check_ended(d, err);
}

/* Until all slaves have counted up `counter`. */
static int wait_for_all(struct driver *d, const uint32_t *counter, const char *what, struct error *err)
{
	int r = 0;

	while (r == 0 && __atomic_load_n(counter, __ATOMIC_ACQUIRE) < d->n) {
		if (clock_ns(CLOCK_MONOTONIC) >= d->deadline_ns)
			return time_is_up(d, what, err);
		r = sleep_once(d, err);
	}
	return r;
}

static int set_up(struct driver *d, struct error *err)
{
	int r = d->load->setup ? hook_run(d->load->setup, NULL, d->drive->show_output, "setup", err) : 0;

	d->is_set_up = r == 0;
	d->deadline_ns = clock_ns(CLOCK_MONOTONIC) + d->load->timeout_ns;
	if (r == 0 && d->drive->controllers)
		r = cgroup_controllers_pass_on(d->drive->controllers, d->all, err);
	for (size_t k = 0; r == 0 && k < d->n; k++)
		r = interrupt_pending() ? -EINTR : start_slave(d, k, err);
	return r == 0 ? wait_for_all(d, &d->shared->ready, "been set up", err) : r;
}

/* In real time, if this process may have it, so that nothing comes between the first slave and the last. */
static void release(struct driver *d)
{
	struct real_time real_time;

	real_time_begin(&real_time);
	d->released_ns = raw_ns();
	shared_set(&d->shared->go);
	d->result->release_ns = raw_ns() - d->released_ns;
	real_time_end(&real_time);
}

/* From the release of all slaves to the end of the last one's share. */
static int run_slaves(void *data, struct spawned *ret, struct error *err)
{
	struct driver *d = data;
	int64_t begin_ns, end_ns;
	int r;

	*ret = (struct spawned){};
	r = meters_start(d, err);
	if (r < 0)
		return r;
	ret->start_ns = clock_ns(CLOCK_REALTIME);
	begin_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	release(d);
	r = wait_for_all(d, &d->shared->finished, "finished", err);
	end_ns = raw_ns();
	d->result->driver_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - begin_ns;
	ret->et_ns = end_ns - d->released_ns;
	if (r == 0)
		r = meters_stop(d, ret, err);
	return r == 0 ? find_over_memory(d, err) : r;
}

static int observe_slaves(struct driver *d, struct error *err)
{
	const struct spawn all = {.cpu = -1, .cgroup = d->all, .accounting = d->drive->observer->accounting};

	int r = observe_several(
		&all, d->drive->observer->counters, run_slaves, d, &d->result->observation, err);

	d->result->observation.usages.wait_ns = -1; /* mostly for each other: see the slaves' own */
	return r;
}

/* The teardown of a slave, in its directory and environment, by this process. */
static int tear_down_slave(const struct driver *d, size_t k, struct error *err)
{
	const struct script *script = load_script_of(d->load, k);
	const struct slave_state *state = &d->shared->slaves[k];
	_cleanup_(freep) char *directory = NULL, *export = NULL, *command = NULL;
	char number[64];

	if (!script->teardown || !state->is_set_up || state->is_torn_down)
		return 0;
	snprintf(number, sizeof(number), "EMP_LOAD_SLAVE=%zu", k + 1);
	directory = text_format("TMPDIR=%s", d->slaves[k].directory);
	export = argv_join((char *[]){(char *)"export", number, directory, NULL});
	command = text_format("%s; cd \"$TMPDIR\" && { %s\n}", export, script->teardown);
	return directory && export && command
		       ? hook_run(command, NULL, d->drive->show_output, "teardown", err)
		       : error_oom(err);
}

/* What was set up, also after a failure: a setup may start a server. The first failure is reported. */
static int tear_down(const struct driver *d, struct error *err)
{
	struct error second = {};
	int r = 0, outcome = 0;

	for (size_t k = 0; d->shared && k < d->n; k++) {
		r = tear_down_slave(d, k, outcome ? &second : err);
		outcome = outcome ?: r;
	}
	if (d->is_set_up && d->load->teardown)
		r = hook_run(
			d->load->teardown, NULL, d->drive->show_output, "teardown", outcome ? &second : err);
	return outcome ?: r;
}

/* By force: most are at work. */
static void end_slaves(struct driver *d)
{
	struct error ignored;

	if (!d->slaves)
		return;
	cgroup_kill(d->all, &ignored);
	for (size_t k = 0; k < d->n; k++)
		program_free(TAKE(d->slaves[k].program));
	for (size_t k = 0; k < d->n; k++)
		cgroup_free(TAKE(d->slaves[k].cgroup));
	cgroup_renew(d->all, &ignored);
}

static void driver_free(struct driver *d)
{
	end_slaves(d);
	for (size_t k = 0; d->slaves && k < d->n; k++) {
		free(d->slaves[k].directory);
		free(d->slaves[k].name);
	}
	directory_free(d->directory);
	shared_free(d->shared);
	free(d->slaves);
	free(d->programs);
	closep(&d->memory_fd);
	closep(&d->socket);
	closep(&d->slaves_socket);
}

static int run_load(struct driver *d, struct error *err)
{
	struct error second = {};
	int r = make_places(d, err), torn;

	if (r == 0)
		r = set_up(d, err);
	if (r == 0)
		r = observe_slaves(d, err);
	end_slaves(d);
	torn = tear_down(d, r < 0 ? &second : err);
	return r < 0 ? r : torn;
}

int drive_once(const struct drive *drive, struct load_result *ret, struct error *err)
{
	_cleanup_(load_result_clear) struct load_result result = {};
	_cleanup_(driver_free) struct driver d = {
		.drive = drive,
		.load = drive->load,
		.all = drive->observer->cgroup,
		.n = load_slaves(drive->load),
		.result = &result,
		.memory_fd = -1,
		.socket = -1,
		.slaves_socket = -1,
	};
	int r;

	if (!d.all) {
		*err = drive->observer->no_cgroup;
		return error_prefix(err, -ENOTSUP,
			"a load needs a cgroup for each slave ('systemd-run --user --scope -p Delegate=yes' provides them)");
	}
	r = run_load(&d, err);
	if (r < 0)
		return r;
	*ret = TAKE_STRUCT(result);
	return 0;
}

int drive_cpus(const struct load *load, cpu_set_t *ret, struct error *err)
{
	*ret = load->cpus;
	if (!load->cpu_list && sched_getaffinity(0, sizeof(*ret), ret) < 0)
		return error_os(err, -errno, "cannot read which CPUs may be used");
	return 0;
}

struct sample_program load_result_part(const struct load_result *result, size_t k, uint32_t sample)
{
	const struct slave_result *slave = &result->slaves[k];

	return (struct sample_program){
		.sample = sample,
		.program = (uint32_t)k + 1,
		.start_ns = result->observation.spawned.start_ns + slave->started_ns,
		.et_ns = slave->last_ns,
		.pt_ns = slave->pt_ns,
		.user_ns = slave->user_ns,
		.system_ns = slave->system_ns,
		.max_rss_bytes = slave->max_rss_bytes,
		.exit_status = -1,
		.left_behind = slave->left_behind,
		.repetitions = slave->repetitions,
		.finished_ns = slave->finished_ns,
		.wait_ns = slave->wait_ns,
		.io_wait_ns = slave->io_wait_ns,
		.major_faults = slave->major_faults,
	};
}

void load_result_clear(struct load_result *result)
{
	free(result->slaves);
	load_waits_free(result->waits);
	*result = (struct load_result){};
}
