internal import Instrument
internal import InstrumentHTTP
internal import InstrumentManifests
internal import InstrumentRules

/// The questions, each asked once in a run, to the servers that a stream names beside its segments.
struct ServerQuestions: Sendable {
    /// The largest steering manifest, in bytes.
    private static let mostSteeringBytes = 1 << 20
    /// The number of renditions whose server is asked by directives: one server answers for all.
    private static let mostAsked = 4

    private let client: ResourceClient
    private let presentation: Presentation?
    private let directives: [DirectiveOrder]

    init(_ client: ResourceClient, _ history: StreamHistory, _ renditions: [CheckedRendition]) {
        (self.client, presentation) = (client, history.presentation)
        directives = renditions.filter(\.isLive).compactMap { rendition -> [DirectiveOrder]? in
            guard let url = rendition.playlistURL, let current = history.rendition(rendition.name)?.current else {
                return nil
            }
            return DirectiveOrder.all(of: rendition.name, at: url, current.playlist)
        }.filter { !$0.isEmpty }.prefix(Self.mostAsked).flatMap(\.self)
    }

    /// The answers of the steering server and the server of patches that the manifest names.
    func answers() async -> [ServerAnswer] {
        guard let presentation, !Task.isCancelled else { return [] }
        var answers: [ServerAnswer] = []
        if let steering = presentation.steering { answers.append(await answer(of: steering, in: presentation)) }
        if let patch = presentation.live?.patch, patch.isAvailable(at: client.clock.wallTime), !Task.isCancelled {
            answers.append(await answer(.patch, at: patch.url, client.configuration.maxManifestBytes))
        }
        return answers
    }

    /// The answers of the servers of low-latency playlists to requests for a delta update and for the next segment. The
    /// requests for the next segment last about as long as a segment.
    func directiveAnswers() async -> [DirectiveAnswer] {
        guard client.configuration.duration > .zero, !directives.isEmpty, !Task.isCancelled else { return [] }
        let definitions = presentation?.definitions ?? [:]
        // All at once: the answers to the requests for the next segment come when there is one.
        return await inParallel(directives, limit: directives.count) { await $0.answer(from: client, definitions) }
            .compactMap(\.self)
    }

    /// The answer of a steering server, or the text that the manifest has in its place.
    private func answer(of steering: ContentSteering, in presentation: Presentation) async -> ServerAnswer {
        if let url = steering.url { return await answer(.steering, at: url, Self.mostSteeringBytes) }
        let fetched = client.clock.timestamp
        return ServerAnswer(.steering, url: presentation.url, response: .body(steering.text ?? []), fetched: fetched)
    }

    private func answer(_ purpose: ServerAnswer.Purpose, at url: HTTPURL, _ mostBytes: Int) async -> ServerAnswer {
        let result = await client.fetch(url, nil, mostBytes, decoding: .all)
        let fetched = client.clock.timestamp
        switch result {
        case .success(let response):
            return ServerAnswer(purpose, url: response.url, response: .body(response.body), fetched: fetched)
        case .failure(let failure):
            let status: Int? = if case .status(let status) = failure { status } else { nil }
            return ServerAnswer(purpose, url: url, response: .failure(failure.reason, status: status), fetched: fetched)
        }
    }
}

/// A request with a directive.
private struct DirectiveOrder: Sendable {
    var directive: DirectiveAnswer.Directive
    var rendition: String
    var url: HTTPURL

    static func all(of rendition: String, at url: HTTPURL, _ playlist: HLSMediaPlaylist) -> [DirectiveOrder] {
        guard !playlist.hasEnded, let last = playlist.segments.last?.sequence else { return [] }
        var orders: [DirectiveOrder] = []
        if playlist.control.canSkipUntil != nil {
            orders.append(DirectiveOrder(directive: .skip, rendition: rendition, url: url))
        }
        if playlist.control.canBlockReload {
            let next = DirectiveAnswer.Directive.block(sequence: last.saturatingAdd(1))
            orders.append(DirectiveOrder(directive: next, rendition: rendition, url: url))
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
