/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Transactions of the lab book, and when they are synced to the disk. */
#pragma once

#include "lib/book/book_open.h"

/* A transaction of the caller. The other functions of the book take part in it, and book_commit()
 * keeps all or nothing. After a failure inside it, call book_rollback(). In a book opened for
 * reading it is a consistent view, whatever a writer does meanwhile. */
int book_begin(struct book *book, struct error *err);
/* -ESTALE with a sentence: the file was removed or replaced meanwhile. All it held is then saved
 * beside it. */
int book_commit(struct book *book, struct error *err);
void book_rollback(struct book *book);
/* book_commit if r >= 0, otherwise book_rollback. r, or the failure to commit. */
int book_end(struct book *book, int r, struct error *err);

/* Begins a transaction unless one is open already. *ret_own: the caller must end it with
 * book_end(), also after a failure here. */
int book_enter(struct book *book, bool writes, bool *ret_own, struct error *err);

/* Evaluates `call`, an expression, in one transaction, unless one is open already. Returns what
 * `call` returns, or a failure to begin or to commit.
 *
 * If the book must move to a copy, `call` is evaluated a second time, because the first transaction
 * is lost: it must not count or collect anything outside the book. */
#define BOOK_ATOMIC_RETRIED(book_, call, err_) BOOK_TRANSACTION_RETRIED(true, book_, call, err_)
/* The same for a `call` that only reads, and must see one state of the file. */
#define BOOK_AT_ONCE_RETRIED(book_, call, err_) BOOK_TRANSACTION_RETRIED(false, book_, call, err_)
#define BOOK_TRANSACTION_RETRIED(writes, book_, call, err_)          \
	({                                                           \
		struct book *_book = (book_);                        \
		struct error *_err = (err_);                         \
		bool _own;                                           \
		int _r;                                              \
                                                                     \
		do {                                                 \
			_r = book_enter(_book, writes, &_own, _err); \
			if (_r >= 0)                                 \
				_r = (call);                         \
			if (_own)                                    \
				_r = book_end(_book, _r, _err);      \
		} while (_own && book_again(_book, _r, _err));       \
		_r;                                                  \
	})

/* The next transaction is of one sample of many: what was committed survives this process, but if
 * the machine loses power, the samples of the last second may be lost. */
void book_sync_by_second(struct book *book);
/* The next transaction does not wait for the disk; the one after it does, for both. */
void book_unsynced(struct book *book);
/* Writes the write-ahead log to the file: between runs, never during one. */
int book_checkpoint(struct book *book, struct error *err);
