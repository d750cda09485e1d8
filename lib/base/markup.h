/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names and commands, which any user can choose, as cells of tables, without special meaning for any character in them. */
#pragma once

#include <stdio.h>

/* RFC 4180: quoted if necessary. A formula becomes text by an apostrophe before it. */
void markup_csv(FILE *file, const char *text);

/* As code, between more backquotes than are in it (CommonMark, code spans). */
void markup_markdown(FILE *file, const char *text);

/* `bar` stands for |, which would end the cell. */
void markup_without_bars(FILE *file, const char *text, const char *bar);
