# A service in Perl: below a path, objects with links to an internal host, and errors in XML.
use strict;
use warnings;
use utf8;
use Digest::MD5 qw(md5_hex);
use Encode  qw(decode_utf8 encode_utf8);
use JSON::PP;
use IO::Socket::INET;

$SIG{PIPE} = 'IGNORE';
my $CHANGED = $ENV{CHANGED};
my $ACCOUNT = 'Söhne & Co';
my $JSON    = JSON::PP->new->utf8->canonical;
my $requests = 0;

sub items {
    my ($count, $prefix, $more) = @_;
    return [map { {id => "$prefix/$_", name => "$prefix $_ ☂", status => 'ENABLED', $more->($_)} } 1 .. $count];
}

# For each read: the size of a page, and the items.
my %READS = (
    'beta-ads/list-beta-campaigns' => [22, items(100, 'C', sub {
        (status => $_[0] % 2 ? 'ENABLED' : 'ENDED', budget_micros => $_[0] * 1_000_000, until => undef, flags => {x => JSON::PP::true})
    })],
    'gamma-ads/search-gamma-targeting' => [9, items(28, 'T', sub {
        (type => $_[0] % 2 ? 'town' : 'trade', bounds => [1.5, -$_[0]], ('note', 'ß') x ($_[0] % 2))
    })],
    'beta-ads/detect-beta-creative-fatigue' => [40, items(17, 'F', sub { (loss => "12.30", on => "2026-02-$_[0]") })],
    'gamma-ads/list-gamma-ads' => [40, items(66, 'A', sub {
        (spend => $_[0] * 2.25, nested => {a => {b => [{c => $_[0]}]}}, paid => JSON::PP::false)
    })],
    'alpha-ads/explain-alpha-objectives' => [40, items(5, 'O', sub { (why => "weil „$_[0]“", uses => []) })],
    'delta-ads/analyze-wasted-spend'     => [7, items(37, 'W', sub { (cost => {eur => $_[0]}, share => $_[0] / 37) })],
    'delta-ads/infer-business-profile'   => [40, items(9, 'P', sub { (answer => [undef, $_[0], 'x']->[$_[0] % 3]) })],
);
# For each write: the method, the field that changes, what it needs besides the account.
my %WRITES = (
    'alpha-ads/update-alpha-campaign-targeting' => ['POST', 'targeting',    'campaign_id'],
    'alpha-ads/update-alpha-campaign-budget'    => ['POST', 'daily_budget', 'campaign_id'],
    'beta-ads/create-beta-video-campaign'       => ['POST', 'fields',       'fields'],
    'alpha-ads/update-alpha-creative'           => ['POST', 'fields',       'account_id'],
    'gamma-ads/create-gamma-image-campaign'     => ['POST', 'fields',       'fields'],
    'delta-ads/update-keyword'                  => ['POST', 'keywords',     'keywords'],
    'gamma-ads/create-gamma-dco-ad'             => ['POST', 'fields',       'fields'],
    'beta-ads/pause-beta-campaign'              => ['POST', 'status',       'campaign_id'],
    'delta-ads/remove-delta-auto-search-themes' => ['DELETE', 'themes',     'account_id'],
);

sub unescape {
    my $text = shift;
    $text =~ tr/+/ /;
    $text =~ s/%([0-9A-Fa-f]{2})/chr hex $1/ge;
    return decode_utf8($text);
}

sub escape {
    my $text = encode_utf8(shift);
    $text =~ s/([^A-Za-z0-9._~-])/sprintf '%%%02X', ord $1/ge;
    return $text;
}

sub refuse {
    my ($status, $code) = @_;
    return ($status, 'application/xml', qq{<?xml version="1.0"?>\n<error status="$status"><code>$code</code></error>\n});
}

