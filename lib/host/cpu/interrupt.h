/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which CPUs handle an interrupt. */
#pragma once

/* Writes /proc/irq/N/smp_affinity_list. -ENODEV: the kernel does not let anybody move this interrupt. -errno without a
 * sentence. */
int interrupt_write_list(const char *path, const char *list);
