/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's audit rules: see audit_rules.h. Asked over netlink, as auditctl -l does. */
#include "lib/host/system/audit_rules.h"

#include "lib/base/xalloc.h"
#include "lib/base/cleanup.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/netlink.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/time.h>

struct rules {
	int n;
	bool never; /* no task is audited at all */
};

static int ask(void)
{
	static const struct timeval patience = {.tv_sec = 2};
	struct nlmsghdr request = {.nlmsg_len = sizeof(request),
		.nlmsg_type = AUDIT_LIST_RULES,
		.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP,
		.nlmsg_seq = 1};
	struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
	_cleanup_(closep) int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_AUDIT);

	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	if (sendto(fd, &request, sizeof(request), 0, (struct sockaddr *)&kernel, sizeof(kernel)) < 0)
		return -errno;
	return TAKE_FD(fd);
}

static void take_rule(struct rules *rules, const struct audit_rule_data *rule)
{
	unsigned int list = rule->flags & ~(unsigned int)AUDIT_FILTER_PREPEND;

	if (list == AUDIT_FILTER_TASK && rule->action == AUDIT_NEVER && rule->field_count == 0)
		rules->never = true;
	rules->n += list == AUDIT_FILTER_EXIT && rule->action == AUDIT_ALWAYS;
}

/* 1: that was the last message. */
static int take_message(struct rules *rules, const struct nlmsghdr *m)
{
	const struct nlmsgerr *e = NLMSG_DATA(m);

	if (m->nlmsg_type == NLMSG_DONE)
		return 1;
	if (m->nlmsg_type == NLMSG_ERROR)
		return e->error; /* 0: the request was understood */
	if (m->nlmsg_type == AUDIT_LIST_RULES)
		take_rule(rules, NLMSG_DATA(m));
	return 0;
}

int audit_rules_count(void)
{
	enum { SIZE = 16384 };
	_cleanup_(freep) char *buffer = xmalloc(SIZE);
	_cleanup_(closep) int fd = ask();
	struct rules rules = {};
	int r = !buffer ? -ENOMEM : fd < 0 ? fd : 0;

	while (r == 0) {
		ssize_t n = recv(fd, buffer, SIZE, 0);
		size_t left = n > 0 ? (size_t)n : 0;

		r = n < 0 ? -errno : n == 0 ? -EPROTO : 0;
		for (struct nlmsghdr *m = (struct nlmsghdr *)buffer; r == 0 && NLMSG_OK(m, left);
			m = NLMSG_NEXT(m, left))
			r = take_message(&rules, m);
	}
	if (r < 0)
		return r;
	return rules.never ? 0 : rules.n;
}
