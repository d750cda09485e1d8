/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Taskstats over netlink: see taskstats.h.
 *
 * Losses are counted in two ways. The records' sequence numbers are a counter of the CPU on which a
 * task ended, so each CPU has its own socket. A task that is moved to another CPU meanwhile changes
 * two of them, one up and one down, so only the sum over all sockets counts. A gap is noticed only
 * at the next record, so losses at the end come from the sockets' own count of dropped records. */
#include "lib/host/accounting/taskstats.h"

#include <libmnl/libmnl.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/taskstats.h>
#include <sys/param.h>
#include <sys/socket.h>
#include <sys/time.h>

int taskstats_read(
	const void *bytes, size_t len, unsigned int version, struct taskstats_fields *ret)
{
	enum {
		VERSION_14_LEN = 432,
		N_DELAYS = 8,
		AT_FLAGS = 8,
		AT_WAIT = 24,
		AT_TIMES = 64,
		AT_EXE = 368
	};

	/* Parts of the kernel's struct taskstats: not the header's, which belongs to the kernel
	 * of the build machine. Before the first there are three delays, and three more between
	 * them. */
	struct {
		uint64_t tick_ns, run_ns;
		char comm[32], others[16];
		uint32_t pid, ppid;
	} times;
	struct {
		uint32_t tgid, other;
		uint64_t another, device, inode;
	} exe;
	const char *data = bytes;
	size_t three = 0, six;
	uint64_t wait_ns;
	uint16_t own;

	if (len < sizeof(own))
		return -EBADMSG;
	memcpy(&own, data, sizeof(own));
	if (version == 0)
		version = own;
	if (version < TASKSTATS_MIN_VERSION)
		return -ENOTSUP;

	/* Linux 6.14 (version 14) added the maximum of each of the eight delays after its total,
	 * 6.15 (version 15) the minimum too; version 16 moved them to the end. The length shows how
	 * many more bytes each delay has. */
	if ((version == 14 || version == 15) && len > VERSION_14_LEN)
		three = 3 * ((len - VERSION_14_LEN) / N_DELAYS);
	six = 2 * three;
	if (len < AT_EXE + sizeof(exe) + six)
		return -EBADMSG;

	memcpy(&wait_ns, data + AT_WAIT, sizeof(wait_ns));
	memcpy(&times, data + AT_TIMES + three, sizeof(times));
	memcpy(&exe, data + AT_EXE + six, sizeof(exe));
	*ret = (struct taskstats_fields){
		.version = (uint16_t)version,
		.flags = (uint8_t)data[AT_FLAGS],
		.run_ns = times.run_ns,
		.tick_ns = times.tick_ns,
		.wait_ns = wait_ns,
		.pid = times.pid,
		.ppid = times.ppid,
		.tgid = exe.tgid,
		.exe_device = exe.device,
		.exe_inode = exe.inode,
	};
	memcpy(ret->comm, times.comm, sizeof(ret->comm) - 1);
	return 0;
}

/* A nest of an id and the struct. */
static int read_nest(const struct nlattr *nest, unsigned int version, struct taskstats_fields *ret)
{
	const struct nlattr *attr;
	uint32_t tgid = 0;
	int r = -EBADMSG;

	mnl_attr_for_each_nested(attr, nest)
	{
		const void *payload = mnl_attr_get_payload(attr);
		size_t len = mnl_attr_get_payload_len(attr);

		if (mnl_attr_get_type(attr) == TASKSTATS_TYPE_STATS)
			r = taskstats_read(payload, len, version, ret);
		else if (mnl_attr_get_type(attr) == TASKSTATS_TYPE_TGID && len >= sizeof(tgid))
			memcpy(&tgid, payload, sizeof(tgid));
	}
	if (tgid)
		ret->tgid = tgid; /* the struct of a whole process has none */
	return r;
}

