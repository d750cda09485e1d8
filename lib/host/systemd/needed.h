/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Services that must not be stopped now, whatever they are called: those that a login or the
 * network of this machine depends on, and those that hold off sleep and shutdown because they are
 * busy. Found out of what processes do, so that no list of names has to be complete. An ordinary
 * user sees less of it than root. */
#pragma once

#include "lib/base/base.h"

struct unit_reason {
	char *unit;
	char *why; /* "the login from 10.0.0.5 comes through it (nginx, PID 77)" */
};

struct unit_reasons {
	struct unit_reason *items;
	size_t n;
};

/* The first reason; NULL: none is known. */
const char *unit_reasons_find(const struct unit_reasons *reasons, const char *unit);
void unit_reasons_clear(struct unit_reasons *reasons);

/* What carries logins and the network:
 *
 * - what this process, a remote session or a program at a pseudo-terminal was started from;
 * - what listens on the address that a login came by, and what is at the other end of its
 *   connection on this machine;
 * - what owns an interface of the default route or of a login: its tunnel, its lease, its
 *   authentication. */
void units_needed(struct unit_reasons *ret);

/* What has a block inhibitor of logind (systemd-inhibit --list). */
void units_busy(struct unit_reasons *ret);

/* For units_needed, and for tests: a TCP socket as a line of /proc/net/tcp or tcp6 has it. IPv4
 * addresses are mapped into IPv6. False: it is no such line. */
struct tcp_socket {
	uint8_t local[16], remote[16];
	int local_port, remote_port;
	bool listens;
	uint64_t inode;
};

bool tcp_socket_parse(const char *line, struct tcp_socket *ret);
