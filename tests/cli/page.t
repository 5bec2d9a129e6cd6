#!/bin/sh
# page.t - the page of a store with real jobs: what it shows, and that texts of others stay texts.
# shellcheck disable=SC2016,SC2317  # texts for other programs; cleanup is called by the trap
. "$(dirname "$0")/tap.sh"
POLLUX_SLOTS=1 POLLUX_POLICY=fifo
export POLLUX_SLOTS POLLUX_POLICY
cleanup() { end_jobs; }

status 'page needs a store' 66 "$POLLUX" page
cat >reports <<'END'
n=0
for loss in 0.9 0.7 0.5 0.4; do
	"$POLLUX" report SAMPLES=$((n += 100)) STEP_NS=2000000 LOSS=$loss
	sleep "$1"
done
"$POLLUX" report 'STATUS=<img src=x onerror=alert(2)>'
[ "$1" = 0 ] || touch reported
while [ "$1" != 0 ] && [ ! -e end ]; do sleep 0.1; done
END
"$POLLUX" submit -q -b 10 --samples 300 --param lr=0.1,0.2 -- sh reports 0 '{lr}' >/dev/null
"$POLLUX" submit -q -b 10 --name '</title><script>alert("1")</script> & Co' -- \
	sh reports 2.1 >/dev/null
esc=$(printf '\033')
"$POLLUX" submit -q --name "red${esc}[31m" -- true >/dev/null
"$POLLUX" schedule
wait_for 60 [ -e reported ]
wait_for 20 sh -c '[ "$(sqlite3 -cmd ".timeout 120000" "$POLLUX_DIR/pollux.db" \
	"SELECT count(*) FROM curve_points WHERE job_id = 3 AND name = '\''loss'\''")" -ge 2 ]'
was_suspended 1 cpu:7
status 'page writes a file' 0 "$POLLUX" page -o page.html
page=$(cat page.html)
has() { # has NAME TEXT
	case $page in *"$2"*) ok "$1" true ;; *) ok "$1" false ;; esac
}
lacks() {
	case $page in *"$2"*) ok "$1" false ;; *) ok "$1" true ;; esac
}
has 'a hostile name is shown as text' \
	'&lt;/title&gt;&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; &amp; Co'
lacks 'the page has no script' '<script'
lacks 'a tag in what a program reports is not a tag of the page' '<img'
has 'control characters are replaced' "red$(printf '\357\277\275')[31m"
lacks 'the page has no escape character' "$esc"
lacks 'the page loads nothing over http' 'http://'
lacks 'the page loads nothing over https' 'https://'
has 'the page says why a job waits' '1st in line'
has 'the timeline names the device' '>cpu:0<'
has 'the timeline has a bar for a run that ended' ': run 1, completed, '
has 'the timeline has a bar for the present run' ': run 1, not ended, '
has 'a bar has the name of its job' '>3 &lt;/title&gt;'
like 'a run that was suspended is drawn on the devices that it had then' \
	'>cpu:7</text>.*job 1, .*: run 1' "$(sed -n '/>cpu:7</,$p' page.html | tr '\n' ' ')"
like 'an ended job has its last batch and its samples' \
	'<td class="n">10</td><td class="n">400</td>' \
	"$(sed -n '/id="ended"/,$p' page.html)"
has 'a job beyond its declared end is over' '<td class="n">over</td>'
has 'the page draws the loss as a curve' 'aria-label="loss"'
lacks 'values that are all the same have no range around them' '>0.44</text>'
has 'the page has the parameters of a group' 'lr=0.2'
has 'a link leads to the running job' 'href="#job-3"'
has 'the running job has the place of the link' 'id="job-3"'
is 'each link within the page has its place' '' "$(grep -o 'href="#[^"]*"' page.html | sort -u |
	sed 's/href="#\(.*\)"/\1/' | while read -r id; do
		grep -q "id=\"$id\"" page.html || echo "$id"
	done)"
is 'the page is well-formed, but for elements that HTML does not close' '' "$(sed \
	's/<!DOCTYPE html>//; s/<\(meta\|link\)\([^>]*\)>/<\1\2\/>/g' page.html |
	python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.stdin.buffer)' 2>&1)"
unlike 'the page says how a job ended without repeating when' \
	'<td class="why">at [0-9]' "$(cat page.html)"
status 'page writes onto standard output' 0 "$POLLUX" page --since 1h
page=$out
has 'the page on standard output begins as a document' '<!DOCTYPE html>'
has 'the page on standard output is complete' '</html>'
status 'page refuses a file that it cannot create' 73 "$POLLUX" page -o nowhere/page.html
status '--watch needs a file' 64 "$POLLUX" page --watch 5
mkdir pages
"$POLLUX" page -o pages/page.html --watch 1 2>watch.err &
watch=$!
wait_for 20 [ -s pages/page.html ]
inode=$(stat -c %i pages/page.html)
ok '--watch writes the page again and again' \
	wait_for 20 sh -c "[ \"\$(stat -c %i pages/page.html)\" != $inode ]"
mv pages away
ok '--watch tells that the page cannot be written' \
	wait_for 20 grep -q "; '--watch' goes on$" watch.err
sleep 2			# more tries, of which nothing is told
rm away/page.html
mv away pages
ok '--watch goes on after a page that could not be written' wait_for 20 [ -s pages/page.html ]
is '--watch tells only once that the page cannot be written' 1 "$(wc -l <watch.err | xargs)"
kill -TERM $watch
wait $watch
is '--watch ends with SIGTERM, without an error' 0 $?
ok 'a browser loads the page as often as --watch writes it' \
	grep -q 'http-equiv="refresh" content="1"' pages/page.html
touch end
"$POLLUX" wait --timeout 200 3 >/dev/null 2>&1

# The points of a long curve are bounded, and cover its whole time.
long=$("$POLLUX" submit -q --workload long -- sh -c '"$POLLUX" report METRIC.long=7')
past_curve "$long" long 119
"$POLLUX" schedule
"$POLLUX" wait --timeout 200 5 >/dev/null 2>&1
is 'a full curve loses every second point; its first and last stay' '61|1.0|7.0' "$(store "SELECT
	count(*), min(value), (SELECT value FROM curve_points WHERE name = 'long'
	ORDER BY time_s DESC LIMIT 1) FROM curve_points WHERE name = 'long'")"
# The first job ran six days ago: marks of the time axis are days.
given_run 1 launch_time_s-=518400 end_time_s-=518400
"$POLLUX" page --since 7d | sed -n '/class="timeline"/,/<\/svg>/p' |
	sed -n 's/.*class="axis"[^>]*>\([^<]*\).*/\1/p' >marks
ok 'the time axis has marks' test -s marks
is "each mark of a week's time axis is a date" '' "$(grep -v '^[0-9][0-9]-[0-9][0-9]$' marks)"
finish
