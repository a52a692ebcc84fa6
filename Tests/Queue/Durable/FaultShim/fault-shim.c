// Makes one system call of a process fail or wait, if it concerns a file below a directory. Loaded by LD_PRELOAD.
//
//   FAULT_DIRECTORY   only files whose path begins like this count
//   FAULT_STAGING     files whose path begins like this count, too
//   FAULT_COUNTS      a file of 4096 bytes: a word for each kind of call, then how many faults were injected
//   FAULT_CALL        the kind of call, see `kinds`
//   FAULT_AT          the first call that fails, from 1
//   FAULT_TIMES       how many calls in a row fail; 1 if it is not given
//   FAULT_ERROR       the number of the error; 0 only waits; -1 reads or writes only half of the bytes
//   FAULT_DELAY       microseconds to wait before the call
//   FAULT_SUFFIX      only files whose path ends like this are delayed or fail; all are counted
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *kinds[] = {"open",   "map",  "allocate", "sync", "rename", "unlink", "write", "read",
                              "truncate", "stat", "lock",     "mkdir", "list",  "close",  "mode"};
enum kind {
    Open, Map, Allocate, Sync, Rename, Unlink, Write, Read, Truncate, Stat, Lock, Mkdir, List, Close, Mode, kind_count
};

static const char *directory, *staging, *suffix;
static int chosen = -1;
static long first, times = 1, error_number, delay;
static uint64_t no_counts[512];
static uint64_t *counts = no_counts;

static long number(const char *name, long otherwise) {
    const char *text = getenv(name);
    return text ? atol(text) : otherwise;
}

