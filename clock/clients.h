/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The clients of the service. A connection brings one request; who sent it is known from the socket (SO_PEERCRED). From then on the
 * process itself is watched, by a pidfd, until it ends. */
#pragma once

#include "lib/base/base.h"
#include "clock/clock_state.h"

#include <poll.h>
#include <sys/socket.h>

struct user_slots;

struct client {
	int fd; /* of the connection, then of the process */
	bool is_served;
	struct ucred peer;
	struct user user; /* if it is served */
	int64_t since_ns;
};

struct clients {
	struct user_slots *slots; /* NULL: every request is refused with this reason */
	const char *reason;
	struct client *items;
	size_t n;
};

void clients_clear(struct clients *clients);

/* Accepts the connections that wait at `listener`, which does not block. */
void clients_accept(struct clients *clients, int listener);

/* Serves the first n clients by what poll(2) found of their descriptors. */
void clients_handle(struct clients *clients, const struct pollfd *fds, size_t n);

/* How long until a connection without a request is closed; -1: there is none. */
int clients_wait_ms(const struct clients *clients);

/* The BPF program that shows threads to their users, and a map for each user: an array of lib/clock/slots.h, one slot for each
 * CPU. The program runs while there is a user. */

/* -errno with a sentence: the kernel does not accept the program. */
int user_slots_new(struct user_slots **ret, struct error *err);
void user_slots_free(struct user_slots *slots);

/* What a context switch has cost on average, and how many there were. */
struct switch_cost {
	uint64_t switches;
	double mean_ns; /* 0: not known yet */
};
struct switch_cost user_slots_cost(const struct user_slots *slots);
