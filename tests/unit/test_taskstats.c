/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records of the kernel's taskstats, of several versions, as bytes. */
#include "tests/unit/check.h"

#include "lib/host/accounting/taskstats.h"

#include <linux/netlink.h>
#include <linux/taskstats.h>

enum { LEN_12 = 400, LEN_13 = 416, LEN_14 = 432, LEN_16 = 560 };

/* A record of 6.1's header, whatever its length will be taken for. */
static void make(char *bytes, uint16_t version)
{
	struct taskstats stats = {
		.version = version,
		.ac_flag = TASKSTATS_LAST | TASKSTATS_FORKED,
		.cpu_run_real_total = 8000000,
		.cpu_run_virtual_total = 7654321,
		.cpu_delay_total = 345678,
		.ac_comm = "apt-daily",
		.ac_pid = 4711,
		.ac_ppid = 1,
		.ac_tgid = 4710,
		.ac_exe_dev = 65025,
		.ac_exe_inode = 12345,
	};

	memset(bytes, 0, LEN_16);
	memcpy(bytes, &stats, sizeof(stats));
}

static void assert_fields(const struct taskstats_fields *fields, unsigned int version)
{
	assert_int_equal(fields->version, version);
	assert_int_equal(fields->flags, TASKSTATS_LAST | TASKSTATS_FORKED);
	assert_int_equal(fields->run_ns, 7654321);
	assert_int_equal(fields->tick_ns, 8000000);
	assert_int_equal(fields->wait_ns, 345678);
	assert_string_equal(fields->comm, "apt-daily");
	assert_int_equal(fields->pid, 4711);
	assert_int_equal(fields->tgid, 4710);
	assert_int_equal(fields->ppid, 1);
	assert_int_equal(fields->exe_device, 65025);
	assert_int_equal(fields->exe_inode, 12345);
}

TEST(records_of_versions_that_grew_at_the_end_are_read)
{
	static const struct {
		unsigned int version;
		size_t len;
	} rows[] = {{12, LEN_12}, {13, LEN_13}, {14, LEN_14}, {16, LEN_16}, {17, LEN_16 + 40}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct taskstats_fields fields;
		char bytes[LEN_16 + 40] = "";

		make(bytes, (uint16_t)rows[i].version);
		assert_int_equal(taskstats_read(bytes, rows[i].len, 0, &fields), 0);
		assert_fields(&fields, rows[i].version);
	}
}

TEST(records_of_version_15_have_more_in_the_middle)
{
	static const size_t behind[] = {
		400 + 16, 368, 344, 328, 64, 48, 32}; /* each delay but the last, from the end */

	/* the greatest delay; the greatest and the least */
	for (size_t each = 8; each <= 16; each += 8) {
		for (unsigned int version = 14; version <= 15; version++) {
			struct taskstats_fields fields;
			char bytes[LEN_16];

			make(bytes, (uint16_t)version);
			for (size_t i = 0; i < sizeof(behind) / sizeof(behind[0]); i++) {
				/* Moves what is at `at` and behind it up by `by` bytes. */
				memmove(bytes + behind[i] + each, bytes + behind[i],
					LEN_16 - behind[i] - each);
				memset(bytes + behind[i], 0xee, each);
			}
			assert_int_equal(taskstats_read(bytes, LEN_14 + 8 * each, 0, &fields), 0);
			assert_fields(&fields, version);
		}
	}
}

TEST(the_totals_of_a_process_that_ended_have_the_version_of_its_thread)
{
	struct taskstats_fields fields;
	char bytes[LEN_16];

	make(bytes, 0);
	assert_int_equal(taskstats_read(bytes, LEN_16, 0, &fields), -ENOTSUP);
	assert_int_equal(taskstats_read(bytes, LEN_16, 16, &fields), 0);
	assert_fields(&fields, 16);
}

TEST(older_versions_and_short_records_are_refused)
{
	struct taskstats_fields fields = {.pid = 77};
	char bytes[LEN_16];

	make(bytes, 11);
	assert_int_equal(taskstats_read(bytes, 368, 0, &fields), -ENOTSUP);
	make(bytes, 13);
	for (size_t len = 2; len < LEN_12; len++)
		assert_int_equal(taskstats_read(bytes, len, 0, &fields), -EBADMSG);
	assert_int_equal(taskstats_read(bytes, 1, 0, &fields), -EBADMSG);
	assert_int_equal(taskstats_read(bytes, 0, 0, &fields), -EBADMSG);
	assert_int_equal(fields.pid, 77);
}

