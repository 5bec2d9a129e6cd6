#!/bin/sh
# manual.t - the manuals say what the program does, and their examples can be typed.
# shellcheck disable=SC2317  # cleanup is called by the trap
. "$(dirname "$0")/tap.sh"
man=$ROOT/man src=$ROOT/src

# --- reading manuals ---

section() { # section PAGE NAME: the lines of a section or subsection
	awk -v name="$2" '/^\.S[hs] / { on = $0 ~ "^.S[hs] " name "$"; next } on' "$man/$1"
}

# Prints the text of the mdoc lines of a macro that stands in synopses and lists: one line for each.
text_of() {
	awk '
	function put(word) {
		out = out (out == "" || tight || out ~ /\[$/ || word ~ /^[],.:;]$/ ? "" : " ") word
		tight = 0
	}
	/^\./ {
		open = 0
		out = ""
		for (i = 1; i <= NF; i++) {
			word = i == 1 ? substr($i, 2) : $i
			if (word ~ /^(Nm|Ar|Cm|It|Ev|Va|Xr|Dv|Nd)$/) continue
			else if (word == "Ns") tight = 1
			else if (word == "Fl") { put("-"); tight = 1 }
			else if (word == "Op") { put("["); open++ }
			else if (word == "Oo") put("[")
			else if (word == "Oc") { tight = 1; put("]") }
			else put(word)
		}
		while (open-- > 0) { tight = 1; put("]") }
		print out
	}'
}

listed() { # listed MACRO: the arguments of ".It MACRO" and ".MACRO" lines, one a line
	sed -nE "s/^\\.(It )?$1 //p" | sed -E 's/ (Ta|No|Dv) .*//; s/ [],.;:]+//g' | tr ' ' '\n' |
		sort -u
}

same() { # same NAME WANT GOT: as sets of lines
	is "$1" "$(printf '%s\n' "$2" | sort -u)" "$(printf '%s\n' "$3" | sort -u)"
}

# --- each command and its manual ---

usage() { sed -n '/^usage: /,/^$/s/^\(usage: \)*//p' "$1" | tr -s ' \n' ' ' | sed 's/ $//'; }

options() { # as --help forms them: "-n, --name NAME"
	sed -nE 's/^  (    )?(-., )?(--[a-z-]+(\[=[^ ]+\]| [^ ]+)?)( .*)?$/\2\3/p' "$1"
}

"$POLLUX" --help >help
commands=$(sed -n 's/^  \([a-z]*\) .*/\1/p' help)
for command in $commands; do
	page=pollux-$command.1
	"$POLLUX" "$command" --help all >"help.$command"
	ok "$page is there" test -e "$man/$page"
	is "the synopsis of $page is the usage of $command" "$(usage "help.$command")" \
		"$(section "$page" SYNOPSIS | text_of | paste -sd ' ')"
	is "the name of $page is what --help says of $command" \
		"$(sed -n "s/^  $command  *//p" help)" "$(sed -n 's/^\.Nd //p' "$man/$page")"
	is "the options of $page are those of $command" "$(options "help.$command")" \
		"$(section "$page" OPTIONS | grep '^\.It Fl' | text_of)"
	for name in DESCRIPTION 'EXIT STATUS' EXAMPLES 'SEE ALSO'; do
		ok "$page has $name" grep -q "^\.Sh $name\$" "$man/$page"
	done
done
same 'there is no manual of anything else' \
	"$(for command in $commands; do echo "pollux-$command.1"; done; echo pollux.1)" \
	"$(for page in "$man"/*.1; do echo "${page##*/}"; done)"

is 'pollux(1): the synopsis is the usage' "$(usage help)" \
	"$(section pollux.1 SYNOPSIS | text_of | paste -sd ' ')"
is 'pollux(1) lists the commands as --help does' \
	"$(sed -n 's/^  \([a-z]*\)  */\1: /p' help)" \
	"$(section pollux.1 DESCRIPTION |
		sed -n '/^\.It Xr pollux-/{s/.*-\([a-z]*\) 1/\1/;N;s/\n/: /p;}')"

# --- what the sources name and what the manuals name ---

keys_of() { grep -oE '\(&?j, "[a-z_]+"' "$1" | sed 's/.*"\(.*\)"/\1/'; }

