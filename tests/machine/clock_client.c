/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Clients of emp-clock.service, for clock.sh:
 *   clock_client many N T    N processes of T threads use it at once
 *   clock_client wait        connects, says so, and sleeps until it is killed
 *   clock_client once        the same, and fails if the service does not reply within a second
 *   clock_client hostile     malformed requests, writing the map, other users' threads (as an
 *                            ordinary user)
 * Exit status 1 with a sentence: something is wrong. */
#include "lib/clock/emp-clock.h"
#include "lib/clock/protocol.h"
#include "lib/clock/slots.h"
#include "tests/machine/clock_open.h"

#include <errno.h>
#include <linux/bpf.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static __attribute__((noreturn, format(printf, 1, 2))) void fail(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(1);
}

static uint64_t kernel_ns(void)
{
	struct timespec now;

	syscall(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void *read_often(void *unused)
{
	for (int i = 0; i < 100; i++) {
		uint64_t before = kernel_ns(), ns = emp_clock_thread_ns(), after = kernel_ns();

		if (ns + 1000 < before || ns > after + 110000)
			fail("%llu is not between %llu and %llu", (unsigned long long)ns,
				(unsigned long long)before, (unsigned long long)after);
		if (i % 10 == 0)
			usleep(1000);
	}
	return NULL;
}

static void be_one_of_many(int n_threads)
{
	pthread_t threads[64];

	if (clock_open_patiently() < 0) /* all come at once */
		fail("emp_clock_open: %s", strerror(errno));
	for (int i = 0; i < n_threads; i++)
		if (pthread_create(&threads[i], NULL, read_often, NULL))
			fail("no thread");
	for (int i = 0; i < n_threads; i++)
		pthread_join(threads[i], NULL);
	exit(0);
}

static void many(int n, int n_threads)
{
	int bad = 0, status;

	for (int i = 0; i < n; i++)
		if (fork() == 0)
			be_one_of_many(n_threads);
	while (wait(&status) > 0)
		bad += status != 0;
	if (bad)
		fail("%d of %d clients failed", bad, n);
	printf("%d clients of %d threads\n", n, n_threads);
}

static int connect_raw(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", getenv("EMP_CLOCK_SOCKET"));
	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		fail("cannot connect: %s", strerror(errno));
	return fd;
}

/* Sends a request, with a descriptor beside it, and receives the reply; the descriptor that comes
 * with it, -1: none. */
static int ask_raw(const void *request, size_t size, struct clock_reply *reply)
{
	char control[CMSG_SPACE(sizeof(int))] __attribute__((aligned(8))) = "";
	struct iovec part = {.iov_base = (void *)request, .iov_len = size};
	struct msghdr message = {.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control)};
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);
	int fd = connect_raw(), sent = STDIN_FILENO, received = -1;

	*header = (struct cmsghdr){.cmsg_level = SOL_SOCKET,
		.cmsg_type = SCM_RIGHTS,
		.cmsg_len = CMSG_LEN(sizeof(int))};
	memcpy(CMSG_DATA(header), &sent, sizeof(sent));
	if (sendmsg(fd, &message, 0) < 0)
		fail("cannot send: %s", strerror(errno));
	memset(reply, 0, sizeof(*reply));
	part = (struct iovec){.iov_base = reply, .iov_len = sizeof(*reply)};
	message.msg_controllen = sizeof(control);
	if (recvmsg(fd, &message, 0) != sizeof(*reply))
		fail("no reply: %s", strerror(errno));
	if (message.msg_controllen)
		memcpy(&received, CMSG_DATA(header), sizeof(received));
	close(fd);
	return received;
}

static void refused(const char *why, const void *request, size_t size)
{
	struct clock_reply reply;
	int fd = ask_raw(request, size, &reply);

	if (fd >= 0 || reply.error != EPROTO || !strstr(reply.reason, why))
		fail("'%s' expected, not descriptor %d, error %d, '%s'", why, fd, reply.error,
			reply.reason);
}

static void silence_is_ended(void)
{
	struct pollfd connection = {.fd = connect_raw(), .events = POLLIN};

	if (poll(&connection, 1, 60000) != 1)
		fail("a connection without a request is not closed");
	close(connection.fd);
}

static void map_is_read_only(int fd)
{
	struct slot value = {.tid = 1};
	uint32_t cpu = 0;
	union bpf_attr update = {
		.map_fd = (uint32_t)fd, .key = (uintptr_t)&cpu, .value = (uintptr_t)&value};
	void *mapped;

	if (mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) != MAP_FAILED)
		fail("the map can be mapped for writing");
	mapped = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
	if (mapped == MAP_FAILED)
		fail("the map cannot be mapped: %s", strerror(errno));
	if (mprotect(mapped, 4096, PROT_READ | PROT_WRITE) == 0)
		fail("the mapping can be made writable");
	if (mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 4096) != MAP_FAILED)
		fail("there is more behind the map");
	if (syscall(SYS_bpf, BPF_MAP_UPDATE_ELEM, &update, sizeof(update)) == 0)
		fail("the map can be updated");
}

/* For some seconds, while others run. Own threads have to be seen, too. */
static void only_own_threads(int fd, uint32_t n_slots)
{
	const volatile struct slot *slots = mmap(
		NULL, n_slots * sizeof(*slots), PROT_READ, MAP_SHARED, fd, 0);
	time_t end = time(NULL) + 3;
	bool own = false;
	struct stat st;
	char path[40];

	while (time(NULL) < end || (!own && time(NULL) < end + 60))
		for (uint32_t cpu = 0; cpu < n_slots; cpu++) {
			uint32_t tid = slots[cpu].tid;

			own = own || tid == (uint32_t)getpid();
			snprintf(path, sizeof(path), "/proc/%u", tid);
			if (tid && stat(path, &st) == 0 && st.st_uid != getuid())
				fail("thread %u of user %u is shown", tid, st.st_uid);
		}
	if (!own)
		fail("own threads are not shown");
}

static void hostile(void)
{
	struct clock_request request = {.magic = CLOCK_MAGIC, .version = 1};
	struct clock_reply reply;
	char noise[4096] = "emp-clock";
	int fd;

	refused("wrong size", "hey", 3);
	refused("wrong size", noise, sizeof(noise));
	request.version = 2;
	refused("only version 1", &request, sizeof(request));
	request.version = 1;
	request.magic[0] = 'x';
	refused("does not begin with emp-clock", &request, sizeof(request));
	request.magic[0] = 'e';
	silence_is_ended();
	fd = ask_raw(&request, sizeof(request), &reply);
	if (fd < 0)
		fail("refused: %s", reply.reason);
	map_is_read_only(fd);
	only_own_threads(fd, reply.n_slots);
}

int main(int argc, char **argv)
{
	const char *verb = argc > 1 ? argv[1] : "";

	if (!strcmp(verb, "many") && argc == 4)
		many(atoi(argv[2]), atoi(argv[3]));
	else if (!strcmp(verb, "hostile"))
		hostile();
	else if (!strcmp(verb, "wait") || !strcmp(verb, "once")) {
		if ((*verb == 'o' ? emp_clock_open() : clock_open_patiently()) < 0)
			fail("emp_clock_open: %s", strerror(errno));
		puts("connected");
		fflush(stdout);
		pause();
	} else
		return 2;
	return 0;
}
