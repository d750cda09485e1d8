/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Offsets in the kernel's struct taskstats: see taskstats.h. Not the header's struct, which belongs to the kernel of
 * the build machine. */
#include "lib/host/accounting/taskstats.h"

#include <errno.h>
#include <linux/netlink.h>
#include <linux/taskstats.h>
#include <string.h>

enum {
	AT_FLAGS = 8,
	AT_WAIT = 24,
	/* after three delays */
	AT_TICK = 64,
	AT_RUN = 72,
	AT_COMM = 80,
	AT_PID = 128,
	AT_PPID = 132,
	/* after three more */
	AT_TGID = 368,
	AT_EXE_DEVICE = 384,
	AT_EXE_INODE = 392,
	END = 400,
};

/* Linux 6.14 (version 14) added the maximum of each of the eight delays after its total, 6.15 (version 15) the minimum
 * too; version 16 moved them to the end. The length shows how many more bytes each delay has. */
static size_t more_per_delay(unsigned int version, size_t len)
{
	enum { VERSION_14_LEN = 432, N_DELAYS = 8 };

	return (version == 14 || version == 15) && len > VERSION_14_LEN ? (len - VERSION_14_LEN) / N_DELAYS
									: 0;
}

static uint64_t get64(const char *data, size_t at)
{
	uint64_t value;

	memcpy(&value, data + at, sizeof(value));
	return value;
}

static uint32_t get32(const char *data, size_t at)
{
	uint32_t value;

	memcpy(&value, data + at, sizeof(value));
	return value;
}

int taskstats_read(const void *bytes, size_t len, unsigned int version, struct taskstats_fields *ret)
{
	const char *data = bytes;
	size_t three, six;
	uint16_t own;

	if (len < sizeof(own))
		return -EBADMSG;
	memcpy(&own, data, sizeof(own));
	if (version == 0)
		version = own;
	if (version < TASKSTATS_MIN_VERSION)
		return -ENOTSUP;
	three = 3 * more_per_delay(version, len);
	six = 2 * three;
	if (len < END + six)
		return -EBADMSG;
	*ret = (struct taskstats_fields){
		.version = (uint16_t)version,
		.flags = (uint8_t)data[AT_FLAGS],
		.run_ns = get64(data, AT_RUN + three),
		.tick_ns = get64(data, AT_TICK + three),
		.wait_ns = get64(data, AT_WAIT),
		.pid = get32(data, AT_PID + three),
		.ppid = get32(data, AT_PPID + three),
		.tgid = get32(data, AT_TGID + six),
		.exe_device = get64(data, AT_EXE_DEVICE + six),
		.exe_inode = get64(data, AT_EXE_INODE + six),
	};
	memcpy(ret->comm, data + AT_COMM + three, sizeof(ret->comm) - 1);
	return 0;
}

/* Removes the first attribute from the rest; false: there is no complete one. */
static bool next_attribute(const char **data, size_t *len, struct nlattr *ret, const char **ret_payload)
{
	size_t aligned;

	if (*len < NLA_HDRLEN)
		return false;
	memcpy(ret, *data, sizeof(*ret));
	if (ret->nla_len < NLA_HDRLEN || ret->nla_len > *len)
		return false;
	ret->nla_type &= NLA_TYPE_MASK;
	*ret_payload = *data + NLA_HDRLEN;
	aligned = NLA_ALIGN(ret->nla_len);
	if (aligned > *len)
		aligned = *len;
	*data += aligned;
	*len -= aligned;
	return true;
}

/* A nest of an id and the struct. */
static int read_nest(
	const char *data, size_t len, unsigned int version, uint32_t *ret_id, struct taskstats_fields *ret)
{
	struct nlattr attribute;
	const char *payload;
	int r = -EBADMSG;

	while (next_attribute(&data, &len, &attribute, &payload)) {
		size_t size = attribute.nla_len - NLA_HDRLEN;

		if (attribute.nla_type == TASKSTATS_TYPE_STATS)
			r = taskstats_read(payload, size, version, ret);
		else if (size >= sizeof(*ret_id) && attribute.nla_type != TASKSTATS_TYPE_NULL)
			memcpy(ret_id, payload, sizeof(*ret_id));
	}
	return r;
}

int taskstats_read_message(const void *attributes, size_t len, struct taskstats_message *ret)
{
	struct taskstats_message message = {};
	const char *data = attributes, *payload;
	struct nlattr nest;
	uint32_t id = 0;
	int r = 0;

	while (r == 0 && next_attribute(&data, &len, &nest, &payload)) {
		size_t size = nest.nla_len - NLA_HDRLEN;

		if (nest.nla_type == TASKSTATS_TYPE_AGGR_PID) {
			r = read_nest(payload, size, 0, &id, &message.thread);
			message.has_thread = true;
		} else if (nest.nla_type == TASKSTATS_TYPE_AGGR_TGID) {
			/* At the end of a process its totals come without a version, after those of a
			 * thread. */
			r = read_nest(payload, size, message.thread.version, &id, &message.process);
			message.process.tgid = id;
			message.has_process = true;
		}
	}
	if (r < 0)
		return r;
	if (!message.has_thread && !message.has_process)
		return -EBADMSG;
	*ret = message;
	return 0;
}
