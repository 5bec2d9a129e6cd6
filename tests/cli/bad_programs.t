#!/bin/sh
# bad_programs.t - scripts that the kernel does not run: said at submission, with what mends it, and
# in the same words by the job where the script was changed later.
# shellcheck disable=SC2016,SC2154,SC2317  # texts for other shells; $err is of run; cleanup
. "$(dirname "$0")/tap.sh"
export POLLUX_SLOTS=1
cleanup() { end_jobs; }
make_script() { # make_script NAME CONTENT
	printf '%b' "$2" >"$1"
	chmod +x "$1"
}
reason() { store "SELECT diagnosis FROM runs WHERE job_id = $1"; }

long=$(printf '%0300d' 0)
CRLF="its lines end in CR LF, as on Windows, so that its interpreter is not found; sed -i \
's/\\\\r\$//' @ mends that"
BARE="it has no '#!' line to name its interpreter; begin it with #!/bin/sh, or run: sh @"
MARK="it begins with a byte order mark, before which there must be no other byte than '#!'; sed -i \
'1s/^\\\\xEF\\\\xBB\\\\xBF//' @ takes it away"
LATE="its '#!' line is not the first thing in it: blanks or empty lines before it must go"
NOWHERE="its '#!' line has env look for 'pythn3', which is nowhere in PATH"
NAMES="its '#!' line names the interpreter"
ONE="its '#!' line has env look for a program named 'sh -e'; begin it with #!/usr/bin/env -S sh -e"
LONG="its '#!' line has more than the 255 bytes that the kernel reads"
# name, content, what is said behind "cannot execute 'PATH': "
scripts() {
	cat <<END
dos|#!/bin/sh\\r\\necho ran\\r\\n|$CRLF
env_dos|#!/usr/bin/env sh\\r\\necho ran\\r\\n|$CRLF
shell_dos|#!/bin/sh -e\\r\\necho ran\\r\\n|$CRLF
mac|#!/bin/sh\\recho ran\\r|$CRLF
bare|echo ran\\n|$BARE
comment|# a comment\\necho ran\\n|$BARE
empty||it is empty; begin it with #!/bin/sh, or run: sh @
late|\\n#!/bin/sh\\necho ran\\n|$LATE
mark|\\0357\\0273\\0277#!/bin/sh\\necho ran\\n|$MARK
lost|#!/usr/bin/pythn3\\nprint()\\n|$NAMES '/usr/bin/pythn3', which is not there
lost_args|#! /opt/no/python -u\\nprint()\\n|$NAMES '/opt/no/python', which is not there
env_lost|#!/usr/bin/env pythn3\\nprint()\\n|$NOWHERE
env_split|#!/usr/bin/env -S pythn3 -u\\nprint()\\n|$NOWHERE
env_one|#!/usr/bin/env sh -e\\necho ran\\n|$ONE
utf16|\\0377\\0376#\\0000!\\0000|it is text in UTF-16, which no interpreter here reads
script.py|import os\\n|${BARE%%begin*}begin it with #!/usr/bin/env python3, or run: python3 @
nothing|#!\\necho ran\\n|its '#!' line names no interpreter
long|#!/$long/sh\\necho ran\\n|$LONG
END
}
scripts >table
while IFS='|' read -r name content said; do
	make_script "$name" "$content"
	run "$POLLUX" submit --hold -- "./$name"
	is "submit refuses the script $name and says why" \
		"66:pollux: cannot execute '$TMP/./$name': $(echo "$said" |
		sed "s:@:$TMP/./$name:")" "$rc:$err"
done <table

# --- what runs as it is is not refused ---
while IFS='|' read -r name content; do
	make_script "$name" "$content"
	run "$POLLUX" submit --hold -- "./$name"
	is "submit accepts the script $name" '0:' "$rc:$err"
