# SPDX-License-Identifier: GPL-2.0-or-later
# EMP's commands in bash. What can follow, emp says: see emp/complete.h.

_emp() {
	local emp=emp at=${COMP_WORDS[COMP_CWORD]} word
	local -a said

	[[ ${COMP_WORDS[0]} != */* ]] || emp=${COMP_WORDS[0]%/*}/emp
	mapfile -t said < <("$emp" complete "${COMP_WORDS[@]:0:COMP_CWORD+1}" 2>/dev/null)
	COMPREPLY=()
	[[ $at != = ]] || at=
	case ${said[0]-} in
	files) mapfile -t COMPREPLY < <(compgen -f -- "$at") ;;
	directories) mapfile -t COMPREPLY < <(compgen -d -- "$at") ;;
	commands) mapfile -t COMPREPLY < <(compgen -c -- "$at") ;;
	esac
	compopt -o nosort 2>/dev/null
	[[ ${said[0]-} != files && ${said[0]-} != directories ]] || compopt -o filenames 2>/dev/null
	for word in "${said[@]:1}"; do
		word=${word%%$'\t'*}
		[[ $word != *[^[:alnum:]_./,:=@%+-]* ]] || printf -v word %q "$word"
		COMPREPLY+=("$word")
	done
}
complete -F _emp emp emp-measure emp-setup emp-calibrate emp-analyze emp-load emp-study emp-compare-commits
