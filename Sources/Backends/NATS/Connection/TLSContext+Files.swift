internal import InstrumentBackends
internal import InstrumentSockets
internal import InstrumentTLS

extension TLSContext {
    /// The context of a client with these files.
    static func client(_ files: TLSFiles) throws(SocketError) -> TLSContext {
        try client(authorities: files.authorityFile, certificate: files.certificateFile, key: files.keyFile)
    }
}
