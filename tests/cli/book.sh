#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The lab book as emp-analyze shows it: runs in and out, and a sentence for every file that is no book.
# Usage: book.sh BUILD SOURCE
set -u
here=$(dirname "$(readlink -f "$0")")
. "$here/expect.sh"
need_root
analyze=$1/analyze/emp-analyze
data=$2/tests/papers/data
cd "$dir" || exit 1

# not there yet
expect 1 "there is no lab book '$dir/book.db' yet; emp-calibrate" $analyze list
expect 1 "there is no lab book" $analyze show 1
expect 1 "there is no lab book" $analyze export 1
that "looking makes nothing" test ! -e "$EMP_DB"
expect 1 "there is no directory '$dir/no'; make it first" $analyze --db "$dir/no/book.db" import "$data/emp-run-inc128.json"

# in and out
expect 0 '' $analyze import "$data/emp-run-inc128.json" "$data/emp-run-inc16384.json"
that "import prints the ids, one a line, in order" test "$(cat "$dir/out")" = "1
2"
expect 0 'INC128.*800' $analyze list
expect 0 'INC16384.*40' $analyze list
expect 0 'INC128' $analyze show 1
for run in 1:inc128 2:inc16384; do
	$analyze export ${run%:*} >"$dir/export.json"
	that "run $run comes out as it went in, with what the book knows of it, and the starts as text" python3 "$here/same.py" --except '$schema,uid,start,run,started_ns,started,ended_ns,ended,context' \
		"$data/emp-run-${run#*:}.json" "$dir/export.json"
	that "each start is RFC 3339 text" json "$dir/export.json" \
		'all(s["start"].endswith("Z") and s["start"][:4] == "2013" for s in d["samples"]) and len(d["uid"]) == 32'
done
$analyze export 2 | $analyze --db "$dir/other.db" import - >"$dir/id"
that "a run goes from one book to another through a pipe" test "$(cat "$dir/id")" = 1
expect 1 "run 3 is not in the lab book '$dir/book.db'; 'emp-analyze list' shows" $analyze show 3
expect 1 "run 3 is not in the lab book" $analyze export 3
expect 1 "'x' is neither" $analyze show x
that "the book is one file again" test ! -e "$EMP_DB-wal"
that "somebody with sqlite3 can read it" sh -c "sqlite3 '$EMP_DB' 'SELECT daemon, pt_ms FROM executions_readable WHERE run = 1 AND sample = 75' | grep -q 'rhn_check'"

# the example of the manual, and what import prints as JSON
sed -n '/^{"format": "emp-run"/,/^```/p' "$2/man/emp-documents.5.scd" | grep -v '^```' >example.json
$analyze --db example.db import --json example.json >imported.json
that "the document in emp-documents(5) is a run" json imported.json 'd == {"$schema": "urn:emp:schema:emp-import:1", "format": "emp-import", "version": 1, "runs": [1]}'
expect 0 'INC128 .*1 ' $analyze --db example.db list

# results are no run
echo '{"results": [{"command": "true", "times": [1]}]}' >results.json
expect 1 "'results.json' was not imported: these are results, not a run: compare them with 'emp-analyze compare FILE'" \
	$analyze --db example.db import results.json

# the book itself is no document: closing it would drop the locks of its process, and writing it would end it
inode=$(stat -c %i "$EMP_DB")
ln "$EMP_DB" same.db
ln -s "$EMP_DB" link.db
for name in "$EMP_DB" same.db link.db; do
	expect 1 "'$name' is the lab book that is in use; name another file" $analyze import "$name"
	expect 1 "'$name' is the lab book that is in use" $1/calibrate/emp-calibrate profile import "$name"
	expect 1 "'$name' is the lab book that is in use" $analyze trend INC128 --csv "$name"
	expect 1 "'$name' is the lab book that is in use" $1/measure/emp-measure -N -r 2 -w 0 --export-json "$name" true
	expect 1 "'$name' is the lab book that is in use" $1/measure/emp-measure -N -r 2 -w 0 --output "$name" true
	expect 1 "'$name' is the lab book that is in use" $1/measure/emp-measure -N -r 2 -w 0 --input "$name" true
