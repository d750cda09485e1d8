/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The maps of the users: see user_slots.h. */
#include "clock/user_slots.h"

#include "lib/base/xalloc.h"
#include "lib/clock/slots.h"
#include "lib/host/bpf/bpf_programs.h"

#include "clock/clock.skel.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>

struct user_map {
	struct user user;
	int fd;
	size_t n_clients;
};

struct user_slots {
	struct clock_bpf *program;
	struct bpf_link *link; /* NULL: nobody is shown anything */
	struct user_map *items;
	size_t n;
	int n_cpus;
};

/* Frozen: only BPF programs can write it. (A map made read-only could not be mapped.) */
static int make_map(int n_cpus)
{
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_MMAPABLE);
	_cleanup_(closep) int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "clock_slots", sizeof(__u32),
		sizeof(struct slot), (__u32)n_cpus, &options);
	int r;

	if (fd < 0)
		return fd;
	r = bpf_map_freeze(fd);
	return r < 0 ? r : TAKE_FD(fd);
}

static int load(void *context)
{
	struct user_slots *slots = context;
	_cleanup_(closep) int prototype = make_map(slots->n_cpus);
	int r;

	if (prototype < 0)
		return prototype;
	slots->program = clock_bpf__open();
	if (!slots->program)
		return -errno;
	r = bpf_map__set_inner_map_fd(slots->program->maps.users, prototype);
	if (r == 0)
		r = bpf_map__set_max_entries(slots->program->maps.cpus, (__u32)slots->n_cpus);
	return r < 0 ? r : clock_bpf__load(slots->program);
}

int user_slots_new(struct user_slots **ret, struct error *err)
{
	_cleanup_(user_slots_freep) struct user_slots *slots = xcalloc(1, sizeof(*slots));
	int r;

	slots->n_cpus = libbpf_num_possible_cpus();
	if (slots->n_cpus < 0)
		return error_os(err, slots->n_cpus, "cannot count the CPUs");
	r = bpf_load(load, slots, err);
	if (r < 0)
		return r;
	*ret = TAKE(slots);
	return 0;
}

void user_slots_free(struct user_slots *slots)
{
	if (!slots)
		return;
	bpf_link__destroy(slots->link);
	for (size_t i = 0; i < slots->n; i++)
		close(slots->items[i].fd);
	clock_bpf__destroy(slots->program);
	free(slots->items);
	free(slots);
}

static int attach(void *context)
{
	struct user_slots *slots = context;
	struct bpf_link *link = bpf_program__attach(slots->program->progs.clock_switches);

	if (!link)
		return -errno;
	slots->link = link;
	return 0;
}

static struct user_map *find(const struct user_slots *slots, const struct user *user)
{
	for (size_t i = 0; i < slots->n; i++)
		if (!memcmp(&slots->items[i].user, user, sizeof(*user)))
			return &slots->items[i];
	return NULL;
}

static int add_map(struct user_slots *slots, const struct user *user, struct error *err)
{
	_cleanup_(closep) int fd = make_map(slots->n_cpus);
	struct user_map *map;
	int r;

	if (fd < 0)
		return error_os(err, fd, "cannot make a map for user %u", user->uid);
	r = bpf_map_update_elem(bpf_map__fd(slots->program->maps.users), user, &fd, BPF_NOEXIST);
	if (r == -E2BIG)
		return error_say(err, -ENOSPC, "too many users");
	if (r < 0)
		return error_os(err, r, "cannot add a map for user %u", user->uid);
	map = array_add(slots->items, slots->n);
	if (!map) {
		bpf_map_delete_elem(bpf_map__fd(slots->program->maps.users), user);
		return error_oom(err);
	}
	*map = (struct user_map){.user = *user, .fd = TAKE_FD(fd)};
	return 0;
}

static void drop_map(struct user_slots *slots, struct user_map *map)
{
	bpf_map_delete_elem(bpf_map__fd(slots->program->maps.users), &map->user);
	close(map->fd);
	*map = slots->items[--slots->n];
	if (slots->n)
		return;
	bpf_link__destroy(slots->link);
	slots->link = NULL;
}

int user_slots_add(struct user_slots *slots, const struct user *user, int *ret_fd, struct error *err)
{
	struct user_map *map;
	int r = 0;

	if (!find(slots, user))
		r = add_map(slots, user, err);
	if (r < 0)
		return r;
	map = find(slots, user);
	r = slots->link ? 0 : bpf_load(attach, slots, err);
	if (r < 0) {
		drop_map(slots, map);
		return r;
	}
	map->n_clients++;
	*ret_fd = map->fd;
	return 0;
}

void user_slots_drop(struct user_slots *slots, const struct user *user)
{
	struct user_map *map = find(slots, user);

	if (--map->n_clients == 0)
		drop_map(slots, map);
}

uint32_t user_slots_cpus(const struct user_slots *slots)
{
	return (uint32_t)slots->n_cpus;
}

struct switch_cost user_slots_cost(const struct user_slots *slots)
{
	struct switch_cost cost = {};
	uint64_t timed = 0, timed_ns = 0;

	for (int cpu = 0; cpu < slots->n_cpus; cpu++) {
		struct cpu_state state;

		if (bpf_map_lookup_elem(bpf_map__fd(slots->program->maps.cpus), &cpu, &state) < 0)
			continue;
		cost.switches += state.switches;
		timed += state.timed;
		timed_ns += state.timed_ns;
	}
	if (timed)
		cost.mean_ns = (double)timed_ns / (double)timed;
	return cost;
}