columns() { # those of the store that the JSON shows as they are
	sed -nE 's/^\t(C|NAMES|CHARS)\("([a-z_]+)".*SHOWN.*/\2/p' "$src/store/store_columns.c"
	sed -nE 's/^[[:space:]].*COLUMN(_OF_NAMES)?\("([a-z_]+)".*/\2/p' "$src/store/declaration.c"
}

same 'pollux-json(7) has every key of the JSON of status' \
	"$(keys_of "$src/view/status_json.c"; columns)" "$(listed Va <"$man/pollux-json.7")"
same 'pollux-explain(1) has every key of the JSON' "$(keys_of "$src/view/explain_json.c"
	keys_of "$src/view/explain_end.c"; keys_of "$src/view/explain_kinds.c"
	keys_of "$src/view/plan_list.c")" \
	"$(sed -n '/^\.Sh JSON/,/^\.Sh EXIT/p' "$man/pollux-explain.1" | listed Va)"
is 'pollux-profile(1) has every key of the JSON of a command' '' \
	"$(sed -n '/^\.Sh JSON/,/^\.Sh EXIT/p' "$man/pollux-profile.1" | listed Va >keys
		keys_of "$src/view/profile_report.c" | sort -u | grep -vxF -f keys)"
is 'pollux-profile(1) has every key of the JSON of the devices' '' \
	"$(keys_of "$src/view/devices_profile.c" | sort -u | grep -vxF -f keys)"
same 'pollux-devices(1) has every key of the JSON' "$(keys_of "$src/view/devices_view.c"
	keys_of "$src/view/devices_nodes.c"
	grep -ohE '_key = "[a-z_]+"' "$src"/device/*/*.c | sed 's/.*"\(.*\)"/\1/')" \
	"$(listed Va <"$man/pollux-devices.1")"
same 'pollux-steps(1) has every key of the JSON' "$(keys_of "$src/cli/cmd_steps.c")" \
	"$(listed Va <"$man/pollux-steps.1")"
same 'pollux-steps(1) has every pattern' "$("$POLLUX" steps --list | sed 's/ .*//')" \
	"$(section pollux-steps.1 Patterns | sed '/^\.It/!d' | listed Cm)"
policies_of() { # policies_of COMMAND: from its help
	"$POLLUX" "$1" --help all | tr -s ' \n' ' ' | sed 's/.* one of \([a-z ]*\);.*/\1/' |
		tr ' ' '\n'
}
same 'pollux(1) has every policy of a pass' "$(policies_of schedule)" \
	"$(section pollux.1 SCHEDULING | sed '/^\.It/!d' | listed Cm)"
same 'pollux-simulate(1) has every policy' "$(policies_of simulate)" \
	"$(section pollux-simulate.1 POLICIES | sed '/^\.It/!d' | listed Cm)"
same 'pollux-submit(1) has every template' \
	"$(grep -oE '\[NAME_[A-Z_]+\] = "[a-z_]+"' "$src/engine/template.c" |
		sed 's/.*"\(.*\)"/{\1}/')" \
	"$(section pollux-submit.1 Templates | listed Cm)"
same 'pollux-report(1) has every key' \
	"$(grep -oE 'KEY\("[A-Z_]+"' "$src/engine/report_message.c" |
		sed 's/.*"\(.*\)"/\1/; /WAKE/d'
		sed -n 's/^#define METRIC "\(.*\)"$/\1name/p' "$src/engine/report_message.c")" \
	"$(section pollux-report.1 Keys | sed '/^\.It/!d' | listed Cm)"
same 'pollux(1) has every variable that jobs get' \
	"$(cat "$src/engine/environment.c" "$src"/device/*.c "$src"/device/*/*.c \
		"$src"/request/submission*.c |
		tr -d '\n' | grep -oE 'set_[a-z]+\(&?(c->)?env,[[:space:]]*"[A-Z_]+"' |
		sed 's/.*"\(.*\)"/\1/')" \
	"$(section pollux.1 'Given to jobs' | sed '/^\.It/!d' | listed Ev)"
