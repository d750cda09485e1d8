/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reading the slots: see slots.h. */
#include "lib/clock/slots.h"

#include <stdatomic.h>
#include <stddef.h>
#include <time.h>

static const struct slot *_Atomic all;
static _Atomic(unsigned int) n_slots;

void slots_use(const struct slot *slots, unsigned int n)
{
	all = slots;
	n_slots = n;
}

const struct slot *slot_of(unsigned int cpu)
{
	return cpu < n_slots ? &all[cpu] : NULL;
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

bool slots_read(unsigned int cpu, struct running *ret)
{
	const struct slot *slot = slot_of(cpu);
	struct running seen;
	uint32_t seq;

	if (!slot)
		return false;
	seq = __atomic_load_n(&slot->seq, __ATOMIC_ACQUIRE);
	seen = (struct running){.tid = (pid_t)slot->tid, .pid = (pid_t)slot->pid};
	seen.ns = slot->run_ns + now_ns() - slot->since_ns;
	atomic_thread_fence(memory_order_acquire);
	if (!seen.tid || (seq & 1) || __atomic_load_n(&slot->seq, __ATOMIC_RELAXED) != seq)
		return false;
	*ret = seen;
	return true;
}
