#define _GNU_SOURCE
#include "test_resolver.h"

#if defined(__linux__)

#include <dlfcn.h>
#include <netdb.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

typedef int (*resolver)(const char *, const char *, const struct addrinfo *, struct addrinfo **);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;

/// A lookup that hangs, which lasts as long as the process.
struct hanging {
    char name[256];
    struct hanging *next;
};
static struct hanging *list;

static bool ends_with(const char *name, const char *ending) {
    const size_t length = strlen(name), count = strlen(ending);
    return length >= count && strcasecmp(name + length - count, ending) == 0;
}

_Noreturn static void hang(const char *name) {
    struct hanging entry = {{0}, NULL};
    strncpy(entry.name, name, sizeof entry.name - 1);
    pthread_mutex_lock(&lock);
    entry.next = list;
    list = &entry;
    pthread_cond_broadcast(&changed);
    for (;;) pthread_cond_wait(&never, &lock);
}

static bool hangs(const char *name) {
    for (struct hanging *entry = list; entry != NULL; entry = entry->next) {
        if (strcasecmp(entry->name, name) == 0) return true;
    }
    return false;
}

void test_resolver_wait(const char *name) {
    pthread_mutex_lock(&lock);
    while (!hangs(name)) pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
}

int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints, struct addrinfo **result) {
    resolver next = (resolver)dlsym(RTLD_NEXT, "getaddrinfo");
    if (next == NULL) return EAI_SYSTEM;
    if (node == NULL || !ends_with(node, ".invalid")) return next(node, service, hints, result);
    if (ends_with(node, ".hanging.invalid")) hang(node);
    if (ends_with(node, ".loopback.invalid")) return next("127.0.0.1", service, hints, result);
    return EAI_NONAME;
}

#else

void test_resolver_wait(const char *name) { (void)name; }

#endif
