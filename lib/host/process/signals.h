/* SPDX-License-Identifier: GPL-2.0-or-later */
/* INT, TERM and HUP as a descriptor to poll, so that the sample in flight can be dropped and all
 * samples before it kept. CONT shows that a sample was stopped. */
#pragma once

#include "lib/base/base.h"
#include "lib/base/interrupt.h"

#include <signal.h>

/* Blocks those of the three signals that the caller does not ignore (nohup ignores HUP), and makes
 * a descriptor of them; -errno. Blocks PIPE and XFSZ, so that writing fails instead. The program
 * under test gets the mask that was there before (interrupt_old_mask). Once a process. */
int interrupt_init(void);
/* After it: also blocks what else would end this process before it has restored what it changed:
 * QUIT (^\), USR1 and others. They are not read. */
void interrupt_block_others(void);
const sigset_t *interrupt_old_mask(void);

/* Descriptors that become readable when a child ends or stops (CHLD), and when this process is
 * resumed after a stop (CONT). -1 before interrupt_init. */
extern int interrupt_child_fd, interrupt_continued_fd;

/* Reads all that has come on such a descriptor; false: nothing. */
bool interrupt_drain(int fd);
