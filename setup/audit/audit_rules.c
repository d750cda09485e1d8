/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See audit_rules.h. */
#include "setup/audit/audit_rules.h"

#include "lib/base/base.h"

#include <linux/audit.h>
#include <linux/netlink.h>
#include <sys/socket.h>
#include <sys/time.h>

struct rule_count {
	int rules;
	bool never; /* no task is audited at all */
};

static void count_rule(struct rule_count *count, const struct audit_rule_data *rule)
{
	const unsigned int list = rule->flags & ~(unsigned int)AUDIT_FILTER_PREPEND;

	if (list == AUDIT_FILTER_TASK && rule->action == AUDIT_NEVER && rule->field_count == 0)
		count->never = true;
	if (list == AUDIT_FILTER_EXIT && rule->action == AUDIT_ALWAYS)
		count->rules++;
}

/* The messages of one answer. 1: the last one was among them, 0: more follow; -errno. */
static int count_in_answer(struct rule_count *count, void *answer, size_t size)
{
	for (struct nlmsghdr *m = answer; NLMSG_OK(m, size); m = NLMSG_NEXT(m, size)) {
		const struct nlmsgerr *error = NLMSG_DATA(m);

		if (m->nlmsg_type == NLMSG_DONE)
			return 1;
		/* 0: the request was understood */
		if (m->nlmsg_type == NLMSG_ERROR && error->error)
			return error->error;
		if (m->nlmsg_type == AUDIT_LIST_RULES)
			count_rule(count, NLMSG_DATA(m));
	}
	return 0;
}

static int send_request(int fd)
{
	const struct nlmsghdr request = {
		.nlmsg_len = sizeof(request),
		.nlmsg_type = AUDIT_LIST_RULES,
		.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP,
		.nlmsg_seq = 1,
	};
	const struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
	ssize_t n = sendto(
		fd, &request, sizeof(request), 0, (const struct sockaddr *)&kernel, sizeof(kernel));

	return n < 0 ? -errno : 0;
}

int audit_rules_count(void)
{
	enum { SIZE = 16384 };
	static const struct timeval timeout = {.tv_sec = 2};
	_cleanup_(freep) char *buffer = xmalloc(SIZE);
	_cleanup_(closep) int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_AUDIT);
	struct rule_count count = {};
	int r;

	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
	r = send_request(fd);
	while (r == 0) {
		ssize_t n = recv(fd, buffer, SIZE, 0);

		if (n < 0)
			return -errno;
		r = n == 0 ? -EPROTO : count_in_answer(&count, buffer, (size_t)n);
	}
	if (r < 0)
		return r;
	return count.never ? 0 : count.rules;
}
