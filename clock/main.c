/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp-clockd: emp-clock.service. It shows to each user which of the user's threads are running, so
 * that libemp-clock reads their CPU time without a system call. systemd starts it when a client
 * connects, and it ends when it has had none for a while.
 *
 * A connection brings one request; who sent it is known from the socket (SO_PEERCRED). From then on
 * the process itself is watched, by a pidfd, until it ends. Each user has a map: an array of
 * lib/clock/slots.h, one slot for each CPU, which a BPF program fills in. The program runs while
 * there is a user. */
#include "lib/base/tool.h"
#include "clock/clock.skel.h"
#include "clock/clock_state.h"
#include "lib/clock/protocol.h"
#include "lib/clock/slots.h"
#include "lib/host/bpf/bpf_programs.h"
#include "lib/host/process/signals.h"

#include <bpf/bpf.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <systemd/sd-daemon.h>

enum {
	FIRST_COST_MS = 2000,
	MAX_WAIT_NS = 2000000000, /* for a request */
	MAX_AT_ONCE = 256,
	MAX_OF_A_USER = 4096,
	SPARE_DESCRIPTORS = 64,
};

static int64_t idle_ns = 60 * NS_PER_S;

struct user_map {
	struct user user;
	int fd;
	size_t n_clients;
};

struct client {
	int fd; /* of the connection, then of the process */
	bool is_served;
	struct ucred peer;
	struct user user; /* if it is served */
	int64_t since_ns;
};

struct service {
	int listener, n_cpus;
	/* NULL: not on this kernel, and every request is refused with this reason */
	struct clock_bpf *program;
	struct error why;
	struct bpf_link *link; /* NULL: nobody is shown anything */
	struct user_map *maps;
	size_t n_maps;
	struct client *clients;
	size_t n_clients;
	struct pollfd *fds;
	bool has_told_cost;
};

/* Frozen: only BPF programs can write it. (A map made read-only could not be mapped.) */
static int make_user_map(int n_cpus)
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

static int load_program(struct service *service, struct error *err)
{
	_cleanup_(closep) int prototype = -1;
	struct clock_bpf *program = NULL;
	int r;

	service->n_cpus = libbpf_num_possible_cpus();
	if (service->n_cpus < 0)
		return error_os(err, service->n_cpus, "cannot count the CPUs");
	bpf_load_begin();
	r = prototype = make_user_map(service->n_cpus);
	if (r >= 0) {
		program = clock_bpf__open();
		r = program ? bpf_map__set_inner_map_fd(program->maps.users, prototype) : -errno;
	}
	if (r == 0)
		r = bpf_map__set_max_entries(program->maps.cpus, (__u32)service->n_cpus);
	if (r == 0)
		r = clock_bpf__load(program);
	r = bpf_load_end(r, err);
	if (r == 0)
		service->program = program;
	else
		clock_bpf__destroy(program);
	return r;
}

static struct user_map *find_user_map(const struct service *service, const struct user *user)
{
	for (size_t i = 0; i < service->n_maps; i++)
		if (!memcmp(&service->maps[i].user, user, sizeof(*user)))
			return &service->maps[i];
	return NULL;
}

static int add_user_map(
	struct service *service, const struct user *user, struct user_map **ret, struct error *err)
{
	_cleanup_(closep) int fd = make_user_map(service->n_cpus);
	int r;

	if (fd < 0)
		return error_os(err, fd, "cannot make a map for user %u", user->uid);
	r = bpf_map_update_elem(bpf_map__fd(service->program->maps.users), user, &fd, BPF_NOEXIST);
	if (r == -E2BIG)
		return error_say(err, -ENOSPC, "too many users");
	if (r < 0)
		return error_os(err, r, "cannot add a map for user %u", user->uid);
	*ret = array_add(service->maps, service->n_maps);
	**ret = (struct user_map){.user = *user, .fd = TAKE_FD(fd)};
	return 0;
}

static void drop_user_map(struct service *service, struct user_map *map)
{
	bpf_map_delete_elem(bpf_map__fd(service->program->maps.users), &map->user);
	close(map->fd);
	*map = service->maps[--service->n_maps];
	if (service->n_maps)
		return;
	bpf_link__destroy(service->link);
	service->link = NULL;
}

static void drop_client(struct service *service, struct client *client)
{
	close(client->fd);
	if (client->is_served) {
		struct user_map *map = find_user_map(service, &client->user);

		/* One client less. With the last, the user's map is no longer written. */
		if (--map->n_clients == 0)
			drop_user_map(service, map);
	}
	*client = service->clients[--service->n_clients];
}

