/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A pipe whose other end discards everything: for programs that do less when they see /dev/null. A thread
 * moves the pages to /dev/null without looking at them. */
#pragma once

#include "lib/base/error.h"

/* The end to write to, open until the process ends; a program gets it as its standard output. */
int pipe_drain_new(int *ret_fd, struct error *err);
