/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Asks the service, and reads its slots: see connect.h and protocol.h. */
#include "lib/clock/connect.h"

#include "lib/clock/clock_internal.h"
#include "lib/clock/emp-clock.h"
#include "lib/clock/protocol.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define MAX_SLOTS 65536
#define MAX_WAIT_S 1 /* a service that does not reply is none */

static const struct slot *_Atomic all;
static _Atomic(unsigned int) n_slots;

static int connect_socket(int fd)
{
	const char *path = secure_getenv("EMP_CLOCK_SOCKET") ?: CLOCK_SOCKET;
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct timeval most = {.tv_sec = MAX_WAIT_S};

	if (strlen(path) >= sizeof(address.sun_path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	strcpy(address.sun_path, path);
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &most, sizeof(most));
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof(most));
	return connect(fd, (struct sockaddr *)&address, sizeof(address));
}

/* *ret_map: the descriptor that came with it; -1: none did. */
static int receive(int fd, struct clock_reply *ret, int *ret_map)
{
	struct iovec part = {.iov_base = ret, .iov_len = sizeof(*ret)};
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = {};
	struct msghdr message = {.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control)};
	ssize_t n = recvmsg(fd, &message, MSG_CMSG_CLOEXEC);

	*ret_map = -1;
	if (n < 0)
		return -1;
	if (message.msg_controllen >= CMSG_LEN(sizeof(int)) &&
		control.header.cmsg_type == SCM_RIGHTS)
		memcpy(ret_map, CMSG_DATA(&control.header), sizeof(*ret_map));
	if (n == sizeof(*ret))
		return 0;
	errno = n ? EPROTO : ECONNRESET;
	return -1;
}

static int ask(int fd)
{
	struct clock_request request = {.magic = CLOCK_MAGIC, .version = 1};
	struct clock_reply reply = {};
	const struct slot *slots;
	int map, r;

	if (send(fd, &request, sizeof(request), MSG_NOSIGNAL) < 0)
		return -1;
	r = receive(fd, &reply, &map);
	if (r == 0 && (reply.error || map < 0 || !reply.n_slots || reply.n_slots > MAX_SLOTS)) {
		errno = reply.error > 0 ? reply.error : EPROTO;
		r = -1;
	} else if (r == 0) {
		slots = mmap(NULL, reply.n_slots * sizeof(*slots), PROT_READ, MAP_SHARED, map, 0);
		r = slots == MAP_FAILED ? -1 : 0;
		if (r == 0) {
			all = slots;
			n_slots = reply.n_slots;
		}
	}
	if (map >= 0) {
		int error = errno;

		close(map);
		errno = error;
	}
	return r;
}

CLOCK_PUBLIC int emp_clock_open(void)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), error, r;

	if (fd < 0)
		return -1;
	r = connect_socket(fd);
	if (r == 0)
		r = ask(fd);
	error = errno;
	close(fd);
	errno = error;
	return r;
}

const struct slot *slots_at(unsigned int cpu)
{
	return cpu < n_slots ? &all[cpu] : NULL;
}

bool slots_read(unsigned int cpu, struct running_thread *ret)
{
	const struct slot *slot = slots_at(cpu);
	struct timespec now;
	struct running_thread seen;
	uint32_t seq;

	if (!slot)
		return false;
	seq = __atomic_load_n(&slot->seq, __ATOMIC_ACQUIRE);
	seen = (struct running_thread){.tid = (pid_t)slot->tid, .pid = (pid_t)slot->pid};
	clock_gettime(CLOCK_MONOTONIC, &now);
	seen.ns = slot->run_ns + (uint64_t)now.tv_sec * CLOCK_NS_PER_S + (uint64_t)now.tv_nsec -
		  slot->since_ns;
	atomic_thread_fence(memory_order_acquire);
	if (!seen.tid || (seq & 1) || __atomic_load_n(&slot->seq, __ATOMIC_RELAXED) != seq)
		return false;
	*ret = seen;
	return true;
}
