#include "transport_shim.h"

#if __has_include(<curl/curl.h>)

#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>

CURLcode transport_set_long(CURL *easy, CURLoption option, long value) { return curl_easy_setopt(easy, option, value); }

CURLcode transport_set_large(CURL *easy, CURLoption option, int64_t value) {
    return curl_easy_setopt(easy, option, (curl_off_t)value);
}

CURLcode transport_set_pointer(CURL *easy, CURLoption option, const void *value) {
    return curl_easy_setopt(easy, option, (void *)value);
}

CURLcode transport_set_receiver(CURL *easy, CURLoption option, TransportReceiver receiver) {
    return curl_easy_setopt(easy, option, receiver);
}

CURLcode transport_set_authorities(CURL *easy, const void *bytes, size_t count) {
#if LIBCURL_VERSION_NUM >= 0x074D00
    struct curl_blob blob = {(void *)bytes, count, CURL_BLOB_COPY};
    return curl_easy_setopt(easy, CURLOPT_CAINFO_BLOB, &blob);
#else
    return CURLE_NOT_BUILT_IN;
#endif
}

CURLcode transport_restrict_protocols(CURL *easy) {
#if LIBCURL_VERSION_NUM >= 0x075500
    return curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
#else
    return curl_easy_setopt(easy, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
}

CURLcode transport_restrict_to_mail(CURL *easy) {
#if LIBCURL_VERSION_NUM >= 0x075500
    return curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "smtp,smtps");
#else
    return curl_easy_setopt(easy, CURLOPT_PROTOCOLS, (long)(CURLPROTO_SMTP | CURLPROTO_SMTPS));
#endif
}

void transport_never_wait_for_names(CURL *easy) {
#if LIBCURL_VERSION_NUM >= 0x075700
    curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
#endif
}

/// Address blocks of IANA's special-purpose registries (RFC 6890 and its updates) that are not globally reachable.
static bool is_private_4(uint32_t address) {
    static const struct { uint32_t network; int bits; } blocks[] = {
        {0x00000000, 8},  // "this network"
        {0x0A000000, 8},  // private (RFC 1918)
        {0x64400000, 10}, // shared with a carrier's NAT (RFC 6598)
        {0x7F000000, 8},  // loopback
        {0xA9FE0000, 16}, // link-local, where clouds keep their metadata
        {0xAC100000, 12}, // private (RFC 1918)
        {0xC0000000, 24}, // protocol assignments
        {0xC0000200, 24}, // documentation
        {0xC0A80000, 16}, // private (RFC 1918)
        {0xC6120000, 15}, // benchmarking
        {0xC6336400, 24}, // documentation
        {0xCB007100, 24}, // documentation
        {0xE0000000, 4},  // multicast
        {0xF0000000, 4},  // reserved, broadcast
    };
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        if ((address ^ blocks[i].network) >> (32 - blocks[i].bits) == 0) return true;
    }
    return false;
}

static uint32_t word(const uint8_t *bytes) {
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static bool is_private_6(const uint8_t *address) {
    const uint32_t first = word(address);
    const bool begins_with_zeros = first == 0 && word(address + 4) == 0;
    // Addresses of version 4 in other clothes: mapped, translated (RFC 6052), 6to4.
    if (begins_with_zeros && word(address + 8) == 0xFFFF) return is_private_4(word(address + 12));
    if (first == 0x0064FF9B) return is_private_4(word(address + 12));
    if (first >> 16 == 0x2002) return is_private_4((uint32_t)word(address + 2));
    // What is allocated to everybody is 2000::/3, but for documentation and protocol assignments (Teredo among them).
    if (first >> 29 != 1) return true;
    return first == 0x20010DB8 || first >> 9 == 0x20010000 >> 9 || first >> 12 == 0x3FFF0000 >> 12;
}

bool transport_is_private(const struct sockaddr *address) {
    switch (address->sa_family) {
    case AF_INET: return is_private_4(ntohl(((const struct sockaddr_in *)address)->sin_addr.s_addr));
    case AF_INET6: return is_private_6(((const struct sockaddr_in6 *)address)->sin6_addr.s6_addr);
    default: return true;
    }
}

static curl_socket_t open_public(void *context, curlsocktype purpose, struct curl_sockaddr *address) {
    struct transport_openings *openings = context;
    (void)purpose;
    if (transport_is_private(&address->addr)) {
        openings->has_refused = true;
        return CURL_SOCKET_BAD;
    }
    openings->has_opened = true;
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

CURLcode transport_refuse_private_addresses(CURL *easy, struct transport_openings *openings) {
    CURLcode result = curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, openings);
    return result == CURLE_OK ? curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open_public) : result;
}

long transport_get_long(CURL *easy, CURLINFO info) {
    long value = 0;
    return curl_easy_getinfo(easy, info, &value) == CURLE_OK ? value : 0;
}

int64_t transport_get_large(CURL *easy, CURLINFO info) {
    curl_off_t value = 0;
    return curl_easy_getinfo(easy, info, &value) == CURLE_OK ? value : 0;
}