same 'pollux(1) has every variable that they do not' \
	"$({
		sed -n '/of_[a-z]*\[\] = {/,/^};/p' "$src/engine/environment.c"
		grep -h '_variables\[\] = {' "$src"/device/*/*.c
	} | grep -oE '"[^"]+"' | tr -d '"')" \
	"$(section pollux.1 'Not passed on to jobs' | listed Ev)"
same 'pollux(1) has every setting' \
	"$(sed -nE 's/^\t\{ "([a-z_]+)", "(POLLUX_[A-Z_]+)".*/\1 \2/p' "$src/util/settings.c")" \
	"$(section pollux.1 CONFIGURATION | sed -nE 's/^\.It Cm ([a-z_]+)$/\1/p' |
		while read -r name; do
			echo "$name POLLUX_$(echo "$name" | tr '[:lower:]' '[:upper:]')"
		done)"
same 'pollux(1) has every exit status' \
	"$(cat "$src"/*/*.c "$src"/*/*/*.c | grep -oE '\bEX_[A-Z]+' | grep -v EX_FAILED)" \
	"$(section pollux.1 'EXIT STATUS' | grep -oE 'EX_[A-Z]+')"

header=$ROOT/include/pollux/client.h
same 'pollux-client(3) has every function' \
	"$(grep -oE '\*?pollux_(client|gradient)_[a-z_]+\(' "$header" | grep -v '^\*$' |
		tr -d '*(')" \
	"$(section pollux-client.3 SYNOPSIS | sed -nE 's/^\.F[no] ([a-z_]+).*/\1/p')"
members_of() { sed -nE 's/^\t[a-z0-9_ ]+[ *]([a-z_]+); .*/\1/p' "$1"; }
same 'pollux-client(3) has every member of its structures' "$(members_of "$header")" \
	"$(members_of "$man/pollux-client.3")"

# --- examples ---

# examples FILE: prints the literal blocks of FILE, a NUL after each. In a manual these are the .Dl
# lines and .Bd blocks under IN SHORT and EXAMPLES; in Markdown the fences marked sh.
examples() {
	# shellcheck disable=SC2016  # the backticks are Markdown
	case $1 in
	*.md) sed -n '/^```sh$/,/^```$/{s/^```$/\x00/;/^```sh$/d;p;}' "$1" ;;
	*) sed -n '/^\.Sh \(IN SHORT\|EXAMPLES\)/,/^\.Sh [DS]E/{s/\\e/\\/g
		s/^\.Dl \(.*\)/\1\n\x00/p
		/^\.Bd/,/^\.Ed/{/^\.Bd/d;s/^\.Ed.*/\x00/;p;}
		}' "$1" ;;
	esac
}

# The C program is complete.
sed -n '/^\.Sh EXAMPLES/,/^\.Ed/{s/\\e/\\/g;/^\./!p;}' "$man/pollux-client.3" >example.c
# shellcheck disable=SC2086  # CC may be several words
ok 'the example of pollux-client(3) compiles' \
	${CC:-cc} -std=c11 -D_DEFAULT_SOURCE -I"$ROOT/include" -c -o example.o example.c

# A store with some jobs, and what the examples call. Nothing is left of the user's own.
mkdir bin
PATH=$TMP/bin:$PATH
HOME=$TMP
export HOME
for program in python torchrun jq less systemd-run; do
	printf '#!/bin/sh\nexit 0\n' >"bin/$program"
done
printf '#!/bin/sh\nexec "%s" "$@"\n' "$POLLUX" >bin/pollux
cat >bin/crontab <<END
#!/bin/sh
case \$1 in
-l) cat "$TMP/crontab" 2>/dev/null || { echo 'no crontab for user' >&2; exit 1; } ;;
-r) rm -f "$TMP/crontab" ;;
-) cat >"$TMP/crontab" ;;
esac
END
chmod +x bin/*
for script in train.sh evaluate.sh compare.sh train.py example; do
	cp bin/jq "$script"
done
for _ in $(seq 18); do
	pollux submit --hold true
done >/dev/null
pollux cancel 17 18

active()
{
	pollux status --all | awk '$3 ~ /^(queued|starting|running|stopping|held)$/ { print $1 }'
}
cleanup() {
	for POLLUX_DIR in "$TMP/store" "$TMP/try"; do
		for id in $(active); do pollux cancel "$id"; done
		# shellcheck disable=SC2046  # a list of words
		pollux wait --timeout 100 $(active)
	done 2>/dev/null
}

# Some wait for ever: two seconds will do, as what is refused is refused at once. SIGKILL, for the
# reason that `end` of tap.sh tells.
accepted() { # accepted BLOCK: no command of pollux in it is a usage error or not there
	timeout -s KILL 2 sh -c "$1" >/dev/null 2>"$TMP/.said" </dev/null
	case $? in 64 | 126 | 127) cat "$TMP/.said"; return 1 ;; esac
	! grep -E "^pollux: .*(--help|unknown|did you mean)|not found" "$TMP/.said"
}

for file in "$man"/*.1 "$man"/*.3 "$man/pollux-json.7" "$man/pollux-program.7" \
	"$man/pollux-sweeps.7" "$man/pollux-tutorial.7" "$ROOT/README.md"; do
	count=0
	examples "$file" >blocks
	while [ -s blocks ]; do
		block=$(sed '/^\x00/q' blocks | tr -d '\000' | sed "s|/tmp/try|$TMP/try|g")
		sed '1,/^\x00/d' blocks >rest
		mv rest blocks
		printf '%s\n' "$block" | grep -qE '^(pollux|[a-z]+=\$\(pollux|export POLLUX)' ||
			continue
		count=$((count + 1))
		ok "${file##*/}: $(printf '%s' "$block" | head -n 1)" accepted "$block"
	done
	ok "${file##*/} has examples" test "$count" -gt 0