__attribute__((constructor)) static void set_up(void) {
    suffix = getenv("FAULT_SUFFIX");
    staging = getenv("FAULT_STAGING");
    first = number("FAULT_AT", 0);
    times = number("FAULT_TIMES", 1);
    error_number = number("FAULT_ERROR", 0);
    delay = number("FAULT_DELAY", 0);
    const char *call = getenv("FAULT_CALL");
    for (int kind = 0; call && kind < kind_count; kind++)
        if (strcmp(call, kinds[kind]) == 0) chosen = kind;
    const char *file = getenv("FAULT_COUNTS");
    if (file) {
        int (*real)(const char *, int, ...) = dlsym(RTLD_NEXT, "open");
        void *(*map)(void *, size_t, int, int, int, off_t) = dlsym(RTLD_NEXT, "mmap");
        int descriptor = real(file, O_RDWR | O_CLOEXEC);
        void *base = descriptor < 0 ? MAP_FAILED : map(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
        if (base != MAP_FAILED) counts = base;
    }
    // Last: until here nothing counts.
    directory = getenv("FAULT_DIRECTORY");
}

static int begins(const char *path, const char *prefix) {
    return prefix && strncmp(path, prefix, strlen(prefix)) == 0;
}

// The error to fail with; 0 if the call is to be made.
static int fault(enum kind kind, const char *path) {
    if (!directory || !path || (!begins(path, directory) && !begins(path, staging))) return 0;
    long call = (long)__atomic_add_fetch(&counts[kind], 1, __ATOMIC_RELAXED);
    if ((int)kind != chosen || call < first || call - first >= times) return 0;
    if (suffix) {
        size_t length = strlen(path), end = strlen(suffix);
        if (length < end || strcmp(path + length - end, suffix) != 0) return 0;
    }
    __atomic_add_fetch(&counts[kind_count], 1, __ATOMIC_RELAXED);
    if (delay) usleep((useconds_t)delay);
    return (int)error_number;
}

static int fault_of(enum kind kind, int descriptor) {
    if (!directory || descriptor < 0) return 0;
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    int saved = errno;
    ssize_t length = readlink(link, path, sizeof path - 1);
    errno = saved;
    if (length <= 0) return 0;
    path[length] = 0;
    return fault(kind, path);
}

#define REAL(name) \
    static __typeof__(name) *real; \
    if (!real) real = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

#define FAIL(kind, path, result) \
    do { \
        int number = fault(kind, path); \
        if (number) { errno = number; return result; } \
    } while (0)

#define FAIL_OF(kind, descriptor, result) \
    do { \
        int number = fault_of(kind, descriptor); \
        if (number) { errno = number; return result; } \
    } while (0)

// Fails, or halves `count`, at least one byte.
#define FAIL_OR_HALVE(kind) \
    do { \
        int number = fault_of(kind, descriptor); \
        if (number > 0) { errno = number; return -1; } \
        if (number < 0 && count > 1) count /= 2; \
    } while (0)

#define OPEN(name) \
    int name(const char *path, int flags, ...) { \
        REAL(name); \
        va_list list; \
        va_start(list, flags); \
        mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(list, mode_t) : 0; \
        va_end(list); \
        FAIL(Open, path, -1); \
        return real(path, flags, mode); \
    }
OPEN(open)
OPEN(open64)

#define OPENAT(name) \
    int name(int at, const char *path, int flags, ...) { \
        REAL(name); \
        va_list list; \
        va_start(list, flags); \
        mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(list, mode_t) : 0; \
        va_end(list); \
        FAIL(Open, path, -1); \
        if (path[0] != '/') FAIL_OF(Open, at, -1); \
        return real(at, path, flags, mode); \
    }
OPENAT(openat)
OPENAT(openat64)

void *mmap(void *address, size_t length, int protection, int flags, int descriptor, off_t offset) {
    REAL(mmap);
    FAIL_OF(Map, descriptor, MAP_FAILED);
    return real(address, length, protection, flags, descriptor, offset);
}
void *mmap64(void *address, size_t length, int protection, int flags, int descriptor, off64_t offset) {
    REAL(mmap64);
    FAIL_OF(Map, descriptor, MAP_FAILED);
    return real(address, length, protection, flags, descriptor, offset);
}

int posix_fallocate(int descriptor, off_t offset, off_t length) {
    REAL(posix_fallocate);
    int number = fault_of(Allocate, descriptor);
    return number ? number : real(descriptor, offset, length);
}
int posix_fallocate64(int descriptor, off64_t offset, off64_t length) {
    REAL(posix_fallocate64);
    int number = fault_of(Allocate, descriptor);
    return number ? number : real(descriptor, offset, length);
}
int fallocate(int descriptor, int mode, off_t offset, off_t length) {
    REAL(fallocate);
    FAIL_OF(Allocate, descriptor, -1);
    return real(descriptor, mode, offset, length);
}

int msync(void *address, size_t length, int flags) {
    REAL(msync);
    // Memory has no path here: every call counts.
    FAIL(Sync, directory, -1);
    return real(address, length, flags);
}
int fsync(int descriptor) { REAL(fsync); FAIL_OF(Sync, descriptor, -1); return real(descriptor); }
int fdatasync(int descriptor) { REAL(fdatasync); FAIL_OF(Sync, descriptor, -1); return real(descriptor); }
int syncfs(int descriptor) { REAL(syncfs); FAIL_OF(Sync, descriptor, -1); return real(descriptor); }

int rename(const char *from, const char *to) { REAL(rename); FAIL(Rename, from, -1); return real(from, to); }
int link(const char *from, const char *to) { REAL(link); FAIL(Rename, from, -1); return real(from, to); }
int unlink(const char *path) { REAL(unlink); FAIL(Unlink, path, -1); return real(path); }
int rmdir(const char *path) { REAL(rmdir); FAIL(Unlink, path, -1); return real(path); }
int mkdir(const char *path, mode_t mode) { REAL(mkdir); FAIL(Mkdir, path, -1); return real(path, mode); }

int renameat(int at, const char *from, int to_at, const char *to) {
    REAL(renameat);
    if (from[0] == '/') FAIL(Rename, from, -1); else FAIL_OF(Rename, at, -1);
    return real(at, from, to_at, to);
}
int unlinkat(int at, const char *path, int flags) {
    REAL(unlinkat);
    if (path[0] == '/') FAIL(Unlink, path, -1); else FAIL_OF(Unlink, at, -1);
    return real(at, path, flags);
}

ssize_t write(int descriptor, const void *bytes, size_t count) {
    REAL(write);
    FAIL_OR_HALVE(Write);
    return real(descriptor, bytes, count);
}
ssize_t pwrite(int descriptor, const void *bytes, size_t count, off_t offset) {
    REAL(pwrite);
    FAIL_OR_HALVE(Write);
    return real(descriptor, bytes, count, offset);
}
ssize_t pwrite64(int descriptor, const void *bytes, size_t count, off64_t offset) {
    REAL(pwrite64);
    FAIL_OR_HALVE(Write);
    return real(descriptor, bytes, count, offset);
}
ssize_t read(int descriptor, void *bytes, size_t count) {
    REAL(read);
    FAIL_OR_HALVE(Read);
    return real(descriptor, bytes, count);
}
ssize_t pread(int descriptor, void *bytes, size_t count, off_t offset) {
    REAL(pread);
    FAIL_OR_HALVE(Read);
    return real(descriptor, bytes, count, offset);
}
ssize_t pread64(int descriptor, void *bytes, size_t count, off64_t offset) {
    REAL(pread64);
    FAIL_OR_HALVE(Read);
    return real(descriptor, bytes, count, offset);
}

int ftruncate(int descriptor, off_t size) { REAL(ftruncate); FAIL_OF(Truncate, descriptor, -1); return real(descriptor, size); }
int ftruncate64(int descriptor, off64_t size) { REAL(ftruncate64); FAIL_OF(Truncate, descriptor, -1); return real(descriptor, size); }

int stat(const char *path, struct stat *status) { REAL(stat); FAIL(Stat, path, -1); return real(path, status); }
int stat64(const char *path, struct stat64 *status) { REAL(stat64); FAIL(Stat, path, -1); return real(path, status); }
int lstat(const char *path, struct stat *status) { REAL(lstat); FAIL(Stat, path, -1); return real(path, status); }
int lstat64(const char *path, struct stat64 *status) { REAL(lstat64); FAIL(Stat, path, -1); return real(path, status); }
int fstat(int descriptor, struct stat *status) { REAL(fstat); FAIL_OF(Stat, descriptor, -1); return real(descriptor, status); }
int fstat64(int descriptor, struct stat64 *status) { REAL(fstat64); FAIL_OF(Stat, descriptor, -1); return real(descriptor, status); }
int fstatat(int at, const char *path, struct stat *status, int flags) {
    REAL(fstatat);
    if (path[0] == '/') FAIL(Stat, path, -1); else FAIL_OF(Stat, at, -1);
    return real(at, path, status, flags);
}
int access(const char *path, int mode) { REAL(access); FAIL(Stat, path, -1); return real(path, mode); }

// Linux closes the descriptor also when the call fails (close(2)).
int close(int descriptor) {
    REAL(close);
    int number = fault_of(Close, descriptor);
    int result = real(descriptor);
    if (number) { errno = number; return -1; }
    return result;
}

int chmod(const char *path, mode_t mode) { REAL(chmod); FAIL(Mode, path, -1); return real(path, mode); }
int fchmod(int descriptor, mode_t mode) { REAL(fchmod); FAIL_OF(Mode, descriptor, -1); return real(descriptor, mode); }
int fchmodat(int at, const char *path, mode_t mode, int flags) {
    REAL(fchmodat);
    if (path[0] == '/') FAIL(Mode, path, -1); else FAIL_OF(Mode, at, -1);
    return real(at, path, mode, flags);
}
int fchown(int descriptor, uid_t user, gid_t group) {
    REAL(fchown);
    FAIL_OF(Mode, descriptor, -1);
    return real(descriptor, user, group);
}

int flock(int descriptor, int operation) { REAL(flock); FAIL_OF(Lock, descriptor, -1); return real(descriptor, operation); }

#define FCNTL(name) \
    int name(int descriptor, int command, ...) { \
        REAL(name); \
        va_list list; \
        va_start(list, command); \
        void *argument = va_arg(list, void *); \
        va_end(list); \
        if (command == F_SETLK || command == F_SETLKW) FAIL_OF(Lock, descriptor, -1); \
        return real(descriptor, command, argument); \
    }
FCNTL(fcntl)
FCNTL(fcntl64)

DIR *opendir(const char *path) { REAL(opendir); FAIL(List, path, NULL); return real(path); }
DIR *fdopendir(int descriptor) { REAL(fdopendir); FAIL_OF(List, descriptor, NULL); return real(descriptor); }
struct dirent *readdir(DIR *listing) { REAL(readdir); FAIL_OF(List, dirfd(listing), NULL); return real(listing); }
struct dirent64 *readdir64(DIR *listing) { REAL(readdir64); FAIL_OF(List, dirfd(listing), NULL); return real(listing); }
