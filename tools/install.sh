#!/bin/sh
# install.sh install|uninstall PREFIX BUILD - put the program, the library, its
# header, the manuals, the shell completions and share/pollux under PREFIX, or remove them. On a
# terminal install says where things went, and what a shell still has to be told.
set -eu
verb=$1 prefix=$2 build=$3

put() { # put MODE FILE DIRECTORY [NAME]
	to=$prefix/$3/${4-${2##*/}}
	if [ "$verb" = install ]; then
		install -D -m "$1" "$2" "$to"
	else
		rm -f "$to"
	fi
}

put 755 "$build/pollux" bin
put 644 "$build/libpollux.a" lib
put 644 include/pollux/client.h include/pollux
for page in man/*.[0-9]; do
	[ ! -e "$page" ] || put 644 "$page" "share/man/man${page##*.}"
done
for file in completions/*; do
	case $file in
	*.bash) put 644 "$file" share/bash-completion/completions pollux ;;
	*.fish) put 644 "$file" share/fish/vendor_completions.d ;;
	*/_*) put 644 "$file" share/zsh/site-functions ;;
	esac
done
find share/pollux -type f ! -name '*.pyc' | while read -r file; do
	put 644 "$file" "${file%/*}"
done
[ "$verb" = install ] || find "$prefix/share/pollux" -depth -type d -exec rmdir {} + 2>/dev/null ||
	true
[ "$verb" = install ] || rmdir "$prefix/include/pollux" 2>/dev/null || true

# --- what the person who installs has to know
[ "$verb" = install ] && [ -t 1 ] || exit 0
echo "installed: $prefix/bin/pollux, manuals in $prefix/share/man (man pollux),"
echo "           completions for bash, zsh and fish, $prefix/share/pollux"
case :$PATH: in
*:"$prefix/bin":*) ;;
*) echo "add to PATH, in ~/.profile:  PATH=$prefix/bin:\$PATH" ;;
esac
case $prefix in
/usr | /usr/local) ;;
*)
	echo "bash completes with, in ~/.bashrc:" \
		" . $prefix/share/bash-completion/completions/pollux"
	echo "zsh completes with, in ~/.zshrc before compinit:" \
		" fpath=($prefix/share/zsh/site-functions \$fpath)"
	;;
esac
echo 'next: pollux cron --install, once, so that a pass comes each minute'