done

# --- sections that manuals name ---

# The sections after .Sx that are neither in the page itself nor in a page of an .Xr beside.
sections_missing() {
	perl -e 'my (%has, %lines);
		for my $file (@ARGV) {
			open(my $in, "<", $file) or die;
			my ($page) = $file =~ m,([^/]*)$,;
			chomp(@{$lines{$page}} = <$in>);
			$has{"$page: $_"} = 1 for map { /^\.S[hs] (.*)/ } @{$lines{$page}};
		}
		for my $page (sort keys %lines) {
			my @line = @{$lines{$page}};
			for my $i (grep { $line[$_] =~ /^\.Sx / } 0 .. $#line) {
				my ($name) = $line[$i] =~ /^\.Sx (.*?)(?: [.,;:)]+)*$/;
				my @near = @line[($i > 4 ? $i - 4 : 0) .. $i + 2];
				print "$page: $name\n" unless grep { $has{"$_: $name"} }
					$page, map { /^\.Xr (\S+) (\d)/ ? "$1.$2" : () } @near;
			}
		}' "$@"
}
is 'each section that a manual names is there' '' "$(sections_missing "$man"/*.[0-9])"

# --- files that the documents for developers name ---

# not_there PAGE: the paths in backticks and parentheses of PAGE that are neither in the tree nor
# below src. Names with NAME are templates; what make builds is left out.
not_there() {
	grep -oE '[A-Za-z0-9_./-]+/[A-Za-z0-9_.-]+\.(c|h|t|sh|py|md|1|3|7)\>' "$1" | grep -v NAME |
		grep -v '^build/' | sort -u | while read -r path; do
			[ -e "$ROOT/$path" ] || [ -e "$src/$path" ] || echo "$path"
		done
}
# not_in PAGE: of the pairs `FILE` (`NAME`) in PAGE those whose file does not have the name.
not_in() {
	# shellcheck disable=SC2016	# backticks of a document
	grep -oE '`[a-z_0-9/.]+\.[ch]` \(`[A-Za-z_0-9]+`' "$1" | tr -d '`(' |
		while read -r path name; do
			cat "$src/$path" "$ROOT/$path" 2>/dev/null | grep -vE '^( \*|/\*)' |
				grep -qE "\b$name\b" || echo "$path: $name"
		done
}
for page in ARCHITECTURE CONTRIBUTING README CHANGELOG src/README; do
	is "$page.md names only files that are there" '' "$(not_there "$ROOT/$page.md")"
	is "$page.md names only names that are in those files" '' "$(not_in "$ROOT/$page.md")"
done

if command -v mandoc >/dev/null; then
	ok 'mandoc finds no fault' mandoc -Tlint -W warning "$man"/*.[0-9]
	is 'no line is wider than a terminal of 80 columns' '' "$(mandoc -Tascii -Owidth=80 \
		"$man"/*.[0-9] | perl -pe 's/.\x08//g; 1 while s/\t/" " x (8 - $-[0] % 8)/e' |
		grep -E '.{81}')"
else
	echo "ok $((n += 1)) - mandoc finds no fault # SKIP no mandoc"
fi
finish
