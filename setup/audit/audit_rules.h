/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rules of the kernel's audit, which are asked for over netlink, as auditctl -l does. */
#pragma once

/* How many rules record system calls or file accesses: with one that may match, the kernel keeps a
 * record of every system call. A rule "never,task" disables all of them. -EPERM for ordinary users
 * and in containers, -EPROTONOSUPPORT: a kernel without audit; other -errno. */
int audit_rules_count(void);
