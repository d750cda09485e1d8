/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether this session's programs should be measured again as a duet. */
#pragma once

#include "measure/session.h"

#include "lib/duet/duet_advice.h"

/* Never, where a duet cannot be had: here, with these options, or because it was one. */
int advice_of(const struct session *session, struct duet_advice *ret, struct error *err);
