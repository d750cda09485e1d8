/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Families of names: see name_families.h. */
#include "lib/protocol/name_families.h"

#include "lib/base/xalloc.h"
#include "lib/base/array.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { STEM_SIZE = 256, LEAST_NAMES = 4, LEAST_OTHER_NAMES = 8, FEW_OF = 4, HEX_DIGITS = 3 };

enum key { KEY_NAME, KEY_UNIT, KEY_EXE, N_KEYS };

/* How much of a word is kept: what comes before its first digit, but nothing of a hexadecimal number. */
static size_t constant_part(const char *word, size_t len)
{
	size_t digit = len;

	for (size_t i = len; i-- > 0;)
		if (isdigit((unsigned char)word[i]))
			digit = i;
	if (digit < len && len >= HEX_DIGITS && strspn(word, "0123456789abcdef") >= len)
		return 0;
	return digit;
}

static const char *stem_of(char stem[STEM_SIZE], const char *text)
{
	size_t n = 0, len;

	for (; *text && n + 1 < STEM_SIZE; text += len) {
		size_t kept;

		for (len = 0; isalnum((unsigned char)text[len]); len++)
			;
		kept = len > 0 ? constant_part(text, len) : 1;
		if (kept > STEM_SIZE - 2 - n)
			kept = STEM_SIZE - 2 - n;
		memcpy(stem + n, text, kept);
		n += kept;
		if (kept < len)
			stem[n++] = '*';
		len = len ?: 1;
	}
	stem[n] = '\0';
	return stem;
}

static bool is_service(const char *unit)
{
	size_t len = strlen(unit);

	return len > 8 && !strcmp(unit + len - 8, ".service") && strncmp(unit, "user@", 5) != 0;
}

/* What the member would share with the others of its family; NULL: nothing. */
static const char *key_of(char stem[STEM_SIZE], const struct family_member *member, enum key key)
{
	const char *text = key == KEY_NAME ? member->name : key == KEY_UNIT ? member->unit : member->exe;

	if (member->alone || member->family || !text || (key == KEY_UNIT && !is_service(text)))
		return NULL;
	stem_of(stem, text);
	return key != KEY_NAME || (strchr(stem, '*') && strpbrk(stem, "abcdefghijklmnopqrstuvwxyz")) ? stem
												     : NULL;
}

struct keyed {
	char *key;
	size_t member;
};

static int by_key(const void *a, const void *b)
{
	return strcmp(((const struct keyed *)a)->key, ((const struct keyed *)b)->key);
}

static bool is_family(const struct family_member *members, const struct keyed *keyed, size_t n, enum key key)
{
	size_t executions = 0, few = 0, returned = 0, of_returned = 0;

	for (size_t i = 0; i < n; i++) {
		const struct family_member *member = &members[keyed[i].member];

		executions += member->executions;
		returned += member->returned;
		of_returned += member->returned ? member->executions : 0;
	}
	for (size_t i = 0; i < n; i++)
		few += FEW_OF * members[keyed[i].member].executions <= executions;
	if (key != KEY_NAME)
		return n >= LEAST_OTHER_NAMES && returned == 0 && 2 * few > n;
	return n >= LEAST_NAMES && 2 * of_returned <= executions && 2 * few > n;
}

static int add_family(
	struct name_families *families, struct family_member *members, const struct keyed *keyed, size_t n)
{
	struct name_family *family = array_add(families->items, families->n);

	*family = (struct name_family){xstrdup(keyed->key), (uint32_t)n};
	for (size_t i = 0; i < n; i++)
		members[keyed[i].member].family = families->n;
	return family->name ? 0 : -ENOMEM;
}

/* Each run of equal keys, which are sorted. */
static int add_families(struct name_families *families, struct family_member *members,
	const struct keyed *keyed, size_t n, enum key key)
{
	int r = 0;

	for (size_t i = 0, end; r == 0 && i < n; i = end) {
		for (end = i + 1; end < n && !by_key(&keyed[i], &keyed[end]); end++)
			;
		if (is_family(members, &keyed[i], end - i, key))
			r = add_family(families, members, &keyed[i], end - i);
	}
	return r;
}

static int find_by(struct name_families *families, struct family_member *members, size_t n, enum key key)
{
	_cleanup_(freep) struct keyed *keyed = xreallocarray(NULL, n + 1, sizeof(*keyed));
	char stem[STEM_SIZE];
	size_t n_keyed = 0;
	int r = 0;

	for (size_t i = 0; r == 0 && i < n; i++) {
		if (!key_of(stem, &members[i], key))
			continue;
		keyed[n_keyed] = (struct keyed){xstrdup(stem), i};
		r = keyed[n_keyed].key ? 0 : -ENOMEM;
		n_keyed += r == 0;
	}
	if (r == 0 && n_keyed > 0) {
		qsort(keyed, n_keyed, sizeof(*keyed), by_key);
		r = add_families(families, members, keyed, n_keyed, key);
	}
	for (size_t i = 0; i < n_keyed; i++)
		free(keyed[i].key);
	return r;
}

int name_families_find(struct family_member *members, size_t n, struct name_families *ret)
{
	struct name_families families = *ret;
	int r = 0;

	*ret = (struct name_families){};
	for (enum key key = KEY_NAME; r == 0 && key < N_KEYS; key++)
		r = find_by(&families, members, n, key);
	if (r < 0)
		name_families_clear(&families);
	else
		*ret = families;
	return r;
}

static bool has_one_of(const char *family, const char *const texts[N_KEYS])
{
	char stem[STEM_SIZE];

	for (size_t i = 0; i < N_KEYS; i++)
		if (texts[i] && !strcmp(stem_of(stem, texts[i]), family))
			return true;
	return false;
}

bool name_family_has(const char *family, const struct source *source)
{
	return source->kind != SOURCE_KERNEL &&
	       has_one_of(family, (const char *const[N_KEYS]){source->name, source->unit, source->exe});
}

int name_families_add_known(
	struct name_families *families, const char *name, struct family_member *members, size_t n)
{
	struct name_family *family = NULL;

	for (size_t i = 0; i < n; i++) {
		const struct family_member *m = &members[i];

		if (m->alone || m->family ||
			!has_one_of(name, (const char *const[N_KEYS]){m->name, m->unit, m->exe}))
			continue;
		if (!family) {
			family = array_add(families->items, families->n);
			family->name = xstrdup(name);
		}
		family->names++;
		members[i].family = families->n;
	}
	return 0;
}

void name_families_clear(struct name_families *families)
{
	for (size_t i = 0; i < families->n; i++)
		free(families->items[i].name);
	free(families->items);
	*families = (struct name_families){};
}

const char *name_family_label(char label[FAMILY_LABEL_SIZE], const char *name, uint32_t names)
{
	if (names > 0)
		snprintf(label, FAMILY_LABEL_SIZE, "%s (%u name%s)", name, names, names == 1 ? "" : "s");
	else
		snprintf(label, FAMILY_LABEL_SIZE, "%s", name);
	return label;
}
