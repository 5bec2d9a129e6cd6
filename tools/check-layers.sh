#!/bin/sh
# check-layers.sh - fail when a source file includes what its layer may not see.
#
# The owner of include/pollux/NAME.h is the layer NAME, or the one that has NAME.c; without
# either it is util. It includes no more than its owner may. Private headers stay inside
# their layer: src/LAYER, or a directory in it. There they lead in no circle: a file and
# the header of its name are one module, and no module needs itself.
set -eu
cd "$(dirname "$0")/.."

# A layer, a colon, the layers it may include.
layers='util:
client:
code: util
model: util
sched: model util
device: util
measure: model device util
steps: util
store: code sched model device util
engine: code store steps device model client util
knowledge: code store sched model device util
pass: knowledge engine code store sched device model util
report: sched model util
sim: sched model util
profile: pass knowledge engine code store sched measure device model util
doctor: report pass engine code store device util
view: doctor report sim profile pass knowledge engine store steps measure sched model device util
request: report engine code store steps model util
cli: request view doctor report sim profile pass engine code store sched steps device model util'

# A header of another library (the beginning of its name), a colon, its layer.
foreign='sqlite3.h: store
hwloc: device
microhttpd.h: cli
nlopt.h: model
getopt.h: request
libqhull: sim
pcre2.h: steps
curses.h: cli
json-c: cli
cuda: device
cublas: device
nvml.h: device'

# Layers in which private headers still lead in circles.
circles='steps'

# awk checks every include of every file; the list of .c files gives the owners.
awk -v layers="$layers" -v foreign="$foreign" -v circles="$circles" '
function complain(text) {
	print FILENAME ":" FNR ": " text
	bad = 1
}
function ours(header,    from) {
	from = (header in owner) ? owner[header] : "util"
	if (layer == "client" && header != "client.h" && header != "kept_file.h")
		complain("client includes only its own headers, not " header)
	else if (layer != from && index(may[layer] " ", " " from " ") == 0)
		complain(layer " may not include " header " (of " from ")")
}
# Takes /DIRECTORY/../ out of a path.
function plain(path) {
	while (sub(/[a-z]+\/\.\.\//, "", path))
		;
	return path
}
function module(path) {
	sub(/\.[ch]$/, "", path)
	return path
}
# Goes on from the module, over what it needs. trail: how it was reached.
function follow(name, trail,    i, list, n) {
	if (index(trail, " " name " ")) {
		sub(".* " name " ", name " ", trail)
		print "a circle of private headers: " trail name
		bad = 1
		return
	}
	if (name in followed)
		return
	n = split(needs[name], list, " ")
	for (i = 1; i <= n; i++)
		follow(list[i], trail name " ")
	followed[name] = 1
}
function theirs(header,    name) {
	for (name in home)
		if (index(header, name) == 1 && home[name] != layer)
			complain(header " belongs in " home[name] ", not in " layer)
}
# Up once from a directory of the layer, down once from the layer itself.
function stays(header) {
	if (deep)
		sub(/^\.\.\/([a-z]+\/)?/, "", header)
	else
		sub(/^[a-z]+\//, "", header)
	return !index(header, "/")
}
BEGIN {
	n = split(layers, line, "\n")
	for (i = 1; i <= n; i++) {
		split(line[i], part, ":")
		may[part[1]] = part[2]
		owner[part[1] ".h"] = part[1]
	}
	n = split(foreign, line, "\n")
	for (i = 1; i <= n; i++) {
		split(line[i], part, ": ")
		home[part[1]] = part[2]
	}
	for (i = 1; i < ARGC; i++)
		if (0 < (n = split(ARGV[i], part, "/")) && part[1] == "src" &&
				sub(/\.c$/, ".h", part[n]))
			owner[part[n]] = part[2]
}
FNR == 1 {
	split(FILENAME, part, "/")
	here = FILENAME
	sub(/[^\/]*$/, "", here)
	deep = here != part[1] "/" part[2] "/"
	layer = part[2]
	if (part[1] == "include")
		layer = (part[3] in owner) ? owner[part[3]] : "util"
	if (!(layer in may))
		complain("no rule for the layer " layer)
}
/^[ \t]*#[ \t]*include[ \t]*"/ {
	split($0, quoted, "\"")
	header = quoted[2]
	if (sub(/^pollux\//, "", header))
		ours(header)
	else if (!stays(header) || (getline text < (here quoted[2])) < 0)
		complain("a private header is of the same layer: " header)
	else if (!index(" " circles " ", " " layer " ") &&
			module(plain(here quoted[2])) != module(FILENAME))
		needs[module(FILENAME)] = needs[module(FILENAME)] " " \
			module(plain(here quoted[2]))
	close(here quoted[2])
}
/^[ \t]*#[ \t]*include[ \t]*</ {
	split($0, quoted, /[<>]/)
	theirs(quoted[2])
}
END {
	for (name in needs)
		follow(name, " ")
	exit bad
}
' src/*/*.[ch] src/*/*/*.[ch] include/pollux/*.h

# A part of struct supervisor is changed in the file that its line names, and in no other, but for
# its beginning and its end in supervise.c.
awk '
/^struct supervisor \{/ { inside = 1 }
/^}/ { inside = 0 }
inside && match($0, /\/\* supervisor[a-z_]*\.c \*\//) {
	name = $3
	sub(/;.*/, "", name)
	owner[name] = substr($0, RSTART + 3, RLENGTH - 6)
}
FNR == 1 {
	here = FILENAME
	sub(/.*\//, "", here)
}
/s->[a-z]+/ && here != "supervise.c" {
	for (name in owner)
		if (here != owner[name] && ($0 ~ "&s->" name "[^a-z_]" || $0 ~ "s->" name \
				"(\\.[a-z_]+|\\[[^]]*\\])* *([-+|&*]?=[^=]|\\+\\+|--)")) {
			print FILENAME ":" FNR ": only " owner[name] " changes s->" name
			bad = 1
		}
}
END { exit bad }
' src/engine/local/supervisor.h src/engine/local/*.c src/engine/slurm/*.c

# Decisions are facts, which src/view words: src/sched and src/pass write no words, but in the files
# that are named here. These write events, remarks on GPUs, settings, paths, or what a disk and a
# device lack.
awk -v words='policy_table halving apply binding gpu_remarks outlook pass prune read read_devices
read_jobs recover' '
BEGIN {
	n = split(words, name, /[ \n]/)
	for (i = 1; i <= n; i++)
		may[name[i] ".c"] = 1
}
FNR == 1 {
	here = FILENAME
	sub(/.*\//, "", here)
	comment = 0
}
here in may || /^#include/ { next }
{
	text = $0
	if (comment && !sub(/^.*\*\//, "", text))
		next
	comment = 0
	gsub(/\/\*([^*]|\*[^\/])*\*\//, "", text)
	comment = sub(/\/\*.*/, "", text)
}
{	# what a policy is called, and what is compared with a text
	sub(/^\t(\.name = |\{ )"[^"]*"/, "", text)
	sub(/\.summary = "[^"]*"/, "", text)
	sub(/strn?cmp\([^"]*"[^"]*"/, "", text)
}
text ~ /(printf|strftime|(strings|text)_v?add[a-z_]*) *\(/ || text ~ /"[^"]*[a-z][^"]*"/ {
	print FILENAME ":" FNR ": words of its own: make it a fact of verdict.h, worded in src/view"
	bad = 1
}
END { exit bad }
' src/sched/*.[ch] src/sched/published/*.[ch] src/pass/*.[ch]
