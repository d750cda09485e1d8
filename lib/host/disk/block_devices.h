/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The block devices whose requests the kernel traces. Those that hand all they get to others (dm, md), or to memory (zram), have no
 * requests of their own. */
#pragma once

#include <stddef.h>

/* How many there are, below the directory that root_fd is (AT_FDCWD: this machine), without those of no size: loop devices that
 * are not in use, drives without a disk. */
size_t block_devices_count(int root_fd);