int taskstats_read_message(const void *attributes, size_t len, struct taskstats_message *ret)
{
	struct taskstats_message message = {};
	const struct nlattr *attr;
	int r = 0;

	mnl_attr_for_each_payload(attributes, len)
	{
		if (mnl_attr_get_type(attr) == TASKSTATS_TYPE_AGGR_PID) {
			r = read_nest(attr, 0, &message.thread);
			message.has_thread = true;
		} else if (mnl_attr_get_type(attr) == TASKSTATS_TYPE_AGGR_TGID) {
			/* at the end of a process its totals come without a version, after those of
			 * a thread */
			r = read_nest(attr, message.thread.version, &message.process);
			message.has_process = true;
		}
		if (r < 0)
			return r;
	}
	if (!message.has_thread && !message.has_process)
		return -EBADMSG;
	*ret = message;
	return 0;
}

enum {
	REQUEST_BYTES = 32,
	REPLY_BYTES = 8192,
	ASK_BYTES = 1 << 20,
	/* A record takes some 1,300 bytes of a buffer, so that 64 MB hold 50,000. Nothing is set
	 * aside. */
	MAX_RECEIVE_BYTES = 64 << 20,
	ALL_RECEIVE_BYTES = 512 << 20,
};

struct cpu_socket {
	struct mnl_socket *socket;
	uint32_t next_sequence;
	bool has_sequence;
};

struct taskstats_link {
	struct mnl_socket *socket; /* for questions */
	uint16_t family;
	uint32_t sequence; /* of the last request */
	struct cpu_socket *cpus;
	size_t n_cpus, current; /* the one that is read */
	int64_t gaps;
	char request[TASKSTATS_BATCH * REQUEST_BYTES];
	char reply[REPLY_BYTES];
};

static struct nlmsghdr *put_request(
	char *buffer, uint16_t type, uint16_t flags, uint32_t sequence, uint8_t command)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buffer);
	struct genlmsghdr *genl;

	nlh->nlmsg_type = type;
	nlh->nlmsg_flags = NLM_F_REQUEST | flags;
	nlh->nlmsg_seq = sequence;
	genl = mnl_nlmsg_put_extra_header(nlh, sizeof(*genl));
	genl->cmd = command;
	genl->version = TASKSTATS_GENL_VERSION;
	return nlh;
}

static int open_socket(struct mnl_socket **ret, int receive_bytes)
{
	struct mnl_socket *socket = mnl_socket_open2(NETLINK_GENERIC, SOCK_CLOEXEC);

	if (!socket)
		return -errno;
	if (mnl_socket_bind(socket, 0, MNL_SOCKET_AUTOPID) < 0 ||
		setsockopt(mnl_socket_get_fd(socket), SOL_SOCKET, SO_RCVBUFFORCE, &receive_bytes,
			sizeof(receive_bytes)) < 0) {
		int r = -errno;

		mnl_socket_close(socket);
		return r;
	}
	*ret = socket;
	return 0;
}

/* 0 in an acknowledgement. */
static int error_in(const struct nlmsghdr *nlh)
{
	return ((const struct nlmsgerr *)mnl_nlmsg_get_payload(nlh))->error;
}

static int find_family(struct taskstats_link *link)
{
	struct nlmsghdr *nlh = put_request(
		link->request, GENL_ID_CTRL, 0, ++link->sequence, CTRL_CMD_GETFAMILY);
	const struct nlattr *attr;

	mnl_attr_put_strz(nlh, CTRL_ATTR_FAMILY_NAME, TASKSTATS_GENL_NAME);
	if (mnl_socket_sendto(link->socket, nlh, nlh->nlmsg_len) < 0 ||
		mnl_socket_recvfrom(link->socket, link->reply, sizeof(link->reply)) < 0)
		return -errno;
	nlh = (struct nlmsghdr *)link->reply;
	if (nlh->nlmsg_type == NLMSG_ERROR)
		return error_in(nlh);
	mnl_attr_for_each(attr, nlh,
		sizeof(struct genlmsghdr)) if (mnl_attr_get_type(attr) == CTRL_ATTR_FAMILY_ID)
		link->family = mnl_attr_get_u16(attr);
	return link->family ? 0 : -ENOENT;
}

