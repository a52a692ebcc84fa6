internal import InstrumentText

/// The servers of a cluster, in the order in which they are tried.
struct ServerPool {
    private let configured: [HostPort]
    /// Servers that the cluster has reported.
    private var reported: [HostPort] = []
    /// The server that is tried first.
    private var current: HostPort?

    init(_ configured: [HostPort]) { self.configured = configured }

    /// Each server once: the one that worked last, the configured ones behind it, then the others.
    var candidates: [HostPort] {
        var known: Set<HostPort> = []
        let all = configured + reported
        let start = current.flatMap { all.firstIndex(of: $0) } ?? 0
        return (all[start...] + all[..<start]).filter { known.insert($0).inserted }
    }

    /// The name that a server's certificate must have: clusters report addresses, whose certificates have the cluster's
    /// name.
    func certificateName(of server: HostPort) -> String {
        if configured.contains(server) || !Self.isAddress(server.host) { return server.host }
        return configured.first { !Self.isAddress($0.host) }?.host ?? server.host
    }

    /// A server works, and has reported these servers.
    mutating func connected(to server: HostPort, reporting servers: [HostPort]) {
        current = server
        let known = Set(configured)
        if !servers.isEmpty { reported = servers.filter { !known.contains($0) } }
    }

    /// A server failed or leaves the cluster: the next one is tried first.
    mutating func left(_ server: HostPort) {
        let all = candidates
        guard let index = all.firstIndex(of: server) else { return }
        current = all[(index + 1) % all.count]
    }

    private static func isAddress(_ host: String) -> Bool {
        host.contains(":")
            || host.utf8.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 || $0 == UInt8(ascii: ".") }
    }
}
