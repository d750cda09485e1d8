/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The fields of a struct that is stored in the book and in documents, in one table. The SQL that
 * stores and reads the struct and the members of its JSON object are made from it. */
#pragma once

#include "lib/base/base.h"
#include "lib/base/json.h"

enum field_type {
	FIELD_INT64,
	FIELD_INT, /* and pid_t */
	FIELD_UINT32,
	FIELD_BOOL,
	FIELD_TEXT,  /* char *, owned by the struct */
	FIELD_CHARS, /* an array of char */
	FIELD_ENUM,
	FIELD_REAL, /* double, `min` or more */
};

enum field_presence {
	FIELD_REQUIRED,
	FIELD_OPTIONAL,  /* `unknown` is NULL in the book and absent in a document */
	FIELD_DEFAULTED, /* `unknown` is stored as it is, and absent in a document */
};

/* Ids that differ from book to book. */
enum field_reference { FIELD_TO_NOTHING, FIELD_TO_SOURCE, FIELD_TO_ENVIRONMENT, FIELD_TO_RUN };

struct field {
	const char *name; /* of the column, and of the member */
	enum field_type type;
	size_t offset, size;
	enum field_presence presence;
	int64_t unknown;
	int64_t min, max;         /* in a document and in the book; max 0: what the type holds */
	const char *const *words; /* of an enum */
	int n_words;
	const char *seconds;    /* the member's name where documents have seconds for ns */
	const char *expression; /* read from this SQL expression, and never stored */
	bool book_only;         /* not a member */
	bool must_be_given;     /* in a document, though the book may not know it */
	bool omitted;           /* from a document if unknown, whatever the table's `nulls` */
	enum field_reference refers;
};

/* The start of a row: name, type, where it is. */
#define FIELD(of, type, member) \
	.name = #member, (type), offsetof(struct of, member), sizeof(((struct of *)NULL)->member)

/* What often stands in a row. */
#define IS_OPTIONAL .presence = FIELD_OPTIONAL
#define UNLESS_NEGATIVE .presence = FIELD_OPTIONAL, .unknown = -1
#define IS_TIME .max = JSON_TIME_MAX
#define IS_MOMENT .max = JSON_MOMENT_MAX

struct field_table {
	const char *table; /* in the book */
	/* columns before the fields, with a comma after each; bound by the caller */
	const char *keys;
	const struct field *fields;
	size_t n;
	size_t size; /* of the struct */
	bool nulls;  /* a document has null for unknown values; otherwise they are missing */
};

/* Of a struct that has the name of its table in the book; then other members. */
#define FIELD_TABLE(of, keys, fields, ...)                                                \
	{                                                                                 \
#of, (keys), (fields), ELEMENTS(fields), sizeof(struct of), ##__VA_ARGS__ \
	}

/* The greatest value that it may have. */
int64_t field_max(const struct field *field);
int64_t field_get(const struct field *field, const void *object);
void field_set(const struct field *field, void *object, int64_t value);

static inline char **field_text(const struct field *field, const void *object)
{
	return (char **)((char *)object + field->offset);
}

static inline double *field_real(const struct field *field, const void *object)
{
	return (double *)((char *)object + field->offset);
}

/* Everything unknown. */
void fields_init(const struct field_table *table, void *object);
/* Frees the texts and zeroes them. */
void fields_clear(const struct field_table *table, void *object);
/* Of all `n` elements of an array, and frees it. */
void fields_free(const struct field_table *table, void *array, size_t n);
