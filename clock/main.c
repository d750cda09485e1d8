/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp-clockd: emp-clock.service. It shows to each user which of the user's threads are running, so that libemp-clock reads their
 * CPU time without a system call. systemd starts it when a client connects, and it ends when it has had none for a
 * while. */
#include "clock/clients.h"

#include "lib/base/tool.h"
#include "lib/host/process/signals.h"

#include <sys/resource.h>
#include <sys/socket.h>
#include <systemd/sd-daemon.h>

enum { FIRST_COST_MS = 2000 };

static int64_t idle_ns = 60 * NS_PER_S;

struct service {
	int listener;
	struct user_slots *slots; /* NULL: not on this kernel */
	struct clients clients;
	struct pollfd *fds;
	bool has_told_cost;
};

static void tell_cost(struct service *service)
{
	struct switch_cost cost = service->slots ? user_slots_cost(service->slots) : (struct switch_cost){};

	if (!cost.mean_ns)
		return;
	service->has_told_cost = true;
	printf("Cost: %.0f ns per context switch (mean of every 64th of %llu)\n", cost.mean_ns,
		(unsigned long long)cost.switches);
	fflush(stdout);
}

/* 0: nobody has come for so long that the service may end; 1: go on. */
static int turn(struct service *service, struct error *err)
{
	struct clients *clients = &service->clients;
	size_t n = clients->n;
	struct pollfd *fds = xrealloc(service->fds, (n + 2) * sizeof(*fds));
	int wait_ms = clients_wait_ms(clients), r;

	service->fds = fds;
	fds[0] = (struct pollfd){.fd = interrupt_fd(), .events = POLLIN};
	fds[1] = (struct pollfd){.fd = service->listener, .events = POLLIN};
	for (size_t i = 0; i < n; i++)
		fds[2 + i] = (struct pollfd){.fd = clients->items[i].fd, .events = POLLIN};
	/* For a client that has not asked yet, for the end, or for the first measurement of the cost. */
	if (wait_ms < 0 && n == 0)
		wait_ms = (int)(idle_ns / NS_PER_MS);
	else if (wait_ms < 0 && !service->has_told_cost)
		wait_ms = FIRST_COST_MS;
	r = poll(fds, n + 2, wait_ms);
	if (r < 0)
		return errno == EINTR ? 1 : error_os(err, -errno, "cannot wait for clients");
	if (fds[0].revents || (r == 0 && !n))
		return 0;
	if (r == 0 && n)
		tell_cost(service);
	clients_handle(clients, fds + 2, n);
	if (fds[1].revents)
		clients_accept(clients, service->listener);
	if (clients->n != n) {
		struct switch_cost cost = service->slots ? user_slots_cost(service->slots)
							 : (struct switch_cost){};

		sd_notifyf(0, "STATUS=%zu clients, %.0f ns per context switch", clients->n, cost.mean_ns);
	}
	return 1;
}

static void service_clear(struct service *service)
{
	clients_clear(&service->clients);
	user_slots_free(service->slots);
	free(service->fds);
}

static int run(int argc, char **argv, struct error *err)
{
	_cleanup_(service_clear) struct service service = {};
	struct error why = {};
	struct rlimit limit;
	int r, n = sd_listen_fds(1);

	if (n != 1 || sd_is_socket(SD_LISTEN_FDS_START, AF_UNIX, SOCK_SEQPACKET, 1) <= 0)
		return error_say(err, -EINVAL,
			"it needs one listening socket from systemd, such as that of emp-clock.socket; by hand: "
			"systemd-socket-activate --seqpacket -l PATH emp-clockd");
	fcntl(SD_LISTEN_FDS_START, F_SETFL, fcntl(SD_LISTEN_FDS_START, F_GETFL) | O_NONBLOCK);
	service.listener = SD_LISTEN_FDS_START;
	r = interrupt_init();
	if (r < 0)
		return error_os(err, r, "cannot receive signals");
	if (getrlimit(RLIMIT_NOFILE, &limit) >= 0) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
	if (user_slots_new(&service.slots, &why) < 0) /* clients are told, and go on without */
		fprintf(stderr, "%s\n", why.text);
	service.clients = (struct clients){.slots = service.slots, .reason = why.text};
	sd_notify(0, "READY=1");
	while ((r = turn(&service, err)) > 0)
		;
	sd_notify(0, "STOPPING=1");
	tell_cost(&service);
	return r;
}

static const struct option_row options[] = {
	{0, "idle", "TIME", "exit after this time without a client (60s)", option_duration, &idle_ns},
	{},
};

static const struct verb verbs[] = {{.options = options, .run = run}, {}};

static const struct tool tool = {
	.name = "emp-clockd",
	.summary = "Serves libemp-clock: see emp-clock.service(8). systemd starts it.",
	.options = (const struct option_row[]){{}},
	.verbs = verbs,
};

int main(int argc, char **argv)
{
	return tool_main(&tool, argc, argv);
}
