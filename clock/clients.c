/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Accepting, checking and serving clients: see clients.h. */
#include "clock/clients.h"

#include "clock/clock.skel.h"
#include "lib/clock/protocol.h"
#include "lib/clock/slots.h"
#include "lib/host/bpf/bpf_programs.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

/* The BPF program that shows threads to their users, and a map for each user: an array of
 * lib/clock/slots.h, one slot for each CPU. */

DEFINE_FREEP(user_slots)

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
static int slots_make_map(int n_cpus)
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

static int switches_load(struct user_slots *slots)
{
	_cleanup_(closep) int prototype = slots_make_map(slots->n_cpus);
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
	bpf_load_begin();
	r = bpf_load_end(switches_load(slots), err);
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

static struct user_map *find_user_map(const struct user_slots *slots, const struct user *user)
{
	for (size_t i = 0; i < slots->n; i++)
		if (!memcmp(&slots->items[i].user, user, sizeof(*user)))
			return &slots->items[i];
	return NULL;
}

static int add_user_map(struct user_slots *slots, const struct user *user, struct error *err)
{
	_cleanup_(closep) int fd = slots_make_map(slots->n_cpus);
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
	*map = (struct user_map){.user = *user, .fd = TAKE_FD(fd)};
	return 0;
}

static void drop_user_map(struct user_slots *slots, struct user_map *map)
{
	bpf_map_delete_elem(bpf_map__fd(slots->program->maps.users), &map->user);
	close(map->fd);
	*map = slots->items[--slots->n];
	if (slots->n)
		return;
	bpf_link__destroy(slots->link);
	slots->link = NULL;
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

enum { MAX_AT_ONCE = 256, MAX_OF_A_USER = 4096, SPARE_DESCRIPTORS = 64, MAX_WAIT_NS = 2000000000 };

static void drop_client(struct clients *clients, size_t i)
{
	struct client *client = &clients->items[i];

	close(client->fd);
	if (client->is_served) {
		struct user_map *map = find_user_map(clients->slots, &client->user);

		/* One client less. With the last, the user's map is no longer written. */
		if (--map->n_clients == 0)
			drop_user_map(clients->slots, map);
	}
	*client = clients->items[--clients->n];
}

void clients_clear(struct clients *clients)
{
	while (clients->n)
		drop_client(clients, clients->n - 1);
	free(clients->items);
}

/* fd: a descriptor to send along; -1: none. If the client does not read, that is its own affair. */
static void reply(int connection, const struct clock_reply *text, int fd)
{
	struct iovec part = {.iov_base = (void *)text, .iov_len = sizeof(*text)};
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(fd))];
	} control = {};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};

	if (fd >= 0) {
		message.msg_control = &control;
		message.msg_controllen = sizeof(control);
		control.header = (struct cmsghdr){
			.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof(fd))};
		memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
	}
	sendmsg(connection, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static void refuse(int connection, int error, const char *reason)
{
	struct clock_reply no = {.error = error};

	snprintf(no.reason, sizeof(no.reason), "%s", reason);
	reply(connection, &no, -1);
}

void clients_accept(struct clients *clients, int listener)
{
	long descriptors = sysconf(_SC_OPEN_MAX);
	size_t max = descriptors > 2 * SPARE_DESCRIPTORS ? (size_t)descriptors - SPARE_DESCRIPTORS
							 : SPARE_DESCRIPTORS;

	for (int n = 0; n < MAX_AT_ONCE; n++) {
		_cleanup_(closep) int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		struct client client = {.since_ns = clock_ns(CLOCK_MONOTONIC)};
		socklen_t size = sizeof(client.peer);
		size_t of_user = 0;

		if (fd < 0 || getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &client.peer, &size) < 0)
			return;
		for (size_t i = 0; i < clients->n; i++)
			of_user += clients->items[i].peer.uid == client.peer.uid;
		if (clients->n >= max || of_user >= MAX_OF_A_USER) {
			refuse(fd, EUSERS, "too many clients");
			continue;
		}
		client.fd = TAKE_FD(fd);
		*array_add(clients->items, clients->n) = client;
	}
}