sub list {
    my ($path, %given) = @_;
    my ($size, $items) = @{$READS{$path}};
    my $wanted = $given{targeting} || {};
    $wanted = eval { $JSON->decode(encode_utf8($wanted)) } or return refuse(400, 'TargetingIsNoObject') if !ref $wanted;
    my $only = $given{campaign_id} // $given{creative_id};
    my @found = grep { !defined $only || $_->{id} eq $only } @$items;
    for my $name (keys %$wanted) {
        @found = grep { ($_->{$name} // '') eq $wanted->{$name} } @found;
    }
    my $start = 0;
    if (defined $given{after}) {
        $start++ until $start == @found || $found[$start]{id} eq $given{after};
        return refuse(400, 'NoSuchAfter') if $start++ == @found;
    }
    my ($last, $next) = ($start + $size - 1, '');
    if ($last < $#found) {
        my %again = (%given, account_id => $ACCOUNT, after => $found[$last]{id});
        $next = "/ads/api/v1/$path?" . join '&', map { "$_=" . escape($again{$_}) } grep { !ref $again{$_} } sort keys %again;
        $next = "http://ads-internal:8080$next" unless $CHANGED;
    }
    $last = $#found if $last > $#found;
    return (200, 'application/json', $JSON->encode({data => [@found[$start .. $last]], page => {next => $next && {href => $next}}}));
}

sub stage {
    my ($path, %body) = @_;
    my ($method, $field, $needed) = @{$WRITES{$path}};
    return refuse(400, "Missing-$needed") if !exists $body{$needed};
    my ($before, $after) = ($field eq 'daily_budget' ? 81.25 : undef, $body{$field});
    if ($field eq 'status') {
        my ($campaign) = grep { $_->{id} eq $body{campaign_id} } @{$READS{'beta-ads/list-beta-campaigns'}[1]};
        ($before, $after) = ($campaign && $campaign->{status}, 'PAUSED');
    }
    my %draft = (draft_id => 'draft_' . md5_hex($path . $JSON->encode(\%body)), status => 'pending_approval',
        diff => {field => $field, before => $before, after => $after}, requires => 'human_two_step_approve');
    return (201, 'application/json', $JSON->encode(\%draft));
}

sub respond {
    my ($method, $target, $headers, $body) = @_;
    return refuse(503, 'WarmingUp') if ++$requests == 1;
    return refuse(401, 'BadKey') if ($headers->{authorization} // '') ne 'ApiKey perl-key';
    my ($path, $query) = $target =~ m{^/ads/api/v1/([^?]+)\??(.*)} or return refuse(404, 'NoSuchPath');
    my $given = eval { $JSON->decode($body || '{}') };
    return refuse(400, 'BodyIsNoObject') if ref $given ne 'HASH';
    my $is_read = $method eq 'GET' && exists $READS{$path};
    return refuse(404, 'NoSuchOperation') unless $is_read || $method eq ($WRITES{$path} || [''])->[0];
    if ($is_read) {
        $given->{unescape($1)} = unescape($2) while $query =~ /([^&=]+)=([^&]*)/g;
    }
    return refuse(400, 'AccountMissing') if !defined $given->{account_id};
    return refuse(400, 'AccountUnknown') if $given->{account_id} ne $ACCOUNT;
    return $is_read ? list($path, %$given) : stage($path, %$given);
}

my $server = IO::Socket::INET->new(LocalAddr => '127.0.0.1', LocalPort => $ENV{PORT}, Listen => 64, ReuseAddr => 1) or die $!;
while (my $client = $server->accept) {
    my ($method, $target) = split ' ', <$client> // next;
    my %headers;
    while (defined(my $line = <$client>)) {
        last unless $line =~ /^([^:]+):\s*(.*?)\r?\n/;
        $headers{lc $1} = $2;
    }
    read $client, my $body = '', $headers{'content-length'} || 0;
    my ($status, $type, $text) = respond($method, $target, \%headers, $body);
    my $length = length $text;
    print $client "HTTP/1.0 $status -\r\nContent-Type: $type\r\nContent-Length: $length\r\nX-Ads-Request: $requests\r\n\r\n$text";
    close $client;
}
