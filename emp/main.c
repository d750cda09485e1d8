/* SPDX-License-Identifier: GPL-2.0-or-later */
/* emp: the front command. "emp measure …" executes emp-measure, which stands beside it. */
#include "emp/complete.h"
#include "emp/known.h"
#include "emp/version.h"

#include "lib/base/terminal.h"
#include "lib/base/tool.h"
#include "lib/host/process/subprocess.h"

extern const struct verb emp_help;

static const struct tool tool = {
	.name = "emp",
	.summary = "Times programs on a machine whose noise is known.",
	.verbs = (const struct verb *const[]){&emp_help, NULL},
};

/* What a user sees first: at most 24 lines of 80 columns. */
static int print_jobs(struct error *err)
{
	fputs("emp " EMP_VERSION ": times programs on a machine whose noise is known\n"
	      "\n"
	      "Prepare a machine:\n"
	      "  emp setup audit                               is it fit? what would help?\n"
	      "  emp setup apply                               set that; 'restore' undoes it\n"
	      "  emp calibrate run --preset quick --save lab1  which daemons disturb programs?\n"
	      "\n"
	      "Revalidate it, after an upgrade or a change:\n"
	      "  emp calibrate revalidate lab1                 does the profile still hold?\n"
	      "\n"
	      "Measure, every day:\n"
	      "  emp measure --profile lab1 -- sort big.txt    one program\n"
	      "  emp measure 'sort big.txt' 'sort -n big.txt'  several, compared\n"
	      "  emp compare-commits main '{tree}/solver in'   is a change slower?\n"
	      "  emp load run office.ini                       many programs at once\n"
	      "  emp study run clean-room                      what is EMP worth here?\n"
	      "  emp analyze list                              what was measured\n"
	      "\n"
	      "emp help WORD         find an option, verb, check, column or message\n"
	      "emp COMMAND --help    the options of a command; 'man emp' is the manual\n"
	      "emp --version         what this EMP has, and what it finds here\n",
		stdout);
	return 0;
}

/* "emp setup audit", or "emp calibrate run or emp load run": each command that has the verb. The
 * caller frees it; NULL: none has. */
static char *commands_with(const char *verb)
{
	char *text = NULL;

	for (const struct known_tool *t = known_tools; t->name; t++)
		for (const struct known_verb *v = t->verbs; v->name; v++)
			if (*verb && !strcmp(v->name, verb))
				text_append(&text, " or ", "'emp %s %s'", t->name + 4, verb);
	return text;
}

/* Nothing is run: which command was meant is for the user to say. */
static int refuse_command(const char *typed, struct error *err)
{
	_cleanup_(freep) char *with = commands_with(typed);
	struct nearest command = {.typed = typed}, verb = {.typed = typed};

	if (with)
		return error_say(err, -EINVAL, "no command '%s'; type %s", typed, with);
	nearest_try(&command, "help");
	for (const struct known_tool *t = known_tools; t->name; t++) {
		nearest_try(&command, t->name + 4);
		for (const struct known_verb *v = t->verbs; v->name; v++)
			nearest_try(&verb, v->name);
	}
	if (command.found && (!verb.found || command.edits <= verb.edits))
		return error_say(err, -EINVAL, "no command '%s' (did you mean 'emp %s'?)", typed,
			command.found);
	with = verb.found ? commands_with(verb.found) : NULL;
	if (with)
		return error_say(err, -EINVAL, "no command '%s' (did you mean %s?)", typed, with);
	return error_say(err, -EINVAL, "no command '%s'; 'emp' lists them", typed);
}

/* Whether the word is a verb of another tool and not of this one. */
static bool is_verb_elsewhere(const struct known_tool *known, const char *word)
{
	_cleanup_(freep) char *with = NULL;

	if (!known->verbs->name || !*known->verbs->name)
		return false;
	for (const struct known_verb *v = known->verbs; v->name; v++)
		if (!strcmp(v->name, word))
			return false;
	with = commands_with(word);
	return with;
}

static int refuse_verb(const struct known_tool *known, const char *typed, struct error *err)
{
	_cleanup_(freep) char *with = commands_with(typed);

	return error_say(
		err, -EINVAL, "'emp %s' has no verb '%s'; type %s", known->name + 4, typed, with);
}

/* Returns only if it fails. */
static int execute_tool(const struct known_tool *known, char **argv, struct error *err)
{
	_cleanup_(freep) char *path = NULL;
	int r = suite_file_find(known->name, &path, err);

	if (r < 0)
		return r;
	argv[0] = (char *)known->name;
	execv(path, argv);
	return error_os(err, -errno, "cannot execute %s", path);
}

/* "emp help --cpu": an option that is not emp's is a word to find. The caller frees the array. */
static char **mark_words(int *argc, char **argv)
{
	static const char *const own[] = {"-a", "--all", "--json", "-h", "--help"};
	char **marked = xcalloc((size_t)*argc + 2, sizeof(*marked));
	int at = 2, n = 0;

	for (bool is_own = true; at < *argc && is_own; at += is_own) {
		is_own = false;
		for (size_t i = 0; i < ELEMENTS(own); i++)
			is_own |= !strcmp(argv[at], own[i]);
	}
	for (int i = 0; i < *argc; i++) {
		if (i == at && *argv[i] == '-' && strcmp(argv[i], "--") != 0)
			marked[n++] = (char *)"--";
		marked[n++] = argv[i];
	}
	*argc = n;
	return marked;
}

/* What the front command does itself, without tool_main. 1: nothing. */
static int run_front(int argc, char **argv, struct error *err)
{
	const char *word = argc > 1 ? argv[1] : "";
	const struct known_tool *known = known_tool_find(word);

	if (argc < 2 || !strcmp(word, "-h") || !strcmp(word, "--help") ||
		(!strcmp(word, "help") && argc == 2))
		return print_jobs(err);
	if (!strcmp(word, "-V") || !strcmp(word, "--version"))
		return version_print(err);
	if (!strcmp(word, "complete"))
		return complete_print(argv + 2, err);
	if (known && argc > 2 && is_verb_elsewhere(known, argv[2]))
		return refuse_verb(known, argv[2], err);
	if (known)
		return execute_tool(known, argv + 1, err);
	if (*word != '-' && strcmp(word, "help") != 0)
		return refuse_command(word, err);
	return 1;
}

int main(int argc, char **argv)
{
	_cleanup_(freep) char **marked = NULL;
	struct error err = {};
	int r;

	tool_start();
	r = run_front(argc, argv, &err);
	if (r > 0) {
		marked = mark_words(&argc, argv);
		return tool_main(&tool, argc, marked);
	}
	if (r == 0)
		r = stream_flush(stdout);
	if (r < 0)
		fprintf(stderr, "emp: %s\n", *err.text ? terminal_text(err.text) : strerror(-r));
	return r < 0 ? STATUS_ERROR : STATUS_DONE;
}
