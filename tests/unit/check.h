/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmocka and what it must have in front of it. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
