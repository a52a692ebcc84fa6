internal import InstrumentBackendKinds
internal import InstrumentGraphite
internal import InstrumentText

extension BackendKind {
    static let graphite = BackendKind(
        "graphite",
        summary: "Graphite",
        address: .text(
            "HOST[:PORT][/PREFIX]",
            expecting: "`HOST[:PORT][/PREFIX]` such as `graphite.example.org:2003/players`"
        ),
        read: { text in
            let (host, rest) = text.split(at: "/")
            guard !host.isEmpty, let server = GraphiteAddress(String(host)) else {
                let found = host.isEmpty ? "nothing" : "'\(host)'"
                throw BackendKindError(
                    "graphite needs HOST or HOST:PORT, such as graphite:127.0.0.1:2003 (found \(found))"
                )
            }
            let prefix = rest?.split(separator: ".").map(String.init) ?? []
            return (server: server, prefix: prefix.isEmpty ? GraphiteMapping().prefix : prefix)
        },
        make: { address, context in
            let mapping = GraphiteMapping(prefix: address.prefix)
            let configuration = GraphiteConfiguration(mapping: { mapping($0) })
            return GraphiteBackend(address.server, configuration: configuration, report: context.report)
        }
    )
}
