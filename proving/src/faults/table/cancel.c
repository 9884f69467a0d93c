// Cancels a thread in each wait, and prints how its process ended: 1 if it was cancelled there and cleaned up.
#define _GNU_SOURCE
#include <fcntl.h>
#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { COUNT = 21 };
static int how, times, cleaned, ends[2];
static sem_t none, waits;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;

static void wait_for(long ms) {
    struct timespec span = {ms / 1000, ms % 1000 * 1000000}, end, steady;
    struct timeval short_span = {ms / 1000, ms % 1000 * 1000};
    clock_gettime(CLOCK_REALTIME, &end);
    clock_gettime(CLOCK_MONOTONIC, &steady);
    end.tv_sec += ms / 1000 + 1;
    steady.tv_sec += ms / 1000 + 1;
    struct epoll_event event;
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    char byte;
    int got;
    switch (how) {
    case 0: nanosleep(&span, 0); break;
    case 1: clock_nanosleep(CLOCK_MONOTONIC, 0, &span, 0); break;
    case 2: poll(0, 0, ms); break;
    case 3: ppoll(0, 0, &span, 0); break;
    case 4: select(0, 0, 0, 0, &short_span); break;
    case 5: pselect(0, 0, 0, 0, &span, 0); break;
    case 6: epoll_wait(ends[0], &event, 1, ms); break;
    case 7: epoll_pwait(ends[0], &event, 1, ms, 0); break;
    case 8: sigtimedwait(&set, 0, &span); break;
    case 9: usleep(ms * 1000 % 1000000 + 900000 * (ms > 999)); break;
    case 10: recv(ends[1], &byte, 1, ms > 999 ? 0 : MSG_DONTWAIT); break;
    default: if (ms < 1000) nanosleep(&span, 0);
    }
    if (ms < 1000) return;
    switch (how) {
    case 9: for (;;) usleep(900000);
    case 11: sem_timedwait(&none, &end); break;
    case 12: pthread_cond_timedwait(&never, &mutex, &end); break;
    case 13: clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &steady, 0); break;
    case 14: sem_wait(&none); break;
    case 15: pthread_cond_wait(&never, &mutex); break;
    case 16: poll(0, 0, -1); break;
    case 17: pause(); break;
    case 18: {
        mqd_t queue = mq_open("/oversleep-cancel", O_RDWR | O_CREAT, 0600, &(struct mq_attr){.mq_maxmsg = 1, .mq_msgsize = 1});
        mq_unlink("/oversleep-cancel");
        mq_timedreceive(queue, &byte, 1, 0, &end);
        break;
    }
    case 19: sleep(ms / 1000); break;
    case 20: sigwait(&set, &got); break;
    }
}

static void cleans(void *unused) { cleaned = pthread_mutex_unlock(&mutex) == 0; }

static void *thread(void *unused) {
    pthread_mutex_lock(&mutex);
    pthread_cleanup_push(cleans, 0);
    for (int at = 0; at < times; at++) wait_for(1);
    sem_post(&waits);
    wait_for(40000);
    pthread_cleanup_pop(1);
    return 0;
}

static void spin(long us) {
    struct timespec from, now;
    clock_gettime(CLOCK_MONOTONIC, &from);
    do clock_gettime(CLOCK_MONOTONIC, &now);
    while ((now.tv_sec - from.tv_sec) * 1000000 + (now.tv_nsec - from.tv_nsec) / 1000 < us);
}

// How a process ended whose thread is cancelled, so long after it is about to wait.
static int cancels_after(long us) {
    int status;
    pid_t child = fork();
    if (child == 0) {
        pthread_t started;
        void *result = 0;
        alarm(20);
        pthread_create(&started, 0, thread, 0);
        while (sem_wait(&waits)) {}
        us < 1000 ? spin(us) : usleep(us);
        pthread_cancel(started);
        pthread_join(started, &result);
        _exit(result == PTHREAD_CANCELED && cleaned);
    }
    waitpid(child, &status, 0);
    return status;
}

int main(void) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    sigprocmask(SIG_BLOCK, &set, 0);
    sem_init(&none, 0, 0);
    sem_init(&waits, 0, 0);
    ends[0] = epoll_create1(0);
    int pair[2];
    socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
    ends[1] = pair[0];
    setsockopt(ends[1], SOL_SOCKET, SO_RCVTIMEO, &(struct timeval){30, 0}, sizeof(struct timeval));
    for (how = 0; how < COUNT; how++) {
        int begun = 0;
        for (times = 0; times <= 20; times += 20) printf("%d after %d: %x\n", how, times, cancels_after(20000));
        times = 0;
        for (long us = 0; us < 60; us += 3) begun += cancels_after(us) == 0x100;
        printf("%d as it begins: %d\n", how, begun);
    }
}