const char *transport_get_text(CURL *easy, CURLINFO info) {
    char *text = NULL;
    return curl_easy_getinfo(easy, info, &text) == CURLE_OK ? text : NULL;
}

void *transport_get_context(CURL *easy) {
    char *context = NULL;
    return curl_easy_getinfo(easy, CURLINFO_PRIVATE, &context) == CURLE_OK ? context : NULL;
}

CURLMcode transport_set_multi_long(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}

CURL *transport_next_ended(CURLM *multi, CURLcode *result) {
    int left = 0;
    CURLMsg *message;
    while ((message = curl_multi_info_read(multi, &left)) != NULL) {
        if (message->msg != CURLMSG_DONE) continue;
        *result = message->data.result;
        return message->easy_handle;
    }
    return NULL;
}

const char *transport_default_authorities(void) {
#if LIBCURL_VERSION_NUM >= 0x074600
    const curl_version_info_data *info = curl_version_info(CURLVERSION_NOW);
    return info->age >= CURLVERSION_SEVENTH ? info->cainfo : NULL;
#else
    return NULL;
#endif
}

static bool has_feature(int feature) { return (curl_version_info(CURLVERSION_NOW)->features & feature) != 0; }

bool transport_supports_gzip(void) { return has_feature(CURL_VERSION_LIBZ); }

bool transport_supports_brotli(void) {
#if LIBCURL_VERSION_NUM >= 0x073900
    return has_feature(CURL_VERSION_BROTLI);
#else
    return false;
#endif
}

bool transport_supports_http3(void) {
#if LIBCURL_VERSION_NUM >= 0x075800
    const curl_version_info_data *info = curl_version_info(CURLVERSION_NOW);
    return info->version_num >= 0x075800 && (info->features & CURL_VERSION_HTTP3) != 0;
#else
    return false;
#endif
}

CURLcode transport_prefer_http3(CURL *easy) {
#if LIBCURL_VERSION_NUM >= 0x075800
    return curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_3);
#else
    (void)easy;
    return CURLE_UNSUPPORTED_PROTOCOL;
#endif
}

const char *transport_library_version(void) { return curl_version_info(CURLVERSION_NOW)->version; }

// When a process ends, libraries are taken down while threads go on. A thread that ends at that moment, or works with TLS, then frees
// what is being freed. So threads work only while they hold this lock for reading, and the end of the process takes it for good.
static pthread_rwlock_t working = PTHREAD_RWLOCK_INITIALIZER;

struct thread {
    void (*body)(void *);
    void *context;
    pthread_t thread;
    /// Set under `working`: from then on it only has to be joined.
    bool has_ended;
    struct thread *next;
};

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static struct thread *list;

void transport_begin_waiting(void) { pthread_rwlock_unlock(&working); }

void transport_end_waiting(void) { pthread_rwlock_rdlock(&working); }

static void *run(void *opaque) {
    struct thread *thread = opaque;
    pthread_rwlock_rdlock(&working);
    thread->body(thread->context);
    pthread_mutex_lock(&list_lock);
    thread->has_ended = true;
    pthread_mutex_unlock(&list_lock);
    pthread_rwlock_unlock(&working);
    return NULL;
}

/// Joins threads that have ended, which takes no longer than their last instructions.
static void join_ended(void) {
    pthread_mutex_lock(&list_lock);
    for (struct thread **link = &list; *link != NULL;) {
        struct thread *thread = *link;
        if (thread->has_ended) {
            *link = thread->next;
            pthread_join(thread->thread, NULL);
            free(thread);
        } else {
            link = &thread->next;
        }
    }
    pthread_mutex_unlock(&list_lock);
}

static void end_of_process(void) {
    struct timespec limit;
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_sec += 2;
    // A thread that does not come back in time must not hold up the end.
    if (pthread_rwlock_timedwrlock(&working, &limit) == 0) join_ended();
}

void transport_prepare_end_of_process(void) { atexit(end_of_process); }

bool transport_thread_start(void (*body)(void *), void *context) {
    join_ended();
    struct thread *thread = calloc(1, sizeof(struct thread));
    if (thread == NULL) return false;
    thread->body = body;
    thread->context = context;
    // Signals are the program's, but for those of a crash. SIGPIPE, which OpenSSL gives rise to when a connection breaks,
    // goes to the thread that wrote and would end the process: blocked, it is nothing.
    const int crashes[] = {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP};
    sigset_t blocked, before;
    sigfillset(&blocked);
    for (size_t i = 0; i < sizeof crashes / sizeof *crashes; i++) sigdelset(&blocked, crashes[i]);
    pthread_sigmask(SIG_SETMASK, &blocked, &before);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 2 << 20);
    pthread_mutex_lock(&list_lock);
    bool is_running = pthread_create(&thread->thread, &attributes, run, thread) == 0;
    if (is_running) {
        thread->next = list;
        list = thread;
    }
    pthread_mutex_unlock(&list_lock);
    pthread_attr_destroy(&attributes);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!is_running) free(thread);
    return is_running;
}

#else

typedef int transport_shim_is_empty;

#endif
