// The few calls of libcurl that take any type of argument, which Swift cannot call, each with its type.
#ifndef INSTRUMENT_TRANSPORT_SHIM_H
#define INSTRUMENT_TRANSPORT_SHIM_H

// Apple platforms have no libcurl for everybody; this target is empty there.
#if __has_include(<curl/curl.h>)

#include <curl/curl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Called with bytes that have arrived; anything but `count` as the answer breaks the transfer off.
typedef size_t (*TransportReceiver)(char *bytes, size_t size, size_t count, void *context);

CURLcode transport_set_long(CURL *easy, CURLoption option, long value);
CURLcode transport_set_large(CURL *easy, CURLoption option, int64_t value);
/// A text of which libcurl makes its own copy, or a pointer that has to stay valid.
CURLcode transport_set_pointer(CURL *easy, CURLoption option, const void *value);
CURLcode transport_set_receiver(CURL *easy, CURLoption option, TransportReceiver receiver);
/// Bytes of certificates in PEM, copied. libcurl before 7.77 cannot do it and says so.
CURLcode transport_set_authorities(CURL *easy, const void *bytes, size_t count);
/// http and https only; no version of libcurl has a default as narrow.
CURLcode transport_restrict_protocols(CURL *easy);
/// smtp and smtps only.
CURLcode transport_restrict_to_mail(CURL *easy);
/// Does not wait for a name lookup that nobody needs any more, where libcurl (7.87) can do so.
void transport_never_wait_for_names(CURL *easy);

/// What became of a transfer's wish for connections.
struct transport_openings {
    bool has_refused;
    bool has_opened;
};
/// Lets the transfer connect only to addresses that everybody can reach; what `openings` points to has to stay valid.
CURLcode transport_refuse_private_addresses(CURL *easy, struct transport_openings *openings);
/// Whether only this machine or its network can reach an address (or it stands for no machine at all).
bool transport_is_private(const struct sockaddr *address);

/// 0 if libcurl does not know.
long transport_get_long(CURL *easy, CURLINFO info);
int64_t transport_get_large(CURL *easy, CURLINFO info);
/// Belongs to the handle; null if libcurl does not know.
const char *transport_get_text(CURL *easy, CURLINFO info);
void *transport_get_context(CURL *easy);

CURLMcode transport_set_multi_long(CURLM *multi, CURLMoption option, long value);

/// The next transfer that has ended; null if there is none.
CURL *transport_next_ended(CURLM *multi, CURLcode *result);

/// The bundle of certificates that libcurl was built to use; null if it has none.
const char *transport_default_authorities(void);

/// Whether libcurl decodes gzip and deflate, and br.
bool transport_supports_gzip(void);
bool transport_supports_brotli(void);

/// Whether libcurl speaks HTTP/3, and falls back to earlier versions where a server does not (7.88).
bool transport_supports_http3(void);
/// Prefers HTTP/3 where libcurl has it.
CURLcode transport_prefer_http3(CURL *easy);
/// The version of libcurl, as it is loaded now.
const char *transport_library_version(void);

/// Runs `body(context)` on a new thread that gets no signals; false if the system has none left.
bool transport_thread_start(void (*body)(void *), void *context);
/// To be called by such a thread before and after it waits. In between, and only then, the process may end.
void transport_begin_waiting(void);
void transport_end_waiting(void);
/// Has the end of the process wait for threads that work, to be called once, after libraries were prepared.
void transport_prepare_end_of_process(void);

#endif
#endif
