internal import Instrument
internal import InstrumentManifests
internal import InstrumentTransport

/// The resources that low-latency playlists hint at, which are requested before a playlist lists them. The server holds
/// such a request until the resource exists.
///
/// A hint that comes true becomes the request of the listed part or section, so that nothing is fetched twice. Any
/// other hint is dropped without consequences for playback.
struct HintLoading: Sendable {
    /// What was hinted at, and the answer once the request has ended.
    private struct Entry {
        let hint: PreloadHint
        var answer: (response: ResourceResponse, fetching: Fetching)?
    }

    /// The state of a hint that has come true.
    enum Match {
        /// The request is running.
        case requested
        /// The resource has arrived.
        case arrived(ResourceResponse, Fetching)
    }

    private let resources: Set<LivePolicy.HintedResource>
    private var entries: [FetchPurpose: Entry] = [:]
    /// The latest hint of each kind that is not to be requested again, because it failed, came true or was withdrawn.
    private var spent: [FetchPurpose: PreloadHint] = [:]

    init(_ resources: Set<LivePolicy.HintedResource>) { self.resources = resources }

    /// Whether a hint was requested, and was neither used nor dropped.
    func isPending(_ purpose: FetchPurpose) -> Bool { entries[purpose] != nil }

    /// Whether the profile's player requests a hint, and has not done so.
    ///
    /// A range without an end would bring the parts behind the hinted one as well; Media3 passes over such hints, too
    /// (`HlsPlaylistParser`).
    func wants(_ hint: PreloadHint, _ purpose: FetchPurpose) -> Bool {
        guard case .hint(let resource, _) = purpose, resources.contains(resource), !hint.isOpenEnded else {
            return false
        }
        return entries[purpose]?.hint != hint && spent[purpose] != hint
    }

    /// Whether a pending hint is another one than the playlist's present hint.
    func isOutdated(_ purpose: FetchPurpose, by hint: PreloadHint?) -> Bool {
        entries[purpose].map { $0.hint != hint } ?? false
    }
}

// MARK: Changes
extension HintLoading {
    mutating func begin(_ hint: PreloadHint, _ purpose: FetchPurpose) { entries[purpose] = Entry(hint: hint) }

    /// Keeps the hinted resource until a playlist lists it.
    mutating func arrived(_ response: ResourceResponse, _ fetching: Fetching) {
        entries[fetching.purpose]?.answer = (response, fetching)
    }

    /// Forgets a hint that failed or was withdrawn; it is not requested again.
    mutating func drop(_ purpose: FetchPurpose) {
        if let entry = entries.removeValue(forKey: purpose) { spent[purpose] = entry.hint }
    }

    /// Uses the hint for a resource that the playlist lists; nil if the hint named another one.
    mutating func take(_ url: HTTPURL, _ range: ByteRange?, _ purpose: FetchPurpose) -> Match? {
        guard let entry = entries[purpose], entry.hint == PreloadHint(url: url, byteRange: range) else { return nil }
        drop(purpose)
        return entry.answer.map { .arrived($0.response, $0.fetching) } ?? .requested
    }

    /// Discards the hints of a track, which may be requested again.
    mutating func discard(_ role: StreamRole) {
        entries = entries.filter { $0.key.role != role }
        spent = spent.filter { $0.key.role != role }
    }
}
