#!/bin/sh
# check-symbols.sh BUILD OBJECT... - what the object files show (LAYER/NAME.o, in
# BUILD), against the rules:
#
#   1. model and sched, with all of util that they reach, call nothing of libc
#      but what is listed here: no clock, no I/O, no environment, no exit;
#   2. model and sched have no writable globals;
#   3. only cli, view and report print to stdout and stderr;
#   4. client calls nothing of the other layers.
set -eu
cd "$1"
shift

# Compilers decorate names (__memcpy_chk, __isoc23_strtol, __exp_finite); the
# decoration is taken off before a name is looked up here.
pure='memcpy mempcpy memmove memset memcmp memchr memrchr memmem
strlen strnlen strcmp strncmp strcasecmp strncasecmp strchr strrchr strstr strspn strcspn
strpbrk strdup strndup strtok_r strsep strcpy strncpy stpcpy stpncpy strcat strncat strchrnul
strtol strtoul strtoll strtoull strtod strtof strtold strtoimax strtoumax sscanf
snprintf vsnprintf asprintf vasprintf strerror
malloc calloc realloc reallocarray free qsort qsort_r bsearch
ctype_b_loc ctype_tolower_loc ctype_toupper_loc tolower toupper errno_location
fabs abs labs llabs exp exp2 expm1 log log2 log10 log1p pow sqrt cbrt hypot
floor ceil round trunc rint nearbyint lround llround lrint llrint fmod fmin fmax fma
ldexp frexp modf scalbn copysign nextafter remainder lgamma lgamma_r tgamma erf erfc
sin cos tan asin acos atan atan2 sinh cosh tanh
nlopt_create nlopt_destroy nlopt_optimize nlopt_set_min_objective nlopt_set_lower_bounds
nlopt_set_upper_bounds nlopt_set_ftol_rel nlopt_set_maxeval
stack_chk_fail assert_fail GLOBAL_OFFSET_TABLE_'

# Exhausted memory ends the program: the one effect allowed, and only here.
exempt=util/mem.o

nm -A "$@" >symbols.txt

# A line is OBJECT:[VALUE] TYPE NAME.
awk -v pure="$pure" -v exempt="$exempt" '
function layer(object) { return substr(object, 1, index(object, "/") - 1) }
function strict(object) { return layer(object) == "model" || layer(object) == "sched" }
function plain(name) {
	sub(/^_+/, "", name)
	sub(/^isoc[0-9]+_/, "", name)
	sub(/_(chk|finite)$/, "", name)
	return name
}
function complain(object, text) {
	sub(/o$/, "c", object)
	print "src/" object ": " text
	bad = 1
}
{
	object = $1
	sub(/:.*/, "", object)
	type = $(NF - 1)
	sub(/.*:/, "", type)
}
type == "U" { uses[object] = uses[object] " " $NF }
type ~ /^[TDBRVWC]$/ { home[$NF] = object }
type == "T" || type == "t" || type == "U" { seen[object] = 1 }
END {
	n = split(pure, word, /[ \n]+/)
	for (i = 1; i <= n; i++)
		fine[word[i]] = 1
	n = split("printf vprintf puts putchar perror psignal stdout stderr", word, " ")
	for (i = 1; i <= n; i++)
		prints[word[i]] = 1

	for (object in seen) {
		n = split(uses[object], name, " ")
		for (i = 1; i <= n; i++) {
			if (plain(name[i]) in prints && layer(object) !~ /^(cli|view|report)$/)
				complain(object, "prints: " name[i])
			if (layer(object) == "client" && name[i] in home &&
					layer(home[name[i]]) != "client")
				complain(object, name[i] " is of " home[name[i]])
		}
	}

	# The pure objects, then what they reach, until nothing new is reached.
	n_todo = 0
	for (object in seen)
		if (strict(object))
			reached[todo[++n_todo] = object] = object
	for (k = 1; k <= n_todo; k++) {
		object = todo[k]
		n = split(uses[object], name, " ")
		for (i = 1; i <= n; i++) {
			to = home[name[i]]
			if (to == "") {
				if (!(plain(name[i]) in fine) && object != exempt)
					complain(object, "not pure: " name[i] \
						(reached[object] == object ? "" : \
						" (used by " reached[object] ")"))
			} else if (!(to in reached)) {
				reached[todo[++n_todo] = to] = object
			}
		}
	}
	exit bad
}' symbols.txt

# By section, as nm calls all of .data "d". Constant tables of pointers are in
# .data.rel.ro, written once by the loader; a "d" among the flags is the symbol
# of the section itself.
for object; do
	case $object in
	model/* | sched/*) ;;
	*) continue ;;
	esac
	objdump -t "$object" | awk -v source="src/${object%.o}.c" '
		/ (\.data|\.bss|\.tdata|\.tbss|\*COM\*)/ && !/ \.data\.rel\.ro/ && !/ d[ fFO] / {
			print source ": writable global: " $NF
			bad = 1
		}
		END { exit bad }'
done
