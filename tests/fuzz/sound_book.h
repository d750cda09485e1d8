/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A small lab book with a row in each table. */
#pragma once

void sound_book_make(const char *path);
