/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs and profiles as JSON documents, emp-run and emp-profile version 1, and between them and the
 * book. This is all of it, for those who use it; each header below is a module of its own.
 *
 * Unknown members are ignored. If a member is wrong, the message names it and its location, and
 * nothing is stored. A run may be larger than memory. */
#pragma once

#include "lib/book/book.h"
#include "lib/document/document_environment.h"
#include "lib/document/document_export.h"
#include "lib/document/document_features.h"
#include "lib/document/document_fields.h"
#include "lib/document/document_import.h"
#include "lib/document/document_profile.h"
