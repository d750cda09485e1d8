/* SPDX-License-Identifier: LGPL-2.1-or-later OR GPL-2.0-or-later */
/* What a client and the service send each other: one request, one reply, over a SOCK_SEQPACKET
 * socket. With a reply whose error is 0 comes a descriptor (SCM_RIGHTS) to map for reading: n_slots
 * times struct slot (slots.h), for the client's user. The service serves a process until it ends;
 * the connection is not needed any more. */
#pragma once

#include <stdint.h>

#define CLOCK_SOCKET "/run/emp/clock.socket"
#define CLOCK_MAGIC "emp-clock"

struct clock_request {
	char magic[12];
	uint32_t version; /* 1 */
};

struct clock_reply {
	int32_t error; /* 0, or an errno: the request is refused */
	uint32_t n_slots;
	char reason[120]; /* in words */
};