done
that "standard input is it, too" sh -c "! $analyze import - <'$EMP_DB' 2>out && grep -q 'is the lab book' out"
expect 1 "'$EMP_DB-shm' is a file of the lab book that is in use" $analyze import "$EMP_DB-shm"
that "the book is as it was" sh -c "sqlite3 '$EMP_DB' 'PRAGMA integrity_check' | grep -qx ok && $analyze list | grep -q INC16384"
that "it is the same file" test "$(stat -c %i "$EMP_DB")" = "$inode"
rm same.db link.db

# documents that are none: named with the place, and nothing is stored
wrong() { # SENTENCE EDIT: Python that spoils d, the document of the long run
	python3 -c 'import json, sys
d = json.load(open(sys.argv[1])); exec(sys.argv[2]); json.dump(d, open("wrong.json", "w"))' "$data/emp-run-inc16384.json" "$2"
	expect 1 "$1" $analyze import wrong.json
	expect 1 "'wrong.json' was not imported: " $analyze import wrong.json
}
wrong "sample 3, execution 2: 'pt_ns' is -5 and must not be below 0" 'd["samples"][2]["executions"][1]["pt_ns"] = -5'
wrong "sample 9: 'et_ns' is -1 and must not be below 0" 'd["samples"][8]["et_ns"] = -1'
wrong "'samples', entry 4: 'n' is 3 again" 'd["samples"][3]["n"] = 3'
wrong "'samples', entry 2: 'n' is 1 after 2, and samples must be in order" 'd["samples"][:2] = d["samples"][1::-1]'
wrong "'version' is 2, and this EMP reads emp-run version 1 only" 'd["version"] = 2'
wrong "'format' is 'emp-profile', not 'emp-run'" 'd["format"] = "emp-profile"'
wrong "sample 5 has no 'pt_ns'" 'del d["samples"][4]["pt_ns"]'
wrong "sample 5: 'pt_ns' must be a whole number" 'd["samples"][4]["pt_ns"] = "5"'
wrong "sample 5: 'pt_ns' is 9223372036854775807 and must not be above" 'd["samples"][4]["pt_ns"] = 2**63 - 1'
wrong "the document has no 'samples'" 'del d["samples"]'
echo '{"format": "emp-run",' >half.json
expect 1 "'half.json' is not JSON: line 2, column 1" $analyze import half.json
sed 's/"et_ns":[0-9]*/"et_ns":99999999999999999999/' "$data/emp-run-inc16384.json" >big.json
expect 1 "'big.json' is not JSON: line 1.*too big integer" $analyze import big.json
expect 1 "cannot open 'none.json': No such file or directory" $analyze import none.json
expect 1 "'half.json' is not JSON" $analyze import "$data/emp-run-inc16384.json" half.json
expect 1 "nothing was imported: 'wrong.json': the document has no 'samples'" $analyze import --json "$data/emp-run-inc16384.json" wrong.json
that "there is no number of a run that was not kept" sh -c "! grep -qE '^[0-9]|runs' out"
that "none of several files is imported if one has a fault" test "$(sqlite3 "$EMP_DB" 'SELECT group_concat(id) FROM (SELECT id FROM run ORDER BY id)')" = 1,2
expect 0 '^3$' $analyze import "$data/emp-run-inc16384.json"

# files that are no book, or none of ours
expect 1 "'/etc/passwd' is not a lab book: it is not an SQLite database" $analyze --db /etc/passwd list
expect 1 "'/etc/passwd' is not a lab book" $analyze --db /etc/passwd import "$data/emp-run-inc128.json"
expect 1 "'$dir' is a directory; name the lab book in it" $analyze --db "$dir" list
expect 1 "'/dev/null' is not a regular file" $analyze --db /dev/null import "$data/emp-run-inc128.json"
sqlite3 bookmarks.db 'CREATE TABLE bookmark(url TEXT)'
expect 1 "'bookmarks.db' is the database of another program; name another" $analyze --db bookmarks.db list
expect 1 "is the database of another program" $analyze --db bookmarks.db import "$data/emp-run-inc128.json"
that "it was left alone" test "$(sqlite3 bookmarks.db .tables)" = bookmark
cp "$EMP_DB" newer.db
sqlite3 newer.db 'PRAGMA user_version = 99'
expect 1 "'newer.db' was written by a newer EMP (version 99 of the book" $analyze --db newer.db list
touch empty.db
expect 1 "the lab book 'empty.db' is empty" $analyze --db empty.db list
expect 0 '^1$' $analyze --db empty.db import "$data/emp-run-inc16384.json"

