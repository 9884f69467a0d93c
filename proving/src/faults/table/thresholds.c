/* As many threads, waits at a place and sockets with timeouts as are given; the counts say that each did what it does. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int waits;
static long done;
static void *runs(void *unused) {
    const struct timespec span = { 0, 1000000 };
    for (int i = 0; i < waits; i++)
        if (!nanosleep(&span, 0)) __atomic_fetch_add(&done, 1, __ATOMIC_SEQ_CST);
    return 0;
}
static int ends(int sockets) {
    int ended = 0;
    for (int i = 0; i < sockets; i++) {
        int pair[2];
        char byte;
        struct timeval span = { 0, 2000 };
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) || setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &span, sizeof span)) break;
        ended += recv(pair[0], &byte, 1, 0) == -1 && errno == EAGAIN;
    }
    return ended;
}
int main(int count, char **typed) {
    int threads = atoi(typed[1]), sockets = atoi(typed[3]);
    pthread_t all[512];
    waits = atoi(typed[2]);
    for (int i = 0; i < threads; i++) pthread_create(&all[i], 0, runs, 0);
    for (int i = 0; i < threads; i++) pthread_join(all[i], 0);
    printf("%ld waits, %d timeouts", done, ends(sockets));
    fflush(stdout);
    if (!fork()) { printf(", %d of a child\n", ends(sockets)); return 0; }
    int status;
    wait(&status);
    return status ? 9 : 0;
}
