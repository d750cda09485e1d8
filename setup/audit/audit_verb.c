/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The verb audit: gathers, decides, shows. */
#include "setup/audit/audit_verb.h"

#include "lib/base/json.h"
#include "lib/base/tool.h"
#include "setup/audit/audit_print.h"
#include "setup/options.h"

static int show(const struct audit *audit, struct error *err)
{
	_cleanup_(json_decrefp) json_t *document = NULL;

	if (!options.json)
		return audit_print(audit, stdout, options.verbose, err);
	document = audit_json(audit);
	return json_print(document, stdout, err);
}

static void files_freep(struct setting_files **files)
{
	check_rows_free(*files);
}

int audit_verb(int argc, char **argv, struct error *err)
{
	_cleanup_(facts_clear) struct facts facts = {};
	_cleanup_(files_freep) struct setting_files *files = NULL;
	_cleanup_(audit_clear) struct audit audit = {};
	_cleanup_(closep) int root_fd = -1;
	int r = options_root_open(&root_fd, err);

	if (r == 0)
		r = facts_read(&facts, root_fd, options.policy, options.within_ns, err);
	if (r == 0)
		r = check_rows_read(&files, root_fd, err);
	if (r == 0)
		r = audit_decide(&audit, &facts, files, options.all, err);
	if (r == 0)
		r = show(&audit, err);
	if (r < 0)
		return r;
	return audit_is_fit(&audit) ? STATUS_DONE : STATUS_NOT_FIT;
}
