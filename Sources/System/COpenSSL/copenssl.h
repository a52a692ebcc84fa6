// OpenSSL 1.1.1 or later: TLS over memory, and Ed25519.
#ifndef INSTRUMENT_COPENSSL_H
#define INSTRUMENT_COPENSSL_H

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#endif
