/* SPDX-License-Identifier: GPL-2.0-or-later */
/* INT, TERM and HUP as a descriptor to poll, and files that a user names. Each of these may be a
 * named pipe with nobody at its other end: the signals end the wait for it. A tool that does not
 * call interrupt_init (lib/host/process/signals.h) is ended by the signals themselves. */
#pragma once

#include <stdio.h>
#include <sys/types.h>

/* Readable when one of the signals has come; -1 before interrupt_init. */
extern int interrupt_fd;

/* The first of the signals that was received, 0: none so far. */
int interrupt_pending(void);
/* The signal that the last interrupt_pending() returned, without looking for a new one. */
int interrupt_noted(void);
/* Notes a signal that the caller has read from interrupt_fd itself. */
void interrupt_note(int signal);

/* As openat(2) with O_CLOEXEC. EINTR: a signal came before the pipe had another end. A reader waits
 * for the first byte, too. */
int interrupt_open(int directory_fd, const char *path, int flags, mode_t mode);

/* As read(2). EINTR: a signal came first. */
ssize_t interrupt_read(int fd, void *buffer, size_t size);

/* fdopen(3), to read ("r") or to write ("w"). Reads and writes fail with EINTR when a signal comes
 * while they wait for the other end of a pipe or socket. The descriptor is the file's; after a
 * failure (NULL), the caller's. */
FILE *interrupt_fdopen(int fd, const char *mode);
