/* SPDX-License-Identifier: GPL-2.0-or-later */
/* This machine: processor, memory, firmware, operating system, and whether it is a virtual machine
 * or a container. Everything is read below a root descriptor, so that captured machines replay. */
#pragma once

#include "lib/base/base.h"

struct machine {
	bool virtual;     /* a hypervisor runs below the kernel */
	bool container;   /* the kernel is shared with a host */
	char *hypervisor; /* its name ("KVM"); NULL if there is none, or its name is not known */
	char *engine;     /* what made the container ("docker"), likewise */
	bool systemd;     /* systemd is the first process */

	/* NULL: not known */
	char *cpu_vendor, *cpu_name, *cpu_family, *cpu_model, *cpu_stepping, *microcode;
	char *flags; /* of the first CPU */
	int64_t n_cpus;
	int64_t memory_bytes; /* 0: not known */

	char *vendor, *product, *board, *firmware;    /* DMI; NULL where there is none */
	char *os_id, *os_version, *os_name, *os_like; /* os-release */
	/* derived from the machine id, which it does not reveal; "" if there is none */
	char id[33];
};

/* What cannot be read stays empty. */
void machine_read(struct machine *ret, int root_fd);
void machine_clear(struct machine *machine);

/* "a physical machine", "a virtual machine (KVM)", "a docker container in a virtual machine". Valid
 * as a text_brief(). */
const char *machine_description(const struct machine *machine);
