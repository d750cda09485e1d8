/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The CPU time of the calling thread and of its process. It is read from the kernel, or from the service's slot, when the
 * thread has got a CPU; for as long as it keeps it, the time stamp counter says what has been added. */
#pragma once

#include "lib/clock/slots.h"

#define NS_PER_S 1000000000ULL

/* Lets all threads of the process read slots[0 … n - 1], which stay mapped. */
void own_use_slots(const struct slot *slots, unsigned int n);
