# A client with Net::FTP of Perl: TASK URL TARGET [CA]. With CA, an ftp URL demands AUTH TLS.
use strict;
use warnings;
use Net::FTP;

my ($task, $url, $target, $ca) = @ARGV;
my ($scheme, $user, $password, $host, $port, $path) =
    $url =~ m{^(ftps?)://(?:([^:@/]*):([^@/]*)@)?([^:/]+):(\d+)/(.*)$} or die "$url: not a URL\n";
s/%([0-9A-Fa-f]{2})/chr hex $1/ge for grep { defined } $user, $password, $path;

my @tls = $scheme eq 'ftps' ? (SSL => 1) : ();
push @tls, SSL_ca_file => $ca if defined $ca;
# At the end of an upload it closes without having read the session tickets of TLS 1.3, so that the
# kernel resets the connection and data is lost.
push @tls, SSL_version => 'TLSv1_2' if $task eq 'upload';
my $ftp = Net::FTP->new($host, Port => $port, Timeout => 5, @tls) or die "Net::FTP: $@\n";
sub check { $_[0] or die 'Net::FTP: ' . $ftp->message . "\n" }

check($ftp->starttls) if defined $ca && $scheme eq 'ftp';
check($ftp->login(defined $user ? ($user, $password) : ('anonymous', 'anonymous@')));
check($ftp->binary);
if ($task eq 'download') {
    check($ftp->get($path, $target));
} elsif ($task eq 'resume') {
    check($ftp->get($path, $target, -s $target));
} elsif ($task eq 'upload') {
    check($ftp->put($target, $path));
} elsif ($task eq 'list') {
    check($ftp->cwd($path)) if $path ne '';
    my @names = $ftp->ls;
    check($ftp->ok); # an empty list is also returned for an error
    print "$_\n" for @names;
}
$ftp->quit;
