#!/usr/bin/perl
# browser.pl BROWSER DIRECTORY URL EXPRESSION... - opens the page in a browser without a window, by
# the protocol of Chromium's tools over a pipe, and waits for one expression of JavaScript after the
# other to be true; prints each that is. Prints what the console of the page has to standard error.
# Exit status 1: an expression was not true within a minute.
use strict;
use warnings;
use Fcntl;
use JSON::PP;

my ($browser, $directory, $url, @expressions) = @ARGV;
pipe(my $from_us, my $to_browser) or die "pipe: $!";
pipe(my $from_browser, my $to_us) or die "pipe: $!";
my $pid = fork // die "fork: $!";
if ($pid == 0) {
	open STDERR, '>', '/dev/null';
	# its descriptors 3 and 4, which may be in use here
	my @fds = map { fcntl($_, F_DUPFD, 20) } $from_us, $to_us;
	require POSIX;
	POSIX::dup2($fds[0] + 0, 3);
	POSIX::dup2($fds[1] + 0, 4);
	exec $browser, qw(--headless --no-sandbox --disable-gpu --remote-debugging-pipe),
		"--user-data-dir=$directory", 'about:blank' or exit 127;
}
close $_ for $from_us, $to_us;
$to_browser->autoflush(1);
$SIG{PIPE} = 'IGNORE';
END {
	my $status = $?;
	if ($pid) {
		kill 'TERM', $pid;
		waitpid $pid, 0;
	}
	$? = $status;
}

my ($number, $session) = (0);
sub call {
	my ($method, %parameters) = @_;
	my %call = (id => ++$number, method => $method, params => \%parameters);
	$call{sessionId} = $session if $session;
	print $to_browser encode_json(\%call), "\0";
	local $/ = "\0";
	while (defined(my $line = <$from_browser>)) {
		chomp $line;
		my $said = decode_json($line);
		my $at = $said->{method} // '';
		print STDERR "$line\n" if $at =~ /^(Runtime\.(consoleAPI|exception)|Log\.entry)/;
		return $said->{result} if ($said->{id} // 0) == $number;
	}
	die "the browser has ended\n";
}
my $target = call('Target.createTarget', url => 'about:blank')->{targetId};
$session = call('Target.attachToTarget', targetId => $target, flatten => JSON::PP::true)
	->{sessionId};
call($_) for qw(Runtime.enable Log.enable Page.enable);
call('Page.navigate', url => $url);
$| = 1;
for my $expression (@expressions) {
	my $until = time + 60;
	until (call('Runtime.evaluate', expression => $expression)->{result}{value}) {
		die "not within a minute: $expression\n" if time > $until;
		select undef, undef, undef, 0.1;
	}
	print "$expression\n";
}
