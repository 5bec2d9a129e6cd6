#!/bin/sh
# check-lines.sh - no line of the sources is longer than 100 columns, with tabs of 8.
# Lines with characters of pictures (block elements, box drawing) are expected output, and may be.
# shellcheck disable=SC2016 # a program for Perl
cd "$(dirname "$0")/.." || exit 1
git ls-files | grep -E '\.(c|h|t|sh|py|pl)$|(^|/)Makefile$|^\.ci/run$|/(slurm_)?month$' |
	grep -v "^tests/reference/logs/programs/" |
	xargs perl -CSD -ne '
		BEGIN { $long = 0 }
		chomp;
		1 while s/\t/" " x (8 - $-[0] % 8)/e;
		if (length > 100 && !/[\x{2500}-\x{259f}]/) {
			print "$ARGV:$.: ", length, " columns\n";
			$long = 1;
		}
		close ARGV if eof;
		END { exit $long }'
