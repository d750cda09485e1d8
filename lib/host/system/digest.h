/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SHA-256 of some bytes, or of a file, as hexadecimal text. */
#pragma once

#include "lib/base/base.h"

enum { DIGEST_SIZE = 65 };

void digest_of(const void *data, size_t size, char ret[DIGEST_SIZE]);
/* 0, or a negative errno. */
int digest_of_file(const char *path, char ret[DIGEST_SIZE]);