TEST(a_name_without_an_end_is_cut)
{
	struct taskstats_fields fields;
	char bytes[LEN_16];

	make(bytes, 16);
	memset(bytes + 80, 'x', 32);
	assert_int_equal(taskstats_read(bytes, LEN_16, 0, &fields), 0);
	assert_int_equal(strlen(fields.comm), sizeof(fields.comm) - 1);
}

/* Appends an attribute of netlink to `bytes`, and returns where it ends. */
static size_t append(char *bytes, size_t at, uint16_t type, const void *payload, size_t len)
{
	struct nlattr attribute = {.nla_len = (uint16_t)(NLA_HDRLEN + len), .nla_type = type};

	memcpy(bytes + at, &attribute, sizeof(attribute));
	memcpy(bytes + at + NLA_HDRLEN, payload, len);
	return at + NLA_ALIGN(NLA_HDRLEN + len);
}

static size_t append_nest(
	char *bytes, size_t at, uint16_t type, uint32_t id, uint16_t version, uint64_t run_ns)
{
	char nest[1024], stats[LEN_16];
	size_t len;

	make(stats, version);
	memcpy(stats + offsetof(struct taskstats, cpu_run_virtual_total), &run_ns, sizeof(run_ns));
	len = append(nest, 0,
		type == TASKSTATS_TYPE_AGGR_PID ? TASKSTATS_TYPE_PID : TASKSTATS_TYPE_TGID, &id,
		sizeof(id));
	len = append(nest, len, TASKSTATS_TYPE_STATS, stats, sizeof(stats));
	return append(bytes, at, type | NLA_F_NESTED, nest, len);
}

TEST(the_end_of_a_process_with_threads_tells_of_both)
{
	struct taskstats_message message;
	char bytes[2048];
	size_t len = append_nest(bytes, 0, TASKSTATS_TYPE_AGGR_PID, 4711, 16, 5);

	assert_int_equal(taskstats_read_message(bytes, len, &message), 0);
	assert_true(message.has_thread && !message.has_process);
	assert_int_equal(message.thread.run_ns, 5);
	assert_int_equal(message.thread.pid, 4711);
	len = append_nest(bytes, len, TASKSTATS_TYPE_AGGR_TGID, 4710, 0, 70);
	assert_int_equal(taskstats_read_message(bytes, len, &message), 0);
	assert_true(message.has_thread && message.has_process);
	assert_int_equal(message.process.run_ns, 70);
	assert_int_equal(message.process.tgid, 4710);
}

TEST(an_answer_about_a_process_has_a_version_of_its_own)
{
	struct taskstats_message message;
	char bytes[1024];
	size_t len = append_nest(bytes, 0, TASKSTATS_TYPE_AGGR_TGID, 4710, 16, 70);

	assert_int_equal(taskstats_read_message(bytes, len, &message), 0);
	assert_true(!message.has_thread && message.has_process);
	assert_int_equal(message.process.run_ns, 70);
}

TEST(padding_and_unknown_attributes_are_passed_over)
{
	struct taskstats_message message;
	char bytes[1024];
	size_t len = append(bytes, 0, TASKSTATS_TYPE_NULL, "", 0);

	len = append(bytes, len, 77, "xyz", 3);
	len = append_nest(bytes, len, TASKSTATS_TYPE_AGGR_PID, 4711, 13, 5);
	assert_int_equal(taskstats_read_message(bytes, len, &message), 0);
	assert_int_equal(message.thread.run_ns, 5);
}

TEST(a_message_cut_anywhere_is_refused)
{
	struct taskstats_message message;
	char bytes[1024];
	size_t len = append_nest(bytes, 0, TASKSTATS_TYPE_AGGR_PID, 4711, 16, 5);

	for (size_t i = 0; i < len; i++) {
		/* so that a sanitizer sees what is read behind the end */
		char *cut = malloc(i + 1);

		memcpy(cut, bytes, i);
		assert_int_equal(taskstats_read_message(cut, i, &message), -EBADMSG);
		free(cut);
	}
}
