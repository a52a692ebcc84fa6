internal import Instrument
internal import InstrumentHTTP
internal import InstrumentManifests
internal import InstrumentRules

extension ResourceClient {
    /// The rounds of requests after which elements that refer to further elements are left out.
    private static let mostRounds = 6

    /// Loads the elements of an MPD that are elsewhere (xlink), and the elements that these refer to.
    ///
    /// - Parameter known: what was loaded for an earlier version of the MPD.
    func remoteElements(of text: FetchedText, known: RemoteElements) async -> RemoteElements {
        var remote = known
        for _ in 0..<Self.mostRounds {
            for url in missing(in: text, remote) {
                switch await fetch(url, nil, configuration.maxManifestBytes, decoding: .all) {
                case .success(let response):
                    remote.take(response.body, of: url, at: response.url, limits: ManifestLimits())
                case .failure(let failure): remote.fail(url, failure.reason)
                }
            }
            if missing(in: text, remote).isEmpty || Task.isCancelled { break }
        }
        return remote
    }

    private func missing(in text: FetchedText, _ remote: RemoteElements) -> [HTTPURL] {
        // Only an MPD with this name has such elements; others are not parsed once more.
        guard String(decoding: text.bytes, as: UTF8.self).contains("1999/xlink") else { return [] }
        do throws(ManifestError) {
            return try Presentation(
                parsing: text.bytes,
                at: text.url,
                remote: remote,
                now: text.fetched.wallTime
            ).missingElements
        } catch {
            return error.missingElements
        }
    }
}
