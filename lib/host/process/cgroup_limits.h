/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How much CPU time the control groups that this process is in let it have: by the cpu controller of cgroup v2 or v1,
 * in its own group and those above. What is above a container's own root is not visible. */
#pragma once

#include <stdint.h>

struct cgroup_limits {
	double quota;    /* the smallest, in CPUs: 0.2 stands for 20 % of one; 0: no limit */
	char *quota_of;  /* the directory of the group that has it; NULL: none */
	int64_t weight;  /* the smallest, in percent of the usual; -1: not known */
	char *weight_of; /* the directory of the group that has it; NULL: none has less than usual */
};

/* -ENOENT: no cpu controller is mounted; -errno without a sentence. Nothing is written to `ret` then. */
int cgroup_limits_read(struct cgroup_limits *ret, int root_fd);
void cgroup_limits_clear(struct cgroup_limits *limits);
