internal import Instrument
internal import InstrumentManifests
internal import InstrumentTransport

/// Loads the elements of an MPD that are elsewhere (xlink), one after the other, before the MPD is used.
struct ElementLoading: Sendable {
    /// The times that an MPD is parsed again for elements that refer to further ones.
    private static let mostRounds = 6

    /// An MPD that waits for its elements.
    struct Waiting: Sendable {
        var response: ResourceResponse
        var fetching: Fetching
        fileprivate var missing: ArraySlice<HTTPURL> = []
        fileprivate var rounds = 0
    }

    /// The elements that were loaded, also for earlier versions of the MPD.
    private(set) var remote = RemoteElements()
    private(set) var waiting: Waiting?

    var isWaiting: Bool { waiting != nil }

    /// The elements with a response, if it is the last one that the MPD waits for; nil while others are missing.
    func complete(with response: ResourceResponse, limits: ManifestLimits) -> (Waiting, RemoteElements)? {
        guard let waiting, waiting.missing.count == 1, let url = waiting.missing.first else { return nil }
        var all = remote
        all.take(response.bytes, of: url, at: response.url, limits: limits)
        return (waiting, all)
    }

    /// Holds an MPD back. Returns the next request.
    mutating func hold(_ response: ResourceResponse, _ fetching: Fetching, _ missing: [HTTPURL]) -> StreamEffect? {
        waiting = Waiting(response: response, fetching: fetching)
        return wait(for: missing)
    }

    /// Takes the result of a request.
    mutating func take(_ result: Result<ResourceResponse, ResourceFailure>, limits: ManifestLimits) {
        guard let url = waiting?.missing.popFirst() else { return }
        switch result {
        case .success(let response): remote.take(response.bytes, of: url, at: response.url, limits: limits)
        case .failure(let failure): remote.fail(url, failure.message)
        }
    }

    /// The next request; nil if no element is missing.
    var next: StreamEffect? { waiting?.missing.first.map { .fetch(.element, $0, nil) } }

    /// Waits for further elements, to which those that were loaded refer. Returns the next request; nil for none.
    mutating func wait(for missing: [HTTPURL]) -> StreamEffect? {
        guard let rounds = waiting?.rounds, rounds < Self.mostRounds else { return nil }
        waiting?.rounds = rounds + 1
        waiting?.missing = missing[...]
        return next
    }

    /// Uses the MPD.
    mutating func finish() { waiting = nil }
}

extension ManifestReading {
    /// Parses a manifest, or says which elements it lacks.
    init(
        _ response: ResourceResponse,
        requestedAs requested: HTTPURL,
        remote: RemoteElements,
        now: WallTime,
        clockOffset: Int64
    ) throws(ManifestError) {
        let parsed: Presentation
        do throws(ManifestError) {
            parsed = try Presentation(
                parsing: response.bytes,
                at: response.url,
                requestedAs: requested,
                remote: remote,
                now: now,
                clockOffset: clockOffset
            )
        } catch {
            guard !error.missingElements.isEmpty else { throw error }
            self = .incomplete(error.missingElements)
            return
        }
        self = parsed.missingElements.isEmpty ? .presentation(parsed) : .incomplete(parsed.missingElements)
    }
}
