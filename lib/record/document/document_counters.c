/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The member "sentinels" of a sample in an emp-run document: see document_counters.h. */
#include "lib/record/document/document_counters.h"

json_t *document_make_sentinels(const struct sentinels *sentinels)
{
	json_t *json = json_object();
	int r = json ? 0 : -1;

	for (int i = 0; i < N_SENTINELS; i++)
		if (sentinels_know(sentinels, i))
			r |= json_object_set_new(json, sentinel_names[i], json_integer(sentinels->value[i]));
	if (r == 0)
		return json;
	json_decref(json);
	return NULL;
}

int document_parse_sentinels(
	const json_t *sample, const struct place *at, struct sentinels *ret, struct error *err)
{
	struct sentinels sentinels = {};
	json_t *member = NULL;
	int r;

	r = member_object_maybe(sample, at, "sentinels", &member, err);
	for (int i = 0; r >= 0 && member && i < N_SENTINELS; i++) {
		const json_t *value = json_object_get(member, sentinel_names[i]);
		int64_t n = 0;

		if (!value || json_is_null(value))
			continue;
		r = member_int(member, at, sentinel_names[i], -MEMBER_TIME_MAX, MEMBER_TIME_MAX, &n, err);
		sentinels_set(&sentinels, i, n);
	}
	if (r < 0)
		return r;
	*ret = sentinels;
	return 0;
}
