/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Times each wait for a page, with BPF: those of the tasks below a cgroup, and the requests of all block devices. */
#pragma once

#include "lib/base/cleanup.h"
#include "lib/base/error.h"
#include "lib/host/disk/page_wait_bins.h"

#include <stdbool.h>
#include <stddef.h>

struct page_wait_meter;

/* With the privileges raised (privilege.h). Without a block device, requests are not watched. -EPERM, -ENOTSUP…, with a
 * sentence that says what is missing. */
int page_wait_meter_new(struct page_wait_meter **ret, struct error *err);
void page_wait_meter_free(struct page_wait_meter *meter);

/* Whether it watches these. */
bool page_wait_meter_watches(const struct page_wait_meter *meter, enum page_wait_histogram which);

/* From now on it watches the tasks in the cgroup that is open as `cgroup_fd`, and below it. */
int page_wait_meter_set(const struct page_wait_meter *meter, int cgroup_fd, struct error *err);

/* What ended since the meter was made. */
void page_wait_meter_read(const struct page_wait_meter *meter, struct page_wait_sums *ret);

/* The block devices whose requests the kernel traces. Those that hand all they get to others (dm, md), or to memory (zram), have no
 * requests of their own. */

/* How many there are, below the directory that root_fd is (AT_FDCWD: this machine), without those of no size: loop devices that
 * are not in use, drives without a disk. */
size_t block_devices_count(int root_fd);
