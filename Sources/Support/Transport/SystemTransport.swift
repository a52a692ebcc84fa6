// A module that imports the transport needs its messages, too.
@_exported public import InstrumentCompression
@_exported public import InstrumentHTTP

#if canImport(Darwin) || URLSESSION_CHECK
/// The platform's transport.
public typealias SystemTransport = URLSessionTransport
#else
/// The platform's transport.
public typealias SystemTransport = CurlTransport
#endif
