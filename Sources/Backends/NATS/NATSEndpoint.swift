internal import Instrument
public import InstrumentBackends
internal import InstrumentText

/// The servers and the subject that samples are published to.
///
/// ```swift
/// let endpoint = try NATSEndpoint(servers: ["nats-1.example.org", "nats-2.example.org:4222"], subject: "samples")
/// ```
public struct NATSEndpoint: Hashable, Sendable {
    /// The servers of the cluster: `HOST` or `HOST:PORT`. The backend also uses servers that the cluster reports.
    package let servers: [String]
    /// The subject, which a stream of JetStream must contain.
    package let subject: String
    /// The files of TLS; nil connects without encryption, unless a server requires TLS.
    public var tls: TLSFiles?
    /// The login; nil for servers that ask for none.
    public var login: NATSLogin?

    let addresses: [HostPort]

    static let defaultPort: UInt16 = 4222

    /// Creates an endpoint.
    ///
    /// - Throws: ``NATSError`` with the code `invalidEndpoint` for a list without servers, for a server that is no
    ///   `HOST:PORT`, and for a subject that cannot be published to.
    public init(
        servers: [String],
        subject: String,
        tls: TLSFiles? = nil,
        login: NATSLogin? = nil
    ) throws(NATSError) {
        if servers.isEmpty {
            throw NATSError(.invalidEndpoint, "the list of servers must name at least one HOST:PORT (found none)")
        }
        var addresses: [HostPort] = []
        for server in servers {
            guard let address = HostPort(server, defaultPort: Self.defaultPort) else {
                throw NATSError(.invalidEndpoint, "a server must be HOST or HOST:PORT (found \"\(server)\")")
            }
            addresses.append(address)
        }
        guard Self.isSubject(subject) else {
            throw NATSError(
                .invalidEndpoint,
                "a subject must have words separated by dots, without spaces and wildcards (found \"\(subject)\")"
            )
        }
        self.servers = servers
        self.subject = subject
        self.tls = tls
        self.login = login
        self.addresses = addresses
    }

    /// Reads `HOST:PORT,HOST:PORT/SUBJECT`, followed by parameters if any: `?tls`, `&ca=FILE`.
    ///
    /// - Throws: ``NATSError`` with the code `invalidEndpoint` for any other text.
    public init(_ text: String, login: NATSLogin? = nil) throws(NATSError) {
        let (address, query) = text.split(at: "?")
        let (hosts, subject) = address.split(at: "/")
        var tls: TLSFiles?
        for pair in query?.split(separator: "&", omittingEmptySubsequences: false) ?? [] {
            switch pair.split(at: "=") {
            case ("tls", nil): tls = tls ?? TLSFiles()
            case ("ca", let file?) where !file.isEmpty:
                tls = TLSFiles(authorityFile: String(decoding: PercentCoding.decoded(file), as: UTF8.self))
            default:
                throw NATSError(
                    .invalidEndpoint,
                    "the parameters of a NATS endpoint are tls and ca=FILE (found \"\(pair)\")"
                )
            }
        }
        try self.init(
            servers: hosts.split(separator: ",", omittingEmptySubsequences: false).map(String.init),
            subject: subject.map(String.init) ?? "",
            tls: tls,
            login: login
        )
    }

    /// Whether messages can be published to the text.
    static func isSubject(_ text: String) -> Bool {
        let words = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return text.utf8.count <= 1024
            && words.allSatisfy { word in
                !word.isEmpty
                    && word.allSatisfy { $0 > 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "*") && $0 != UInt8(ascii: ">") }
            }
    }
}
