# Runs the test of Perl's Net::FTP that needs a server (testdata/perl-libnet, as in its repository)
# with the installed Net::FTP and a test server of this project.

use strict;
use warnings;
use HTTP::Tiny;
use IPC::Open2;
use JSON::PP;

# What the numbers of the test stand for.
my @names = qw(connect login pwd stor retr delete quit);

# The program ends with its standard input, which is closed when this one ends.
open2(my $out, my $in, $ENV{FETCH1738}, qw(serve --control 127.0.0.1:0 --until-eof));
my $start = decode_json(scalar <$out>);
my $answer = HTTP::Tiny->new(default_headers => { Authorization => "Bearer $start->{token}" })->post(
    "$start->{control}/v1/servers",
    { headers => { 'Content-Type' => 'application/json' }, content => '{"protocol":"ftp","files":{"pub/a.txt":"a"}}' });
$answer->{success} or die $answer->{content};
my $server = decode_json($answer->{content});

my $settings = "\$NetConfig{ftp_testhost} = '$server->{host}:$server->{port}'; \$NetConfig{test_hosts} = 1; do shift";
open(my $test, '-|', $^X, '-MNet::Config', '-e', $settings, $ARGV[0]) or die $!;
my $said = join '', <$test>;
for my $n (1 .. @names) {
    # After a line with "#" the test goes on with ok.
    print $said =~ /^ok $n$/m && $said !~ /^#/m ? 'ok' : 'FAIL', " $names[$n - 1]\n";
}
print $said if $said =~ /^(not|#)/m;