int clients_wait_ms(const struct clients *clients)
{
	int64_t first_ns = INT64_MAX, left_ns;

	for (size_t i = 0; i < clients->n; i++)
		if (!clients->items[i].is_served && clients->items[i].since_ns < first_ns)
			first_ns = clients->items[i].since_ns;
	if (first_ns == INT64_MAX)
		return -1;
	left_ns = first_ns + MAX_WAIT_NS - clock_ns(CLOCK_MONOTONIC);
	return left_ns > 0 ? (int)(left_ns / NS_PER_MS) + 1 : 0;
}

/* Replies to a good request. From now on the process is watched. */
static int serve(struct clients *clients, struct client *client, struct error *err)
{
	struct user_slots *slots = clients->slots;
	_cleanup_(closep) int process = -1;
	struct clock_reply yes = {};
	struct user_map *map;
	char path[64];
	struct stat st;
	int r = 0;

	if (!slots)
		return error_say(err, -EOPNOTSUPP, "%s", clients->reason);
	process = (int)syscall(SYS_pidfd_open, client->peer.pid, 0);
	/* The PID namespace of the process, in which its threads have the ids by which it knows them. */
	snprintf(path, sizeof(path), "/proc/%d/ns/pid", client->peer.pid);
	if (process < 0 || client->peer.pid <= 0 || stat(path, &st) < 0)
		return error_say(err, -ESRCH, "your process is not visible from here");
	client->user = (struct user){.uid = client->peer.uid, .pid_namespace = (__u32)st.st_ino};
	if (!find_user_map(slots, &client->user))
		r = add_user_map(slots, &client->user, err);
	if (r < 0)
		return r;
	map = find_user_map(slots, &client->user);
	if (!slots->link) {
		bpf_load_begin();
		slots->link = bpf_program__attach(slots->program->progs.clock_switches);
		r = bpf_load_end(slots->link ? 0 : -errno, err);
	}
	if (r < 0) {
		drop_user_map(slots, map);
		return r;
	}
	map->n_clients++;
	yes.n_slots = (uint32_t)slots->n_cpus;
	reply(client->fd, &yes, map->fd);
	close(client->fd);
	client->fd = TAKE_FD(process);
	client->is_served = true;
	return 0;
}

/* Whether it stays. */
static bool read_request(struct clients *clients, struct client *client)
{
	struct clock_request request;
	struct error err = {};
	const char *fault;
	ssize_t n;
	int r;

	n = recv(client->fd, &request, sizeof(request), MSG_TRUNC);
	if (n <= 0)
		return false; /* it has hung up */
	if (n != sizeof(request))
		fault = "malformed request: wrong size";
	else if (strncmp(request.magic, CLOCK_MAGIC, sizeof(request.magic)))
		fault = "malformed request: it does not begin with " CLOCK_MAGIC;
	else if (request.version != 1)
		fault = "only version 1 is known";
	else
		fault = NULL;
	if (fault) {
		refuse(client->fd, EPROTO, fault);
		return false;
	}
	r = serve(clients, client, &err);
	if (r < 0)
		refuse(client->fd, -r, err.text);
	return r == 0;
}

/* Backwards, because the last takes the place of one that is dropped. */
void clients_handle(struct clients *clients, const struct pollfd *fds, size_t n)
{
	int64_t now_ns = clock_ns(CLOCK_MONOTONIC);

	while (n-- > 0) {
		struct client *client = &clients->items[n];
		bool stays = client->is_served ? !fds[n].revents : now_ns - client->since_ns < MAX_WAIT_NS;

		if (fds[n].revents && !client->is_served) /* or it has hung up meanwhile */
			stays = !(fds[n].revents & (POLLHUP | POLLERR)) && read_request(clients, client);
		if (!stays)
			drop_client(clients, n);
	}
}
