internal import Instrument
internal import InstrumentHTTP
internal import InstrumentManifests
internal import InstrumentRules

extension CheckSession {
    /// The largest steering manifest, in bytes.
    private static let mostSteeringBytes = 1 << 20

    /// Asks the steering server and the server of patches that the manifest names, each once in a run, and applies the
    /// rules to the answers.
    mutating func askServers() async {
        guard let presentation = run.history.presentation, !Task.isCancelled else { return }
        if let steering = presentation.steering {
            let answer = await self.answer(of: steering, in: presentation)
            run.observe(answer)
        }
        guard let patch = presentation.live?.patch, patch.isAvailable(at: client.clock.wallTime), !Task.isCancelled
        else { return }
        let answer = await self.answer(.patch, at: patch.url, client.configuration.maxManifestBytes)
        run.observe(answer)
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
