/* SPDX-License-Identifier: GPL-2.0-or-later */
/* INT, TERM and HUP as a descriptor to poll, so that the sample in flight can be dropped and all samples before it
 * kept. CONT shows that a sample was stopped. */
#pragma once

#include "lib/base/base.h"

#include <signal.h>

/* Blocks the three signals (HUP: unless it is ignored, as by nohup) and makes a descriptor of them; -errno. Blocks PIPE and
 * XFSZ, so that writing fails instead.
 * The program under test gets the mask that was there before (interrupt_old_mask). Once a process. */
int interrupt_init(void);
/* After it: also blocks what else would end this process before it has restored what it changed: QUIT (^\),
 * USR1 and others. They are not read. */
void interrupt_block_others(void);
int interrupt_fd(void); /* -1 before interrupt_init */
const sigset_t *interrupt_old_mask(void);

/* A descriptor that becomes readable when a child ends or stops (SIGCHLD); interrupt_child_clear makes it
 * unreadable. */
int interrupt_child_fd(void);
void interrupt_child_clear(void);

/* The first signal that was received, 0: none so far. */
int interrupt_pending(void);

/* The next one, each once; 0: none. For a caller that passes them on, instead of interrupt_pending. *ret_typed: the
 * kernel sent it (^C), and to all processes of the terminal's foreground. */
int interrupt_next(bool *ret_typed);

/* Whether this process was stopped (^Z) and resumed since this was last asked. */
bool interrupt_was_stopped(void);
