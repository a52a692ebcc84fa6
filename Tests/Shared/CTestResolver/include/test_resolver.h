// The names of the tests. A program that links this target resolves every name under `.invalid` (RFC 6761) here: neither the network nor
// the resolver of the machine decides about a test.
//
// - NAME.loopback.invalid is 127.0.0.1.
// - NAME.hanging.invalid is a name whose resolver never answers: the call never returns.
// - Every other name under `.invalid` is unknown, at once.
//
// The C library's `getaddrinfo` resolves all other names. It works because the dynamic linker prefers a program's symbol to a library's.
#ifndef INSTRUMENT_TEST_RESOLVER_H
#define INSTRUMENT_TEST_RESOLVER_H

/// Waits until a lookup of `name`, a name under `.hanging.invalid`, has begun.
void test_resolver_wait(const char *name);

#endif
