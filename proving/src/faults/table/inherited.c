/* Writes what it was started with to the first argument, and ends with the second as its exit code. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int count, char **words) {
    FILE *to;
    char path[64], place[4096];
    sigset_t blocked;
    struct sigaction action;
    struct rlimit limit;
    cpu_set_t cpus;
    int number, own;

    /* Above all that may be open, so that a closed stream stays closed. */
    number = open(words[1], O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    own = fcntl(number, F_DUPFD_CLOEXEC, 20);
    close(number);
    if (own < 0 || !(to = fdopen(own, "w"))) return 8;
    for (number = 0; number < 20; number++) {
        snprintf(path, sizeof path, "/proc/self/fd/%d", number);
        ssize_t length = readlink(path, place, sizeof place - 1);
        if (length >= 0) fprintf(to, "open %d %.*s %x\n", number, (int)length, place, fcntl(number, F_GETFL));
    }
    sigprocmask(SIG_BLOCK, NULL, &blocked);
    for (number = 1; number <= 64; number++) {
        if (sigaction(number, NULL, &action) != 0) continue;
        fprintf(to, "%d %s %s\n", number, action.sa_handler == SIG_IGN ? "ignored" : "heeded",
                sigismember(&blocked, number) ? "blocked" : "taken");
    }
    for (number = 0; number < RLIM_NLIMITS; number++) {
        /* `run --lock-memory` lifts it where it may. */
        if (number == RLIMIT_MEMLOCK) continue;
        getrlimit(number, &limit);
        fprintf(to, "limit %d %lld %lld\n", number, (long long)limit.rlim_cur, (long long)limit.rlim_max);
    }
    mode_t mask = umask(0);
    fprintf(to, "mask %o in %s leads %d %d nice %d policy %d\n", mask, getcwd(place, sizeof place), getpid() == getpgrp(),
            getpid() == getsid(0), getpriority(PRIO_PROCESS, 0), sched_getscheduler(0));
    sched_getaffinity(0, sizeof cpus, &cpus);
    fprintf(to, "cpus %d privileges %d dumpable %d keeps %d reaps %d\n", CPU_COUNT(&cpus), prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0),
            prctl(PR_GET_DUMPABLE), prctl(PR_GET_KEEPCAPS), waitpid(-1, NULL, WNOHANG));
    for (number = 0; number < 41; number++) fprintf(to, "%d", prctl(PR_CAPBSET_READ, number, 0, 0, 0));
    fprintf(to, "\n");
    fclose(to);
    return atoi(words[2]);
}
