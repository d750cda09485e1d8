/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The attributes of the controlling terminal: a program that is killed, or fails, may leave it
 * without echo and line editing. Only for the foreground job. */
#pragma once

/* Before the first program starts; later calls do nothing. */
void tty_keep(void);

/* Puts back what was kept, and the foreground, if a program changed it. Not if another job, such as
 * the shell, has the terminal now. */
void tty_put_back(void);