int taskstats_link_new(struct taskstats_link **ret, struct error *err)
{
	_cleanup_(taskstats_link_freep) struct taskstats_link *link = xcalloc(1, sizeof(*link));
	/* an answer is there when sendto returns, or never comes */
	struct timeval limit = {.tv_sec = 1};
	int r = open_socket(&link->socket, ASK_BYTES);

	if (r == 0 && setsockopt(mnl_socket_get_fd(link->socket), SOL_SOCKET, SO_RCVTIMEO, &limit,
			      sizeof(limit)) < 0)
		r = -errno;
	if (r < 0)
		return error_os(err, r, "cannot open a netlink socket");
	r = find_family(link);
	if (r == -ENOENT)
		return error_say(err, -ENOTSUP, "the kernel is built without CONFIG_TASKSTATS");
	if (r < 0)
		return error_os(
			err, r, "cannot find taskstats among the kernel's netlink families");
	*ret = TAKE(link);
	return 0;
}

void taskstats_link_free(struct taskstats_link *link)
{
	if (!link)
		return;
	for (size_t i = 0; i < link->n_cpus; i++)
		mnl_socket_close(link->cpus[i].socket);
	free(link->cpus);
	if (link->socket)
		mnl_socket_close(link->socket);
	free(link);
}

/* Asks for the records of a CPU, and waits for the answer, past records that come in between. */
static int register_cpu(struct taskstats_link *link, struct mnl_socket *socket, int cpu)
{
	struct nlmsghdr *nlh = put_request(
		link->request, link->family, NLM_F_ACK, ++link->sequence, TASKSTATS_CMD_GET);
	char mask[16];

	snprintf(mask, sizeof(mask), "%d", cpu);
	mnl_attr_put_strz(nlh, TASKSTATS_CMD_ATTR_REGISTER_CPUMASK, mask);
	if (mnl_socket_sendto(socket, nlh, nlh->nlmsg_len) < 0)
		return -errno;
	nlh = (struct nlmsghdr *)link->reply;
	while (mnl_socket_recvfrom(socket, link->reply, sizeof(link->reply)) >= 0)
		if (nlh->nlmsg_type == NLMSG_ERROR)
			return error_in(nlh);
	return -errno;
}

int taskstats_link_watch_ends(struct taskstats_link *link, int receive_bytes, struct error *err)
{
	_cleanup_(freep) char *online = NULL;
	_cleanup_(freep) int *cpus = NULL;
	size_t n = 0;
	int r = path_read_text(AT_FDCWD, NULL, &online, "/sys/devices/system/cpu/online");

	if (r == 0)
		r = text_parse_cpu_list(online, &cpus, &n);
	if (r < 0)
		return error_os(err, r, "cannot read which CPUs exist");
	link->cpus = xcalloc(n, sizeof(*link->cpus));
	if (receive_bytes == 0)
		receive_bytes = MIN(ALL_RECEIVE_BYTES / (int)n, MAX_RECEIVE_BYTES);
	for (size_t i = 0; i < n; i++) {
		struct cpu_socket *c = &link->cpus[i];

		r = open_socket(&c->socket, receive_bytes);
		if (r == 0) {
			link->n_cpus++;
			r = register_cpu(link, c->socket, cpus[i]);
		}
		if (r == 0 && fcntl(mnl_socket_get_fd(c->socket), F_SETFL, O_NONBLOCK) < 0)
			r = -errno;
		if (r < 0)
			return error_os(err, r,
				"the kernel does not report which processes end on CPU %d",
				cpus[i]);
	}
	return 0;
}

static int read_message(
	const struct nlmsghdr *nlh, struct taskstats_message *ret, struct error *err)
{
	size_t len = mnl_nlmsg_get_payload_len(nlh), header = sizeof(struct genlmsghdr);
	int r = -EBADMSG;

	if (len >= header)
		r = taskstats_read_message(
			mnl_nlmsg_get_payload_offset(nlh, header), len - header, ret);
	if (r == -ENOTSUP)
		return error_say(err, r,
			"the kernel's taskstats is older than version %d (Linux 5.19), "
			"and does not distinguish threads from processes",
			TASKSTATS_MIN_VERSION);
	if (r < 0)
		return error_say(err, r, "the kernel's taskstats records have an unknown length");
	return 0;
}

