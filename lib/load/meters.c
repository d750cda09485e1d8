/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The meters of the slaves: see driver.h. */
#include "lib/load/driver.h"

#include "lib/host/cpu/cpu_list.h"

#include <fcntl.h>

static int start_meter(struct slave_process *s, struct error *err)
{
	s->wait_ns = cgroup_pressure_ns(s->cgroup, "cpu");
	s->io_wait_ns = cgroup_pressure_ns(s->cgroup, "io");
	return cgroup_usage(s->cgroup, &s->usage, err);
}

int meters_start(struct driver *d, struct error *err)
{
	int r = drive_cpus(d->load, &d->cpus, err), n_cpus;

	for (size_t k = 0; r == 0 && k < d->n; k++)
		r = start_meter(&d->slaves[k], err);
	if (r == 0)
		r = load_waits_start(&d->result->waits, d->drive->page_waits, d->all, err);
	d->idle_ns = idle_time_ns(&d->cpus, AT_FDCWD, &n_cpus);
	return r;
}

/* The complete repetitions, and the end of the last of them; the slave may be completing another. */
static int64_t read_repetitions(const struct slave_state *state, int64_t *ret_last_ns)
{
	int64_t n;

	do {
		n = __atomic_load_n(&state->repetitions, __ATOMIC_ACQUIRE);
		*ret_last_ns = __atomic_load_n(&state->last_ns[n % 2], __ATOMIC_ACQUIRE);
	} while (__atomic_load_n(&state->repetitions, __ATOMIC_ACQUIRE) != n);
	return n;
}

static int64_t grown(int64_t before, int64_t after)
{
	return before < 0 || after < before ? -1 : after - before;
}

static int stop_meter(const struct driver *d, size_t k, struct error *err)
{
	const struct slave_process *s = &d->slaves[k];
	const struct slave_state *state = &d->shared->slaves[k];
	struct slave_result *result = &d->result->slaves[k];
	struct cgroup_usage usage;
	int64_t last_ns, repetitions = read_repetitions(state, &last_ns);
	int r = cgroup_usage(s->cgroup, &usage, err), rest = cgroup_count(s->cgroup, err) - 1;

	if (r < 0)
		return r;
	*result = (struct slave_result){
		.started_ns = state->started_ns - d->released_ns,
		.finished_ns = state->finished_ns - d->released_ns,
		.last_ns = last_ns - d->released_ns,
		.repetitions = repetitions,
		.pt_ns = usage.usage_ns - s->usage.usage_ns,
		.user_ns = usage.user_ns - s->usage.user_ns,
		.system_ns = usage.system_ns - s->usage.system_ns,
		.wait_ns = grown(s->wait_ns, cgroup_pressure_ns(s->cgroup, "cpu")),
		.io_wait_ns = grown(s->io_wait_ns, cgroup_pressure_ns(s->cgroup, "io")),
		.major_faults = state->major_faults,
		.max_rss_bytes = state->max_rss_bytes,
		/* one that repeats its work has its commands besides */
		.left_behind = d->load->coordination != LOAD_CONSTANT && rest > 0 ? rest : 0,
	};
	return 0;
}

int meters_stop(struct driver *d, struct spawned *ret, struct error *err)
{
	int r = 0, n_cpus;

	load_waits_stop(d->result->waits);
	d->result->idle_ns = grown(d->idle_ns, idle_time_ns(&d->cpus, AT_FDCWD, &n_cpus));
	d->result->cpus = d->result->idle_ns < 0 ? -1 : n_cpus;
	for (size_t k = 0; r == 0 && k < d->n; k++)
		r = stop_meter(d, k, err);
	for (size_t k = 0; r == 0 && k < d->n; k++) {
		const struct slave_result *s = &d->result->slaves[k];

		ret->pt_ns += s->pt_ns;
		ret->user_ns += s->user_ns;
		ret->system_ns += s->system_ns;
		ret->left_behind += s->left_behind;
		if (s->max_rss_bytes > ret->max_rss_bytes)
			ret->max_rss_bytes = s->max_rss_bytes;
		if (s->started_ns > d->result->last_start_ns)
			d->result->last_start_ns = s->started_ns;
	}
	return r;
}
