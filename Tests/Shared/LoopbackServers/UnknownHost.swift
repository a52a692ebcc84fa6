extension TestServer {
    /// A host name that has no address on any machine, for a failed look-up.
    ///
    /// A label of a name has at most 63 bytes (RFC 1035, section 2.3.4). The system rejects a longer one before it asks
    /// a resolver: neither a resolver that never answers nor one that answers every name decides about a test.
    package static let unknownHost = String(repeating: "unknown-", count: 8) + ".invalid"
}
