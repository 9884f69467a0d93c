# Waits and clocks as a Perl program calls them. The protocol is in ../PROTOCOL.md.
use strict;
use warnings;
use Time::HiRes ();

# What the clock of all timestamps is called. Windows has no monotonic clock in Time::HiRes.
my $monotonic = eval { Time::HiRes::clock_gettime(Time::HiRes::CLOCK_MONOTONIC()); 1 };
my $clock = $monotonic ? 'CLOCK_MONOTONIC' : 'Time::HiRes::time';

sub now {
    return int(1e9 * Time::HiRes::clock_gettime(Time::HiRes::CLOCK_MONOTONIC())) if $monotonic;
    return int(1e9 * Time::HiRes::time());
}

sub micros { int($_[0] / 1000) }

# IO::Poll takes seconds and hands whole milliseconds to poll.
sub poll_of {
    require IO::Poll;
    require POSIX;
    my ($read, $write) = POSIX::pipe() or die "pipe: $!";
    open(my $end, '<&=', $read) or die "pipe: $!";
    my $poll = IO::Poll->new;
    $poll->mask($end => IO::Poll::POLLIN());
    return sub { $poll->poll($_[0] / 1e9) };
}

sub alarm_of {
    $SIG{ALRM} = sub { };
    require POSIX;
    # The signal may come before the program sleeps, so it is held back until then.
    my $alarm = POSIX::SigSet->new(POSIX::SIGALRM());
    my $before = POSIX::SigSet->new;
    POSIX::sigprocmask(POSIX::SIG_BLOCK(), $alarm, $before);
    return sub {
        Time::HiRes::ualarm(micros($_[0]));
        POSIX::sigsuspend($before);
    };
}

# A name, what the call is given for a request, and what makes the wait.
my @waits = (
    ['Time::HiRes::sleep', sub { $_[0] }, sub { sub { Time::HiRes::sleep($_[0] / 1e9) } }],
    ['Time::HiRes::usleep', \&micros_of, sub { sub { Time::HiRes::usleep(micros($_[0])) } }],
    ['Time::HiRes::nanosleep', sub { $_[0] }, sub { sub { Time::HiRes::nanosleep($_[0]) } }],
    ['select', \&micros_of, sub { sub { select(undef, undef, undef, $_[0] / 1e9) } }],
    ['IO::Poll::poll', sub { $_[0] }, \&poll_of],
    ['Time::HiRes::ualarm', \&micros_of, \&alarm_of],
);
my @clocks = (
    ['Time::HiRes::time', \&Time::HiRes::time],
    ['Time::HiRes::clock_gettime', sub { Time::HiRes::clock_gettime(Time::HiRes::CLOCK_MONOTONIC()) }],
    ['times', sub { my ($user, $system) = times; $user + $system }],
);
my %wait = map { $_->[0] => $_ } @waits;
my %made;
my %clock = map { $_->[0] => $_ } @clocks;

sub micros_of { micros($_[0]) * 1000 }

sub emit {
    my @fields;
    while (my ($name, $value) = splice(@_, 0, 2)) {
        my $text = ref $value ? '[' . join(',', @$value) . ']' : $value =~ /\A-?[0-9]+\z/ ? $value : quoted($value);
        push @fields, "\"$name\":$text";
    }
    print '{', join(',', @fields), "}\n";
}

sub quoted {
    my $text = shift;
    $text =~ s/[^ -~]|["\\]/?/g;
    return "\"$text\"";
}

sub cpu {
    my ($user, $system) = times;
    return int(1e9 * ($user + $system));
}

sub measure_wait {
    my ($op, $requested, $count) = @_;
    my $wait = $made{$op} //= $wait{$op}[2]->();
    my @t = (0) x $count;
    my @d = (0) x $count;
    my $cpu = cpu();
    for my $i (0 .. $count - 1) {
        my $start = now();
        $wait->($requested);
        my $end = now();
        ($t[$i], $d[$i]) = ($start, $end - $start);
    }
    $cpu = cpu() - $cpu;
    emit(type => 's', op => $op, requested => $requested, rounded => int($wait{$op}[1]->($requested)), n => $count,
        unit => 'ns', t => \@t, d => \@d, cpu => $cpu);
}

sub measure_clock {
    my ($op, $count) = @_;
    my ($read, $reads) = ($clock{$op}[1], 1000);
    my @d = (0) x $count;
    for my $i (0 .. $count - 1) {
        my $start = now();
        $read->() for 1 .. $reads;
        $d[$i] = now() - $start;
    }
    my (@step, $value);
    my ($last, $until) = ($read->(), now() + 40e6);
    while (@step < 16 && now() < $until) {
        $value = $read->();
        push @step, int(1e9 * ($value - $last) + 0.5) if $value > $last;
        $last = $value;
    }
    emit(type => 'c', op => $op, n => $count, reads => $reads, d => \@d, step => \@step);
}

sub step {
    my ($op, $requested, $count) = $_[0] =~ /\A(.+)@([0-9]+)@([0-9]+)\z/ or die "no step: $_[0]\n";
    if (!$wait{$op} && !$clock{$op}) {
        emit(type => 'skip', op => $op, why => 'Perl has no such call here');
    } elsif (!eval { $wait{$op} ? measure_wait($op, $requested, $count) : measure_clock($op, $count); 1 }) {
        emit(type => 'skip', op => $op, why => $@ =~ /\A(.*)/ ? $1 : 'unknown');
    }
}

$| = 1;
Time::HiRes::usleep(100) for 1 .. 20;
emit(type => 'hello', proto => 1, runtime => 'perl', version => sprintf('%vd', $^V), clock => $clock, pid => $$,
    now => now());
for my $token (@ARGV) {
    if ($token eq 'list') {
        emit(type => 'op', op => $_->[0], kind => 'wait') for @waits;
        emit(type => 'op', op => $_->[0], kind => 'clock') for @clocks;
    } else {
        step($token);
    }
}
emit(type => 'end', now => now());
