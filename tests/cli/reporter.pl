#!/usr/bin/perl
# reporter.pl [--every SECONDS] [--steps STEPS] STEP_NS [SAMPLES] - a program of a known speed,
# whatever the machine does: it reports steps of STEP_NS and SAMPLES until STEPS of them are done,
# or until SIGTERM, and then exits with 75. `pollux report` says the same, but each of its reports
# costs a process.
use strict;
use warnings;
use Socket;
use Time::HiRes 'sleep';

my %option = ('--every' => 0.01, '--steps' => 1e9);
while (@ARGV && exists $option{$ARGV[0]}) {
	my ($name, $value) = splice @ARGV, 0, 2;
	$option{$name} = $value;
}
my ($step_ns, $samples) = @ARGV;
$SIG{TERM} = sub { exit 75 } if ($SIG{TERM} // '') ne 'IGNORE';
socket(my $socket, AF_UNIX, SOCK_DGRAM, 0) or die "reporter: socket: $!\n";
my $to = sockaddr_un($ENV{POLLUX_REPORT_SOCKET} // die "reporter: not in a job\n");
for my $step (1 .. $option{'--steps'}) {
	my $report = "STEP=$step\nSTEP_NS=$step_ns\nSYNC_NS=0\n";
	$report .= 'SAMPLES=' . $step * $samples . "\n" if defined $samples;
	send($socket, $report, 0, $to);	# nobody receives it where the supervisor was killed
	sleep $option{'--every'};
}
