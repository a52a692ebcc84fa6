internal import Instrument
internal import InstrumentHTTP
internal import InstrumentManifests
internal import InstrumentRules

extension CheckSession {
    /// The number of renditions whose server is asked by directives: one server answers for all.
    private static let mostAsked = 4

    /// Asks the servers of low-latency playlists for a delta update and for the next segment, each once, and applies
    /// the rules to the answers. The requests for the next segment last about as long as a segment.
    mutating func askDirectives() async {
        guard client.configuration.duration > .zero, !Task.isCancelled else { return }
        let orders = renditions.filter(\.isLive).compactMap { rendition -> [Order]? in
            guard let url = rendition.playlistURL, let current = run.history.rendition(rendition.name)?.current else {
                return nil
            }
            return Order.all(of: rendition.name, at: url, current.playlist)
        }.filter { !$0.isEmpty }.prefix(Self.mostAsked).flatMap(\.self)
        guard !orders.isEmpty else { return }
        let client = client
        let definitions = run.history.presentation?.definitions ?? [:]
        // All at once: the answers to the requests for the next segment come when there is one.
        let answers = await inParallel(orders, limit: orders.count) { await $0.answer(from: client, definitions) }
        for answer in answers.compactMap(\.self) { run.observe(answer) }
    }

    /// A request with a directive.
    private struct Order: Sendable {
        var directive: DirectiveAnswer.Directive
        var rendition: String
        var url: HTTPURL

        static func all(of rendition: String, at url: HTTPURL, _ playlist: HLSMediaPlaylist) -> [Order] {
            guard !playlist.hasEnded, let last = playlist.segments.last?.sequence else { return [] }
            var orders: [Order] = []
            if playlist.control.canSkipUntil != nil {
                orders.append(Order(directive: .skip, rendition: rendition, url: url))
            }
            if playlist.control.canBlockReload {
                let next = DirectiveAnswer.Directive.block(sequence: last.saturatingAdd(1))
                orders.append(Order(directive: next, rendition: rendition, url: url))
            }
            return orders
        }

        /// The answer; nil for one that cannot be read: a server that cannot be reached has a rule that says so.
        func answer(from client: ResourceClient, _ definitions: VariableDefinitions) async -> DirectiveAnswer? {
            let parameter =
                switch directive {
                case .block(let sequence): "_HLS_msn=\(sequence)"
                case .skip: "_HLS_skip=YES"
                }
            guard let asked = url.addingQuery([parameter]), case .success(let text) = await client.manifest(asked)
            else { return nil }
            return DirectiveAnswer(
                directive,
                rendition: rendition,
                url: url,
                body: text.bytes,
                definitions: definitions
            )
        }
    }
}
