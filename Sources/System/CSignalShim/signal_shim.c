#define _GNU_SOURCE
#include "signal_shim.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

enum { count = 65 };
static struct sigaction before[count];
static volatile sig_atomic_t watched[count];
static int pipe_ends[2] = {-1, -1};

static int known(int number) { return number > 0 && number < count; }

// Async-signal-safe (POSIX, signal-safety): write, a table that is complete before the handler is installed, errno kept.
static void handle(int number, siginfo_t *info, void *context) {
    int saved = errno;
    unsigned char note = (unsigned char)number;
    // A pipe that is full holds the same news already.
    ssize_t written = write(pipe_ends[1], &note, 1);
    (void)written;
    if (known(number) && watched[number]) {
        const struct sigaction *next = &before[number];
        if (next->sa_flags & SA_SIGINFO) {
            if (next->sa_sigaction) next->sa_sigaction(number, info, context);
        } else if (next->sa_handler != SIG_DFL && next->sa_handler != SIG_IGN) {
            next->sa_handler(number);
        }
    }
    errno = saved;
}

int signal_shim_open(void) {
    if (pipe_ends[0] >= 0) return pipe_ends[0];
    int ends[2];
#ifdef __linux__
    if (pipe2(ends, O_CLOEXEC) != 0) return -1;
#else
    if (pipe(ends) != 0) return -1;
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
#endif
    fcntl(ends[1], F_SETFL, fcntl(ends[1], F_GETFL) | O_NONBLOCK);
    pipe_ends[1] = ends[1];
    pipe_ends[0] = ends[0];
    return ends[0];
}

static int watch(int number, int is_repeatable) {
    if (!known(number) || pipe_ends[1] < 0) {
        errno = EINVAL;
        return -1;
    }
    if (watched[number]) return 0;
    if (sigaction(number, NULL, &before[number]) != 0) return -1;
    int is_plain = !(before[number].sa_flags & SA_SIGINFO);
    // Whoever started us wants that ignored, as nohup does.
    if (is_plain && before[number].sa_handler == SIG_IGN) return 1;
    struct sigaction ours;
    memset(&ours, 0, sizeof ours);
    ours.sa_sigaction = handle;
    // The flags of the handler behind us hold for it still; its mask, too.
    ours.sa_flags = SA_SIGINFO | SA_RESTART | (before[number].sa_flags & SA_ONSTACK);
    ours.sa_mask = before[number].sa_mask;
    // Asked a second time to end, while we still flush, the process ends at once.
    int ends = !is_repeatable && (number == SIGTERM || number == SIGINT || number == SIGHUP);
    if (ends && is_plain && before[number].sa_handler == SIG_DFL) ours.sa_flags |= SA_RESETHAND;
    watched[number] = 1;
    if (sigaction(number, &ours, NULL) == 0) return 0;
    watched[number] = 0;
    return -1;
}

int signal_shim_watch(int number) { return watch(number, 0); }

int signal_shim_watch_repeatedly(int number) { return watch(number, 1); }

void signal_shim_unwatch(int number) {
    if (!known(number) || !watched[number]) return;
    struct sigaction now;
    if (sigaction(number, NULL, &now) == 0 && (now.sa_flags & SA_SIGINFO) && now.sa_sigaction == handle) {
        sigaction(number, &before[number], NULL);
        watched[number] = 0;
    }
    // Else somebody's handler may call ours: what it calls next stays known.
}

int signal_shim_had_default(int number) {
    return known(number) && watched[number] && !(before[number].sa_flags & SA_SIGINFO)
        && before[number].sa_handler == SIG_DFL;
}
