/// The files of TLS for a connection that does not use HTTP, all in PEM. The servers' names and certificates are always
/// checked.
public struct TLSFiles: Hashable, Sendable {
    /// The certificates of the authorities that the servers' certificates are checked with; nil takes the system's.
    package var authorityFile: String?
    /// The client's certificate, with the certificates between it and its authority; nil sends none.
    package var certificateFile: String?
    /// The key of the client's certificate.
    package var keyFile: String?

    /// Creates the settings of TLS.
    public init(authorityFile: String? = nil, certificateFile: String? = nil, keyFile: String? = nil) {
        self.authorityFile = authorityFile
        self.certificateFile = certificateFile
        self.keyFile = keyFile
    }
}