# damage
cp "$EMP_DB" damaged.db
page=$(sqlite3 "$EMP_DB" "SELECT rootpage FROM sqlite_schema WHERE name = 'sample'")
dd if=/dev/urandom of=damaged.db bs=4096 seek=$((page - 1)) count=1 conv=notrunc status=none
expect 1 "the lab book 'damaged.db' is damaged (database disk image is malformed); restore an intact copy" $analyze --db damaged.db show 1
expect 1 "is damaged" $analyze --db damaged.db export 1
expect 1 "is damaged" $analyze --db damaged.db list
head -c 6000 "$EMP_DB" >short.db
expect 1 "the lab book 'short.db' is damaged" $analyze --db short.db list
head -c 50 "$EMP_DB" >head.db
expect 1 "the lab book 'head.db' is damaged\|'head.db' is not a lab book" $analyze --db head.db list
cp "$EMP_DB" spotted.db
page=$(sqlite3 "$EMP_DB" "SELECT pageno FROM dbstat WHERE name = 'execution' AND pagetype = 'leaf' ORDER BY path LIMIT 1")
dd if=/dev/urandom of=spotted.db bs=4096 seek=$((page - 1)) count=1 conv=notrunc status=none
expect 1 "is damaged.*save the runs that can still be read with: emp-analyze --db 'spotted.db' export RUN" \
	$analyze --db spotted.db export 1
expect 0 'INC16384' $analyze --db spotted.db export 2

# not ours to write, or to read
user() { # COMMAND...: as somebody else
	setpriv --reuid 65534 --regid 65534 --clear-groups "$@"
}
cp "$analyze" "$dir/emp-analyze"
chmod 755 "$dir"
that "root's book is not for others" test "$(stat -c %a "$EMP_DB")" = "$(getent group emp >/dev/null && echo 660 || echo 600)"
expect 1 "cannot read the lab book '$dir/book.db': Permission denied" user ./emp-analyze list
chmod 644 "$EMP_DB"
expect 0 'INC128' user ./emp-analyze list
expect 1 "the lab book '$dir/book.db' cannot be written; ask for write permission, or name another.*Permission denied" \
	user ./emp-analyze import "$data/emp-run-inc128.json" -
chmod 600 "$EMP_DB"
expect 1 "cannot read the lab book '$dir/book.db': Permission denied" user ./emp-analyze list
chmod 666 "$EMP_DB"
expect 1 "the directory '$dir' of the lab book.*cannot be written.*Permission denied" user ./emp-analyze import -
chmod 644 "$EMP_DB"
expect 1 "there is no lab book '$dir/data/emp/emp.db' yet" env -u EMP_DB XDG_DATA_HOME="$dir/data" \
	setpriv --reuid 65534 --regid 65534 --clear-groups ./emp-analyze list
mkdir -m 777 data
cp "$data/emp-run-inc16384.json" run.json
expect 0 '^1$' env -u EMP_DB XDG_DATA_HOME="$dir/data" setpriv --reuid 65534 --regid 65534 --clear-groups \
	./emp-analyze import run.json
that "a user's own book is made with its directory" test -s data/emp/emp.db

