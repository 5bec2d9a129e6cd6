#!/bin/sh
# generated.sh - goodput beside pollux on made-up workloads, in simulation.
#
# For each number of nodes (NODES: 8 12 16 32; 4 GPUs each, or NODESxGPUS, such as 64x1) and each
# seed (SEEDS: 0 1 2 3 4) of `pollux simulate --generate`: mean and 99th percentile of the
# completion times under goodput, over those under pollux with nothing known; goodput with nothing
# known, with lengths known, and with lengths known and models shared; and goodput with lengths
# known over goodput with nothing known. Printed are the least, the mean and the largest over the
# seeds. A few minutes. Nothing is judged by the exit status.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
pollux=${POLLUX:-$root/build/pollux}
made=$(mktemp -d "${TMPDIR:-/tmp}/pollux-generated.XXXXXX")
trap 'rm -rf "$made"' EXIT
trap 'exit 1' HUP INT TERM

gpus_of() { # gpus_of NODES: GPUs of a node
	case $1 in *x*) echo "${1#*x}" ;; *) echo 4 ;; esac
}
simulate() { # simulate SEED NODES POLICY KNOWLEDGE LENGTHS: mean and 99th percentile
	made_of=$made/$1-$(gpus_of "$2")
	"$pollux" simulate --profiles "$made_of/profiles" -w "$made_of/workloads" -n "${2%x*}" \
		-g "$(gpus_of "$2")" -p "$3" -k "$4" -l "$5" --json 2>/dev/null |
		perl -MJSON::PP -0777 -ne '
		my $d = JSON::PP->new->decode($_);
		printf "%.3f %.3f\n", $d->{avg_jct_s}, $d->{p99_jct_s}'
}
seed_of() { # seed_of SEED NODES: the four quotients of the means, then those of the percentiles
	gpus=$(gpus_of "$2")
	[ -d "$made/$1-$gpus" ] || "$pollux" simulate --generate "$made/$1-$gpus" --seed "$1" \
		--gpus-per-node "$gpus" >"$made/log"
	{
		simulate "$1" "$2" pollux none unknown
		simulate "$1" "$2" goodput none unknown
		simulate "$1" "$2" goodput none known
		simulate "$1" "$2" goodput shared known
	} | awk '{ mean[NR] = $1; p99[NR] = $2 }
		END {
			for (i = 2; i <= NR; i++) printf "%.4f ", mean[i] / mean[1]
			printf "%.4f ", mean[3] / mean[2]
			for (i = 2; i <= NR; i++) printf "%.4f ", p99[i] / p99[1]
			printf "%.4f\n", p99[3] / p99[2]
		}'
}

printf '%-6s %-5s %-20s  %-20s  %-20s  %-20s\n' nodes '' 'nothing known' 'lengths known' \
	'and models shared' 'lengths over nothing'
for nodes in ${NODES-8 12 16 32}; do
	for seed in ${SEEDS-0 1 2 3 4}; do
		seed_of "$seed" "$nodes"
	done | awk -v nodes="$nodes" '
		{
			for (i = 1; i <= NF; i++) {
				if (NR == 1 || $i < least[i]) least[i] = $i
				if (NR == 1 || $i > most[i]) most[i] = $i
				sum[i] += $i
			}
		}
		function line(name, of, first,    i) {
			printf "%-6s %-5s", name, of
			for (i = first; i < first + 4; i++)
				printf " %.3f %.3f %.3f  ", least[i], sum[i] / NR, most[i]
			print ""
		}
		END { line(nodes, "mean", 1); line("", "p99", 5) }'
done
