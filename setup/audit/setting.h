/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A setting that apply can make: a file of the kernel, or many of one kind, and the value they should hold. */
#pragma once

#include "lib/base/error.h"
#include "lib/host/cpu/kernel_setting.h"

#include <stdbool.h>

struct facts;

struct setting {
	const char *pattern; /* of the files; NULL: nothing can be set */
	enum kernel_setting_kind kind;
	const char *want;
	/* Where each file has a value of its own; the caller frees it; NULL: not known. */
	char *(*want_of)(const struct facts *facts, const char *path);
	kernel_setting_writer *write;
	int order;         /* lower ones are set first; equal ones in the order of the rows */
	int restore_order; /* lower ones are restored first */
	bool on_request;   /* only where --only names it */
	bool hardware;     /* a virtual machine does not have it: its host decides */
	const char *along; /* the id of a check whose files the kernel changes with these: applied and
			      restored together */
};

/* One file of a setting as it is now. */
struct setting_file {
	char *path;
	char *value; /* NULL: it could not be read */
	int error;   /* why, negative */
};

struct setting_files {
	struct setting_file *items;
	size_t n;
};

int setting_read(struct setting_files *ret, int root_fd, const struct setting *setting, struct error *err);
void setting_files_clear(struct setting_files *files);

/* What a file of a setting should hold; NULL: not known. The caller frees it. */
char *setting_want(const struct setting *setting, const struct facts *facts, const char *path);
