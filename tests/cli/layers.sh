#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The layers hold: base < host < record; stats on base; protocol on stats and record; a tool includes lib and itself.
# And libcpupower (GPL-2.0-only) and GSL (GPL-3) are in no binary together. Usage: layers.sh SOURCE BUILD
set -u
cd "$1" || exit 1
bad=0

allowed() { # FOLDER: what it may include, as an alternation
	case $1 in
	lib/base) echo 'lib/base' ;;
	lib/host) echo 'lib/base|lib/host' ;;
	lib/record) echo 'lib/base|lib/host|lib/record' ;;
	lib/stats) echo 'lib/base|lib/stats' ;;
	lib/protocol) echo 'lib/base|lib/stats|lib/record|lib/protocol' ;;
	*) echo "lib/[a-z]+|$1" ;;
	esac
}

for folder in lib/base lib/host lib/record lib/stats lib/protocol setup calibrate measure analyze; do
	files=$(ls "$folder"/*.[ch])
	[ -n "$files" ] || { echo "$folder holds no source"; bad=1; }
	wrong=$(grep -nE '^#include "' $files /dev/null | grep -vE "\"($(allowed $folder))/[a-z0-9_]+\.h\"|\.skel\.h\"")
	[ -z "$wrong" ] || { echo "$folder includes what is above or beside it:"; echo "$wrong"; bad=1; }
done

for tool in setup calibrate measure analyze; do
	libraries=$(ldd "$2/$tool/emp-$tool") || { echo "no emp-$tool in $2"; bad=1; }
	case $libraries in *libcpupower*libgsl*|*libgsl*libcpupower*) echo "emp-$tool links libcpupower and GSL"; bad=1 ;; esac
done
exit $bad
