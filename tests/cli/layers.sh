#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The layers hold: base, clock < host < record < book < document < run, and base < stats < protocol < report. A feature (clocks, duet, jitter, load, neighbour, study, trend)
# includes the core but no other feature (trend includes duet: it follows figures in units of INC), and the core includes no feature. A tool includes lib and itself.
# A library is included in one place, and libcpupower (GPL-2.0-only) and GSL (GPL-3) are in no binary together.
# Usage: layers.sh SOURCE BUILD
set -u
cd "$1" || exit 1
bad=0

allowed() { # TOP: which folders a file below it may include, as an alternation
	case $1 in
	lib/base) echo 'lib/base' ;;
	lib/clock) echo 'lib/clock' ;;
	lib/host) echo 'lib/base|lib/clock|lib/host' ;;
	lib/stats) echo 'lib/base|lib/stats' ;;
	lib/record) echo 'lib/base|lib/host|lib/record' ;;
	lib/book) echo 'lib/base|lib/host|lib/record|lib/book' ;;
	lib/document) echo 'lib/base|lib/host|lib/record|lib/book|lib/document' ;;
	lib/protocol) echo 'lib/base|lib/stats|lib/record|lib/protocol' ;;
	lib/run) echo 'lib/base|lib/host|lib/record|lib/book|lib/document|lib/run' ;;
	lib/report) echo 'lib/base|lib/host|lib/stats|lib/record|lib/book|lib/document|lib/protocol|lib/report' ;;
	lib/trend) echo 'lib/base|lib/stats|lib/record|lib/book|lib/protocol|lib/run|lib/report|lib/duet|lib/trend' ;;
	lib/clocks | lib/duet | lib/jitter | lib/load | lib/neighbour | lib/study)
		echo "lib/base|lib/clock|lib/host|lib/stats|lib/record|lib/book|lib/document|lib/protocol|lib/run|lib/report|$1"
		;;
	*) echo "lib/[a-z]+|$1" ;;
	esac
}

for top in lib/* setup calibrate measure study analyze programs clock emp; do
	[ -d "$top" ] || continue
	files=$(find "$top" -name '*.[ch]')
	[ -n "$files" ] || { echo "$top holds no source"; bad=1; continue; }
	wrong=$(grep -nE '^#include "' $files /dev/null | grep -vE "\"($(allowed "$top"))(/[a-z_]+)*/[a-z0-9_-]+(\.skel)?\.h\"")
	[ -z "$wrong" ] || { echo "$top includes what is above or beside it:"; echo "$wrong"; bad=1; }
done

# A library is included where its header says, and nowhere else: LIBRARY FILE-OR-FOLDER...
while read -r library places; do
	wrong=$(grep -rlE "^#include <$library" --include='*.[ch]' lib setup calibrate measure study analyze programs emp | grep -vE "^($places)")
	[ -z "$wrong" ] || { echo "<$library> is included outside $places:"; echo "$wrong"; bad=1; }
done <<'L'
nettle/ lib/host/system/digest.c
zlib lib/base/input.c|lib/host/system/kernel.c
ini.h lib/base/ini_file.c
cpufreq.h lib/host/cpu/cpupower.c
cpuidle.h lib/host/cpu/cpupower.c
systemd/sd-bus lib/host/systemd/
systemd/sd-journal lib/host/systemd/units.c
libmnl/ lib/host/accounting/taskstats.c
sys/capability lib/host/process/privilege.c
sqlite3 lib/book/
traceevent lib/jitter/
L

# Within setup: audit and fingerprint stand alone, apply builds on audit.
wrong=$(grep -nE '^#include "setup/(apply|fingerprint)/' setup/audit/*.[ch]
	grep -nE '^#include "setup/(apply|audit)/' setup/fingerprint/*.[ch]
	grep -nE '^#include "setup/fingerprint/' setup/apply/*.[ch])
[ -z "$wrong" ] || { echo "folders of setup include each other:"; echo "$wrong"; bad=1; }


# A name of a function (static ones, too) or macro is that of one only: `grep` must find what a reader looks for. Two may stand twice: main, and
# BPF_PROG, which libbpf's macro makes the beginning of each BPF program.
twice=$(find lib setup calibrate measure study analyze programs clock emp -name '*.[ch]' | sort | xargs awk '
	FNR == 1 { name = "" }
	/^#define [A-Za-z_]/ { macro = $2; sub(/\(.*/, "", macro); at[macro FS FILENAME] = macro; next }
	/^[a-z_]/ {
		line = $0
		gsub(/__attribute__\(\([^)]*\(?[^)]*\)?\)\) */, "", line)
		name = ""
		if (line !~ /[;=]/ && match(line, /[A-Za-z_][A-Za-z_0-9]*\(/))
			name = substr(line, RSTART, RLENGTH - 1)
	}
	/^$/ || /;$/ { name = "" }
	/^{$/ && name != "" { at[name FS FILENAME] = name; name = "" }
	END {
		for (key in at) {
			file = key
			sub(/^[^ ]* /, "", file)
			files[at[key]] = files[at[key]] " " file
			n[at[key]]++
		}
		for (name in n)
			if (n[name] > 1 && name != "main" && name != "BPF_PROG")
				print "\t" name ":" files[name]
	}' | sort)
[ -z "$twice" ] || { echo "functions or macros of one name in several files:"; echo "$twice"; bad=1; }

for tool in setup calibrate measure analyze; do
	libraries=$(ldd "$2/$tool/emp-$tool") || { echo "no emp-$tool in $2"; bad=1; }
	case $libraries in *libcpupower*libgsl*|*libgsl*libcpupower*) echo "emp-$tool links libcpupower and GSL"; bad=1 ;; esac
	case $tool:$libraries in measure:*libsystemd*) echo "emp-measure links libsystemd, which takes longer to load than a sample"; bad=1 ;; esac
done
exit $bad