static void service_clear(struct service *service)
{
	while (service->n_clients)
		drop_client(service, &service->clients[service->n_clients - 1]);
	clock_bpf__destroy(service->program);
	free(service->clients);
	free(service->maps);
	free(service->fds);
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
		control.header = (struct cmsghdr){.cmsg_level = SOL_SOCKET,
			.cmsg_type = SCM_RIGHTS,
			.cmsg_len = CMSG_LEN(sizeof(fd))};
		memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
	}
	sendmsg(connection, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static void refuse_client(int connection, int error, const char *reason)
{
	struct clock_reply no = {.error = error};

	snprintf(no.reason, sizeof(no.reason), "%s", reason);
	reply(connection, &no, -1);
}

static void accept_clients(struct service *service)
{
	long descriptors = sysconf(_SC_OPEN_MAX);
	size_t max = descriptors > 2 * SPARE_DESCRIPTORS ? (size_t)descriptors - SPARE_DESCRIPTORS
							 : SPARE_DESCRIPTORS;

	for (int n = 0; n < MAX_AT_ONCE; n++) {
		_cleanup_(closep) int fd = accept4(
			service->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		struct client client = {.since_ns = clock_ns(CLOCK_MONOTONIC)};
		socklen_t size = sizeof(client.peer);
		size_t of_user = 0;

		if (fd < 0 || getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &client.peer, &size) < 0)
			return;
		for (size_t i = 0; i < service->n_clients; i++)
			of_user += service->clients[i].peer.uid == client.peer.uid;
		if (service->n_clients >= max || of_user >= MAX_OF_A_USER) {
			refuse_client(fd, EUSERS, "too many clients");
			continue;
		}
		client.fd = TAKE_FD(fd);
		*array_add(service->clients, service->n_clients) = client;
	}
}

/* Who the process of a client is: its user, and the PID namespace in which its threads have the ids
 * by which it knows them. *ret_process: a pidfd. */
static int identify_client(struct client *client, int *ret_process, struct error *err)
{
	_cleanup_(closep) int process = (int)syscall(SYS_pidfd_open, client->peer.pid, 0);
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d/ns/pid", client->peer.pid);
	if (process < 0 || client->peer.pid <= 0 || stat(path, &st) < 0)
		return error_say(err, -ESRCH, "your process is not visible from here");
	client->user = (struct user){.uid = client->peer.uid, .pid_namespace = (__u32)st.st_ino};
	*ret_process = TAKE_FD(process);
	return 0;
}

/* Has the BPF program run from now on. */
static int attach_program(struct service *service, struct error *err)
{
	if (service->link)
		return 0;
	bpf_load_begin();
	service->link = bpf_program__attach(service->program->progs.clock_switches);
	return bpf_load_end(service->link ? 0 : -errno, err);
}

/* Replies to a good request. From now on the process is watched. */
static int serve(struct service *service, struct client *client, struct error *err)
{
	_cleanup_(closep) int process = -1;
	struct clock_reply yes = {};
	struct user_map *map;
	int r;

	if (!service->program)
		return error_say(err, -EOPNOTSUPP, "%s", service->why.text);
	r = identify_client(client, &process, err);
	if (r < 0)
		return r;
	map = find_user_map(service, &client->user);
	if (!map)
		r = add_user_map(service, &client->user, &map, err);
	if (r < 0)
		return r;
	r = attach_program(service, err);
	if (r < 0) {
		drop_user_map(service, map);
		return r;
	}

	map->n_clients++;
	yes.n_slots = (uint32_t)service->n_cpus;
	reply(client->fd, &yes, map->fd);
	close(client->fd);
	client->fd = TAKE_FD(process);
	client->is_served = true;
	return 0;
}

/* Whether it stays. */
static bool read_request(struct service *service, struct client *client)
{
	struct clock_request request;
	struct error err = {};
	const char *fault = NULL;
	ssize_t n = recv(client->fd, &request, sizeof(request), MSG_TRUNC);
	int r;

	if (n <= 0)
		return false; /* it has hung up */
	if (n != sizeof(request))
		fault = "malformed request: wrong size";
	else if (strncmp(request.magic, CLOCK_MAGIC, sizeof(request.magic)))
		fault = "malformed request: it does not begin with " CLOCK_MAGIC;
	else if (request.version != 1)
		fault = "only version 1 is known";
	if (fault) {
		refuse_client(client->fd, EPROTO, fault);
		return false;
	}
	r = serve(service, client, &err);
	if (r < 0)
		refuse_client(client->fd, -r, err.text);
	return r == 0;
}

/* What a context switch has cost on average, and how many there were. */
struct switch_cost {
	uint64_t switches;
	double mean_ns; /* 0: not known yet */
};

static struct switch_cost switch_cost(const struct service *service)
{
	struct switch_cost cost = {};
	uint64_t timed = 0, timed_ns = 0;

	for (int cpu = 0; service->program && cpu < service->n_cpus; cpu++) {
		struct cpu_state state;

		if (bpf_map_lookup_elem(bpf_map__fd(service->program->maps.cpus), &cpu, &state) < 0)
			continue;
		cost.switches += state.switches;
		timed += state.timed;
		timed_ns += state.timed_ns;
	}
	if (timed)
		cost.mean_ns = (double)timed_ns / (double)timed;
	return cost;
}

static void tell_cost(struct service *service)
{
	struct switch_cost cost = switch_cost(service);

	if (!cost.mean_ns)
		return;
	service->has_told_cost = true;
	printf("Cost: %.0f ns per context switch (mean of every 64th of %llu)\n", cost.mean_ns,
		(unsigned long long)cost.switches);
	fflush(stdout);
}

/* How long to wait: for a client that has not asked yet, for the end, or for the first measurement
 * of the cost; -1: for clients only. */
static int time_to_wait_ms(const struct service *service)
{
	int64_t first_ns = INT64_MAX, left_ns;

	for (size_t i = 0; i < service->n_clients; i++)
		if (!service->clients[i].is_served && service->clients[i].since_ns < first_ns)
			first_ns = service->clients[i].since_ns;
	if (first_ns < INT64_MAX) {
		left_ns = first_ns + MAX_WAIT_NS - clock_ns(CLOCK_MONOTONIC);
		return left_ns > 0 ? (int)(left_ns / NS_PER_MS) + 1 : 0;
	}
	if (service->n_clients == 0)
		return (int)(idle_ns / NS_PER_MS);
	return service->has_told_cost ? -1 : FIRST_COST_MS;
}

/* Waits for a signal, a connection, or something from a client. Returns poll's value, and the
 * descriptors in service->fds: two, then the clients'. */
static int wait_for_clients(struct service *service)
{
	size_t n = service->n_clients;
	struct pollfd *fds = xrealloc(service->fds, (n + 2) * sizeof(*fds));

	service->fds = fds;
	fds[0] = (struct pollfd){.fd = interrupt_fd, .events = POLLIN};
	fds[1] = (struct pollfd){.fd = service->listener, .events = POLLIN};
	for (size_t i = 0; i < n; i++)
		fds[2 + i] = (struct pollfd){.fd = service->clients[i].fd, .events = POLLIN};
	return poll(fds, n + 2, time_to_wait_ms(service));
}

/* Whether a client stays, after poll() has returned these events for it. */
static bool attend_client(
	struct service *service, struct client *client, short events, int64_t now_ns)
{
	if (client->is_served)
		return !events; /* its process has ended */
	if (!events)
		return now_ns - client->since_ns < MAX_WAIT_NS;
	if (events & (POLLHUP | POLLERR)) /* it has hung up meanwhile */
		return false;
	return read_request(service, client);
}

/* 0: nobody has come for so long that the service may end; 1: go on. */
static int turn(struct service *service, struct error *err)
{
	size_t n = service->n_clients;
	int r = wait_for_clients(service);
	const struct pollfd *fds = service->fds;
	int64_t now_ns;

	if (r < 0)
		return errno == EINTR ? 1 : error_os(err, -errno, "cannot wait for clients");
	if (fds[0].revents || (r == 0 && !n))
		return 0;
	if (r == 0)
		tell_cost(service);

	now_ns = clock_ns(CLOCK_MONOTONIC);
	/* Backwards, because the last takes the place of one that is dropped. */
	for (size_t i = n; i-- > 0;) {
		struct client *client = &service->clients[i];

		if (!attend_client(service, client, fds[2 + i].revents, now_ns))
			drop_client(service, client);
	}
	if (fds[1].revents)
		accept_clients(service);
	if (service->n_clients != n)
		sd_notifyf(0, "STATUS=%zu clients, %.0f ns per context switch", service->n_clients,
			switch_cost(service).mean_ns);
	return 1;
}

static int run(int argc, char **argv, struct error *err)
{
	_cleanup_(service_clear) struct service service = {};
	struct rlimit limit;
	int r, n = sd_listen_fds(1);

	if (n != 1 || sd_is_socket(SD_LISTEN_FDS_START, AF_UNIX, SOCK_SEQPACKET, 1) <= 0)
		return error_say(err, -EINVAL,
			"it needs one listening socket from systemd, such as that of "
			"emp-clock.socket; by hand: systemd-socket-activate --seqpacket -l PATH "
			"emp-clockd");
	fcntl(SD_LISTEN_FDS_START, F_SETFL, fcntl(SD_LISTEN_FDS_START, F_GETFL) | O_NONBLOCK);
	service.listener = SD_LISTEN_FDS_START;
	r = interrupt_init();
	if (r < 0)
		return error_os(err, r, "cannot receive signals");
	if (getrlimit(RLIMIT_NOFILE, &limit) >= 0) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
	if (load_program(&service, &service.why) < 0) /* clients are told, and go on without */
		fprintf(stderr, "%s\n", service.why.text);
	sd_notify(0, "READY=1");
	while ((r = turn(&service, err)) > 0)
		;
	sd_notify(0, "STOPPING=1");
	tell_cost(&service);
	return r;
}

static const struct option_row options[] = {
	{0, "idle", "TIME", "exit after this time without a client (60s)", option_duration,
		&idle_ns},
	{},
};

static const struct verb emp_clockd = {.options = options, .run = run};

static const struct tool tool = {
	.name = "emp-clockd",
	.summary = "Serves libemp-clock: see emp-clock.service(8). systemd starts it.",
	.options = (const struct option_row[]){{}},
	.verbs = (const struct verb *const[]){&emp_clockd, NULL},
};

int main(int argc, char **argv)
{
	return tool_main(&tool, argc, argv);
}
