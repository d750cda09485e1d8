/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The BPF program that shows threads to their users, and a map for each user: an array of lib/clock/slots.h, one slot for each
 * CPU. The program runs while there is a user. */
#pragma once

#include "clock/clock_state.h"
#include "lib/base/cleanup.h"
#include "lib/base/error.h"

#include <stddef.h>
#include <stdint.h>

struct user_slots;

/* -errno with a sentence: the kernel does not accept the program. */
int user_slots_new(struct user_slots **ret, struct error *err);
void user_slots_free(struct user_slots *slots);
DEFINE_FREEP(user_slots)

/* One more client of this user. *ret_fd is the user's map, which can only be read; it belongs to `slots`. -ENOSPC: too many
 * users. */
int user_slots_add(struct user_slots *slots, const struct user *user, int *ret_fd, struct error *err);

/* One client less. With the last, the user's map is no longer written. */
void user_slots_drop(struct user_slots *slots, const struct user *user);

uint32_t user_slots_cpus(const struct user_slots *slots);

/* What a context switch has cost on average, and how many there were. */
struct switch_cost {
	uint64_t switches;
	double mean_ns; /* 0: not known yet */
};
struct switch_cost user_slots_cost(const struct user_slots *slots);
