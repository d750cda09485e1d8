/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's audit rules: with one that may match, the kernel keeps a record of every system call. */
#pragma once

/* How many rules record system calls or file accesses, of which a rule "never,task" makes none work. -EPERM for
 * ordinary users and in containers, -EPROTONOSUPPORT: a kernel without audit; other -errno; without a sentence. */
int audit_rules_count(void);