done <<'END'
usual|#!/bin/sh\necho ran\n
spaced|#! \t/bin/sh -e\necho ran\n
of_env|#!/usr/bin/env -S A=1 sh -e\necho ran\n
no_newline|#!/bin/sh
perl_dos|#!/usr/bin/perl -w\r\nprint "ran\\n";\r\n
binary|\0177\0105\0114\0106\0002\0000\0001
END
printf 'echo ran\n' >plain
chmod 644 plain
run "$POLLUX" submit --hold -- sh plain
is "submit accepts a script for sh without execute bit and '#!' line" '0:' "$rc:$err"
run "$POLLUX" submit --hold -- ./plain
is 'submit says that a script lacks its execute bit' \
	"66:pollux: cannot execute '$TMP/./plain': it has no execute \
bit, which chmod +x $TMP/./plain sets" "$rc:$err"
printf '#!/bin/sh\r\n:\r\n' >windows.sh
run "$POLLUX" submit --hold -- bash windows.sh
is 'submit warns of a Windows script that a shell is given' \
	"0:pollux: warning: the lines of '$TMP/windows.sh' end in \
CR LF, as on Windows, and the shell takes each CR for a part of the last word; \
sed -i 's/\\r\$//' $TMP/windows.sh mends that" "$rc:$err"
printf 'print("ran")\r\n' >windows.py
run "$POLLUX" submit --hold -- python3 windows.py
is 'submit does not warn of a Windows script for Python' '0:' "$rc:$err"
printf '#!/bin/sh\r\n#POLLUX --name of-windows\r\n' >options.sh
run "$POLLUX" submit --hold -- sh options.sh
is 'options in a Windows script count' 'of-windows' \
	"$(store "SELECT name FROM jobs WHERE id = $out")"

# --- behind a program that starts it ---
printf '#!/bin/sh\n' >no_bit
chmod 644 no_bit
for by in nice 'nice -n 5' 'timeout 5m' 'env A=b/c' 'nohup nice' setsid '/usr/bin/env' \
	'timeout -s INT 25' 'env -u HOME' 'taskset -c 0,1'; do
	# shellcheck disable=SC2086 # words
	run "$POLLUX" submit --hold -- $by ./dos
	like "submit refuses lines of Windows behind $by" \
		"^66:pollux: cannot execute '$TMP/./dos': \
its lines end in CR LF" "$rc:$err"
	# shellcheck disable=SC2086 # words
	run "$POLLUX" submit --hold -- $by ./no_bit
	like "submit refuses a missing execute bit behind $by" \
		"^66:pollux: cannot execute '$TMP/./no_bit': it has no execute bit" "$rc:$err"
done
while IFS='|' read -r name words; do
	# shellcheck disable=SC2086 # words
	run "$POLLUX" submit --hold -- $words
	is "submit does not refuse: $name" '0:' "$rc:$err"
done <<'END'
a shell runs a file without a line|nice ./bare
a file that may come|nice ./later
an argument of another program|timeout 25 cat ./dos
a file for an interpreter|env A=1 sh -e ./dos
a value|env A=./dos true
a file of an option|env -C ./plain true
an option and another program|timeout -v 5 sh -e ./dos
END
mkdir own
make_script own/pythn3 '#!/bin/sh\necho ran\n'
run "$POLLUX" submit --hold -e "PATH=$TMP/own:$PATH" -- ./env_lost
is 'submit finds an interpreter in the PATH of the job' '0:' "$rc:$err"
run "$POLLUX" submit --hold -- env "PATH=$TMP/own:$PATH" ./env_lost
is 'submit finds an interpreter in the PATH that env sets' '0:' "$rc:$err"

# --- changed after the submission ---
for name in dos bare env_dos lost; do
	make_script "later_$name" '#!/bin/sh\necho ran\n'
	"$POLLUX" submit -q -- "./later_$name" >"id_$name"
	cp "$name" "later_$name"
done
for name in dos bare env_dos lost; do
	"$POLLUX" schedule
	"$POLLUX" wait --timeout 100 "$(cat "id_$name")"
	is "a script changed into $name fails with the words of submit" \
		"cannot execute '$TMP/./later_$name': $(
		said=$(grep "^$name|" table | cut -d'|' -f3)
		echo "$said" | sed "s:@:$TMP/./later_$name:")" \
		"$(reason "$(cat "id_$name")")"
done
make_script behind '#!/bin/sh\necho ran\n'
"$POLLUX" submit -q -- nice -n 5 ./behind >id_behind
cp dos behind
"$POLLUX" schedule
"$POLLUX" wait --timeout 100 "$(cat id_behind)"
like 'a script changed behind nice fails with the words of submit' \
	"^cannot execute '$TMP/./behind': its lines end in CR LF" "$(reason "$(cat id_behind)")"
finish
