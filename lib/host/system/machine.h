/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What this machine is: its processor, memory, firmware, operating system, and whether it is a machine at
 * all or a virtual one, or a container. Apart from what is set on it, because none of this can be changed
 * from here. Everything is read below a root descriptor, so that captured machines replay. */
#pragma once

#include "lib/base/cleanup.h"

#include <stdbool.h>
#include <stdint.h>

struct machine {
	bool virtual;     /* a hypervisor runs below the kernel */
	bool container;   /* the kernel is shared with a host that is not seen from here */
	char *hypervisor; /* its name ("KVM"); NULL where there is none, or it has no name that we know */
	char *engine;     /* what made the container ("docker"), likewise */
	bool systemd;     /* systemd is the first process */

	char *cpu_vendor, *cpu_name, *cpu_family, *cpu_model, *cpu_stepping, *microcode; /* NULL: not told */
	char *flags; /* of the first CPU */
	int64_t n_cpus;
	int64_t memory_bytes; /* 0: not told */

	char *vendor, *product, *board, *firmware;    /* DMI; NULL where there is none */
	char *os_id, *os_version, *os_name, *os_like; /* os-release */
	char id[33]; /* made of the machine id, and tells nothing of it; "" where there is none */
};

/* What cannot be read stays empty. */
void machine_read(struct machine *ret, int root_fd);
void machine_clear(struct machine *machine);

/* "a physical machine", "a virtual machine (KVM)", "a docker container in a virtual machine". `buffer` is
 * returned. */
enum { MACHINE_DESCRIPTION_SIZE = 160 };
char *machine_description(const struct machine *machine, char buffer[MACHINE_DESCRIPTION_SIZE]);

/* Whether the processor tells this flag ("constant_tsc"). */
bool machine_flag(const struct machine *machine, const char *flag);