# in a directory that all may write to: another user's link, book, or file beside the book
mkdir -m 1777 sticky
cp book.db victim.db
cp book.db sticky/theirs.db
ln -s "$dir/victim.db" sticky/link.db
ln -s "$dir/sticky" sticky/folder
ln -s "$dir/victim.db" sticky/ours.db-wal
chown -h 65534 sticky/*
cp book.db sticky/ours.db
before=$(cksum victim.db sticky/*.db)
refused="belongs to another user, in a directory that all may write to"
for book in link.db theirs.db ours.db folder/new.db; do
	expect 1 "$refused" $analyze --db "sticky/$book" import run.json
done
for book in link.db ours.db folder/ours.db; do
	expect 1 "$refused" $analyze --db "sticky/$book" list
done
expect 0 'INC16384' $analyze --db sticky/theirs.db list
that "nothing was written" test "$(cksum victim.db sticky/*.db)" = "$before"
rm sticky/ours.db-wal
expect 0 '^[0-9]*$' $analyze --db sticky/ours.db import run.json
# a log that would be applied: of another user it is not, also by who only reads; of the book's owner it is
cp book.db spoilt.db
runs=$(sqlite3 book.db 'SELECT count(*) FROM run')
listed() { # BOOK RUNS
	gives "$1 has $2 runs" "len(d['runs']) == $2" $analyze --db "$1" list --json --all
}
sqlite3 spoilt.db 'PRAGMA journal_mode = WAL' '.dbconfig no_ckpt_on_close on' 'DELETE FROM run WHERE id = 1' >"$dir/sqlite"
mv spoilt.db-wal sticky/ours.db-wal
for owner in 65534:ours 0:ours 65534:theirs; do
	book=sticky/${owner#*:}.db
	cp book.db "$book"
	[ "${owner#*:}" = ours ] || { mv sticky/ours.db-wal "$book-wal" && chown 65534 "$book"; }
	chown "${owner%:*}" "$book-wal"
	if [ "$owner" = 65534:ours ]; then
		expect 1 "cannot read '$book-wal': .*$refused" $analyze --db "$book" list
		expect 1 "$refused" $analyze --db "$book" show 1
		that "the log was not applied" cmp book.db "$book"
	else
		cp "$book-wal" log
		listed "$book" $((runs - 1))
		cp log "$dir/sticky/ours.db-wal"
	fi
done
rm -f sticky/ours.db-wal
cp book.db sticky/ours.db
printf 'not a journal' >sticky/ours.db-journal
chown 65534 sticky/ours.db-journal
expect 1 "cannot read 'sticky/ours.db-journal': .*$refused" $analyze --db sticky/ours.db list
rm sticky/ours.db-journal
listed sticky/ours.db $runs
# beside the file that a link names, too
printf 'not a journal' >sticky/ours.db-journal
chown 65534 sticky/ours.db-journal
ln -s sticky/ours.db linked.db
expect 1 "cannot read 'sticky/ours.db-journal': .*$refused" $analyze --db linked.db list
rm sticky/ours.db-journal
# what is no file would be waited for
for beside in -wal -shm -journal -pending .copying; do
	mkfifo book.db$beside
	expect 1 "book.db$beside' is a named pipe, and EMP keeps a file of its own there; move it away" timeout 60 $analyze list
	expect 1 "book.db$beside' is a named pipe" timeout 60 $analyze import run.json
	rm book.db$beside
done
ln -s "$dir/victim.db" own.db
expect 0 '^[0-9]*$' $analyze --db own.db import run.json

# a file system that is read-only, and one that fills up: in a mount namespace of our own
cat >mounts.sh <<'MOUNTS'
set -u
analyze=$1 data=$2 dir=$3
. "$4"
dir=$3
trap - EXIT
cd "$dir"
export EMP_DB=$dir/disk/book.db
mkdir disk
mount -t tmpfs -o size=384k tmpfs disk || exit 1
expect 0 '^1$' $analyze import "$data/emp-run-inc16384.json"
mount -o remount,ro disk
expect 0 'INC16384' $analyze list
expect 1 "the lab book '$EMP_DB' cannot be written.*Read-only file system" $analyze import "$data/emp-run-inc16384.json"
mount -o remount,rw disk
expect 1 "the lab book '$EMP_DB' cannot grow: its file system is full; what it has is safe" \
	$analyze import "$data/emp-run-inc128.json"
that "the book is sound" sound "$EMP_DB"
expect 0 'INC16384.*40' $analyze list
that "and has what it had" test "$(sqlite3 "$EMP_DB" 'SELECT count(*) FROM run')" = 1
mount -o remount,size=4m disk
expect 0 '^2$' $analyze import "$data/emp-run-inc128.json"
dd if=/dev/zero of=disk/filler bs=4k status=none 2>/dev/null
expect 1 'its file system is full' $analyze --db disk/second.db import "$data/emp-run-inc16384.json"
expect 0 'INC128.*800' $analyze list
expect 1 'its file system is full' $analyze import "$data/emp-run-inc16384.json"
rm disk/filler
expect 0 '^1$' $analyze --db disk/second.db import "$data/emp-run-inc16384.json"
expect 0 '^3$' $analyze import "$data/emp-run-inc16384.json"
that "the book is sound" sound "$EMP_DB"
exit $faults
MOUNTS
unshare -m bash mounts.sh "$analyze" "$data" "$dir" "$here/expect.sh"
faults=$((faults + $?))
finish
