/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See peak_memory.h. */
#include "lib/record/peak_memory.h"

#include <math.h>
#include <string.h>

struct peak_memory peak_memory_of(const struct sample *samples, const bool *out, size_t n)
{
	struct peak_memory m = {};
	double squares = 0; /* of the differences from the mean, by Welford's method */

	for (size_t i = 0; i < n; i++) {
		double bytes = (double)samples[i].max_rss_bytes, difference = bytes - m.mean_bytes;

		if (out[i])
			continue;
		if (bytes < 0)
			return (struct peak_memory){};
		m.at_most |= samples[i].max_rss_at_most;
		m.mean_bytes += difference / (double)++m.n;
		squares += difference * (bytes - m.mean_bytes);
	}
	m.sd_bytes = m.n > 1 ? sqrt(squares / (double)(m.n - 1)) : 0;
	return m;
}

char *peak_memory_text(char buffer[PEAK_MEMORY_TEXT_SIZE], const struct peak_memory *m)
{
	bool gigabytes = m->mean_bytes >= 1e9;
	const char *unit = gigabytes ? "GB" : "MB";
	double size = gigabytes ? 1e9 : 1e6;
	int decimals = m->mean_bytes < 10 * size ? 2 : 1, at;

	*buffer = '\0';
	if (m->n == 0)
		return buffer;
	at = snprintf(buffer, PEAK_MEMORY_TEXT_SIZE, "%s%.*f %s", m->at_most ? "at most " : "", decimals,
		m->mean_bytes / size, unit);
	if (m->n > 1 && !m->at_most)
		snprintf(buffer + at, PEAK_MEMORY_TEXT_SIZE - (size_t)at, ", σ %.*f %s", decimals,
			m->sd_bytes / size, unit);
	return buffer;
}

json_t *peak_memory_as_json(const struct peak_memory *m)
{
	if (m->n == 0)
		return json_null();
	return json_pack("{s:f, s:f, s:b}", "mean_bytes", m->mean_bytes, "sd_bytes", m->sd_bytes, "at_most",
		m->at_most);
}