int taskstats_link_ask(struct taskstats_link *link, enum taskstats_scope scope, const pid_t *pids,
	size_t n, struct taskstats_fields *ret, struct error *err)
{
	uint16_t attribute = scope == TASKSTATS_THREAD ? TASKSTATS_CMD_ATTR_PID
						       : TASKSTATS_CMD_ATTR_TGID;
	const struct nlmsghdr *reply = (const struct nlmsghdr *)link->reply;
	uint32_t first = link->sequence + 1;
	char *at = link->request;
	size_t left = n;
	int r;

	for (size_t i = 0; i < n; i++) {
		struct nlmsghdr *nlh = put_request(
			at, link->family, 0, ++link->sequence, TASKSTATS_CMD_GET);

		mnl_attr_put_u32(nlh, attribute, (uint32_t)pids[i]);
		at += MNL_ALIGN(nlh->nlmsg_len);
		ret[i] = (struct taskstats_fields){};
	}
	if (mnl_socket_sendto(link->socket, link->request, (size_t)(at - link->request)) < 0)
		return error_os(err, -errno, "cannot ask the kernel about processes");
	while (left > 0) {
		struct taskstats_message message;

		if (mnl_socket_recvfrom(link->socket, link->reply, sizeof(link->reply)) < 0) {
			if (errno == ENOBUFS || errno == EAGAIN)
				break;
			return error_os(err, -errno, "cannot receive taskstats");
		}
		if (reply->nlmsg_seq - first >= n) /* of an earlier question that was given up */
			continue;
		left--;
		if (reply->nlmsg_type == NLMSG_ERROR) {
			r = error_in(reply);
			if (r == -ESRCH || r == -EINVAL) /* it is gone */
				continue;
			return error_os(err, r, "the kernel refuses to report a process");
		}
		r = read_message(reply, &message, err);
		if (r < 0)
			return r;
		ret[reply->nlmsg_seq - first] = message.has_process ? message.process
								    : message.thread;
	}
	return (int)left;
}

int taskstats_link_ask_one(
	struct taskstats_link *link, pid_t pid, struct taskstats_fields *ret, struct error *err)
{
	struct taskstats_fields fields;
	int r = taskstats_link_ask(link, TASKSTATS_THREAD, &pid, 1, &fields, err);

	if (r < 0)
		return r;
	if (fields.version == 0)
		return error_say(err, -ESRCH, "taskstats does not report process %d", pid);
	*ret = fields;
	return 0;
}

int taskstats_link_next_end(
	struct taskstats_link *link, struct taskstats_message *ret, struct error *err)
{
	const struct nlmsghdr *reply = (const struct nlmsghdr *)link->reply;

	while (link->current < link->n_cpus) {
		struct cpu_socket *cpu = &link->cpus[link->current];
		int r;

		if (mnl_socket_recvfrom(cpu->socket, link->reply, sizeof(link->reply)) < 0) {
			if (errno == EAGAIN)
				link->current++;
			else if (errno != ENOBUFS) /* taskstats_link_lost counts those */
				return error_os(err, -errno, "cannot read which processes ended");
			continue;
		}
		if (reply->nlmsg_type != link->family)
			continue;
		if (cpu->has_sequence)
			link->gaps += (int32_t)(reply->nlmsg_seq - cpu->next_sequence);
		cpu->has_sequence = true;
		cpu->next_sequence = reply->nlmsg_seq + 1;
		r = read_message(reply, ret, err);
		if (r < 0)
			return r;
		if (ret->has_thread)
			return 1;
	}
	link->current = 0;
	return 0;
}

uint64_t taskstats_link_lost(const struct taskstats_link *link)
{
	uint64_t dropped = 0, missing = link->gaps > 0 ? (uint64_t)link->gaps : 0;

	for (size_t i = 0; i < link->n_cpus; i++) {
		uint32_t info[SK_MEMINFO_VARS] = {};
		socklen_t len = sizeof(info);

		getsockopt(mnl_socket_get_fd(link->cpus[i].socket), SOL_SOCKET, SO_MEMINFO, info,
			&len);
		dropped += info[SK_MEMINFO_DROPS];
	}
	return dropped > missing ? dropped : missing;
}
