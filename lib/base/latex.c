/* SPDX-License-Identifier: GPL-2.0-or-later */
/* LaTeX: see latex.h. */
#include "lib/base/latex.h"

#include <ctype.h>

static const struct latex_unit {
	const char *name, *macro;
	int power; /* of ten, in seconds; 0: also what is no time */
	bool time;
} latex_units[] = {
	{"ns", "\\nano\\second", -9, true},
	{"us", "\\micro\\second", -6, true},
	{"ms", "\\milli\\second", -3, true},
	{"s", "\\second", 0, true},
	{"%", "\\percent", 0, false},
	{"", "", 0, false},
};

void latex_put_text(FILE *file, const char *text)
{
	for (; *text; text++)
		if (strchr("&%$#_{}", *text))
			fprintf(file, "\\%c", *text);
		else if (*text == '~')
			fputs("\\textasciitilde{}", file);
		else if (*text == '^')
			fputs("\\textasciicircum{}", file);
		else if (*text == '\\')
			fputs("\\textbackslash{}", file);
		else if (strchr("<>|\"", *text))
			fprintf(file, "{\\char`\\%c}", *text);
		else if (!strncmp(text, "…", strlen("…"))) {
			fputs("--", file);
			text += strlen("…") - 1;
		} else
			fputc(*text, file);
}

/* A number as its text has it, in the units of its text. */
struct latex_number {
	bool negative;
	char digits[64];     /* without the point */
	size_t n, n_integer; /* digits; of these before the point */
	const struct latex_unit *unit;
};

/* False: the text is not a number with a unit. */
static bool parse_quantity(const char *text, struct latex_number *ret)
{
	const struct latex_unit *unit = latex_units;
	const char *at = text;
	bool point = false;

	*ret = (struct latex_number){.negative = *at == '-'};
	at += *at == '-' || *at == '+';
	for (; isdigit((unsigned char)*at) || (*at == '.' && !point); at++) {
		if (*at == '.') {
			point = true;
			continue;
		}
		if (ret->n + 1 == sizeof(ret->digits))
			return false;
		ret->digits[ret->n++] = *at;
		ret->n_integer += !point;
	}
	if (ret->n == 0)
		return false;
	at += strspn(at, " ");
	while (*unit->name && strcmp(unit->name, at) != 0)
		unit++;
	ret->unit = unit;
	return !strcmp(unit->name, at);
}

static bool is_zero(const struct latex_number *number)
{
	return strspn(number->digits, "0") == number->n;
}

/* By how many digits the point moves to the right in the column's unit. */
static size_t number_shift(const struct latex_number *number, const struct latex_numbers *column)
{
	if (!number->unit->time || is_zero(number)) /* whatever unit 0 has */
		return 0;
	return (size_t)(number->unit->power - column->power);
}

static void widen_column(struct latex_numbers *column, const struct latex_number *number)
{
	size_t shift = number_shift(number, column), integer = number->n_integer + shift;
	size_t decimals = number->n > integer ? number->n - integer : 0;

	column->negative |= number->negative;
	column->digits = integer > column->digits ? integer : column->digits;
	column->decimals = decimals > column->decimals ? decimals : column->decimals;
}

struct latex_numbers latex_numbers_of(const char *const *texts, size_t n)
{
	const struct latex_unit *unit = NULL;
	struct latex_numbers column = {};
	struct latex_number number, of_unit = {};

	for (size_t i = 0; i < n; i++) {
		if (!strcmp(texts[i], "-"))
			continue;
		if (!parse_quantity(texts[i], &number))
			return column;
		if (unit && unit != number.unit && !(unit->time && number.unit->time))
			return column;
		/* 0 ns among seconds is 0 s */
		if (!unit || is_zero(&of_unit) || (number.unit < unit && !is_zero(&number))) {
			unit = number.unit;
			of_unit = number;
		}
	}
	if (!unit)
		return column;
	column = (struct latex_numbers){.found = true, .unit = unit->name, .power = unit->power};
	for (size_t i = 0; i < n; i++)
		if (parse_quantity(texts[i], &number))
			widen_column(&column, &number);
	return column;
}

void latex_put_format(FILE *file, const struct latex_numbers *numbers)
{
	fprintf(file, "S[table-format=%s%zu.%zu]", numbers->negative ? "-" : "", numbers->digits,
		numbers->decimals);
}

void latex_put_unit(FILE *file, const struct latex_numbers *numbers)
{
	const struct latex_unit *unit = latex_units;

	while (strcmp(unit->name, numbers->unit) != 0)
		unit++;
	if (*unit->macro)
		fprintf(file, " (\\unit{%s})", unit->macro);
}

void latex_put_quantity(FILE *file, const char *text)
{
	const char *blank = strrchr(text, ' ');
	char *end;

	for (const struct latex_unit *unit = latex_units; blank && unit->time; unit++)
		if (!strcmp(unit->name, blank + 1)) {
			_cleanup_(freep) char *number = xstrndup(text, (size_t)(blank - text));

			latex_put_text(file, number);
			fprintf(file, "~\\unit{%s}", unit->macro);
			return;
		}
	if (strtod(text, &end) != 0 && !*end && strchr(text, 'e')) /* 1.44e+03 */
		fprintf(file, "\\num{%s}", text);
	else
		latex_put_text(file, text);
}

void latex_put_number(FILE *file, const struct latex_numbers *numbers, const char *text)
{
	struct latex_number number;
	size_t integer;

	if (!parse_quantity(text, &number)) {
		fputs("{--}", file);
		return;
	}
	integer = number.n_integer + number_shift(&number, numbers);
	fputs(number.negative ? "-" : "", file);
	for (size_t i = 0; i < integer || i < number.n; i++) {
		/* no zeros in front, as of 0.018 s in ms, but one before the point */
		bool leading = i + 1 < integer && number.digits[0] == '0' &&
			       strspn(number.digits, "0") > i;

		if (i == integer)
			fputc('.', file);
		if (!leading)
			fputc(i < number.n ? number.digits[i] : '0', file);
	}
}
