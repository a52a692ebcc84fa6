internal import Instrument
internal import InstrumentHTTP
internal import InstrumentText
internal import InstrumentXML

/// A media presentation description (ISO/IEC 23009-1): its elements, and the periods' times.
struct DASHManifest: Hashable, Sendable {
    /// The server's time in the MPD (`UTCTiming` with the scheme `direct`), and the local time at which it arrived.
    struct DirectClock: Hashable, Sendable {
        var server: WallTime
        var arrival: WallTime
    }

    private(set) var root: MarkupElement
    let url: HTTPURL
    let limits: ManifestLimits
    /// The elements that are elsewhere, as far as they were loaded.
    private let remote: RemoteElements
    /// The control characters of the text as it was fetched.
    private(set) var textNotices: [ManifestNotice] = []
    /// The server's time as it was read first: a patch may leave it in the MPD, where it becomes outdated.
    var directClock: DirectClock?

    /// Takes the root of an MPD that was read before, whose elements are all in their places.
    init(root: MarkupElement, url: HTTPURL, limits: ManifestLimits) {
        (self.root, self.url, self.limits, remote) = (root, url, limits, RemoteElements())
    }

    init(
        parsing bytes: [UInt8],
        at url: HTTPURL,
        remote: RemoteElements = RemoteElements(),
        limits: ManifestLimits
    ) throws(ManifestError) {
        let root: MarkupElement
        do {
            root = try MarkupReader.read(bytes, as: "the MPD", limits: MarkupLimits(limits))
        } catch {
            throw ManifestError(error, at: url)
        }
        guard root.name == "MPD" else {
            throw ManifestError(
                .notAManifest,
                "the root element must be `MPD` (found `\(root.name.excerpt())`); check the server's answer",
                line: root.line,
                url: url
            )
        }
        self.root = root
        self.url = url
        self.remote = remote
        self.limits = limits
        // A text in UTF-16 has zeros, and no other one is read with them.
        if !bytes.contains(0) {
            var notices = NoticeList(limit: 1)
            notices.add(controlCharactersOf: bytes)
            textNotices = notices.notices
        }
    }

    /// Returns the MPD that a patch makes of this one.
    func applying(_ patch: MPDPatch) throws(ManifestError) -> DASHManifest {
        replacing(try patch.applied(to: root, limits: limits))
    }

    /// Returns the MPD with another root.
    func replacing(_ root: MarkupElement) -> DASHManifest {
        var manifest = self
        (manifest.root, manifest.textNotices) = (root, [])
        return manifest
    }

    var isDynamic: Bool { root["type"] == "dynamic" }

    func presentation(now: WallTime, clockOffset: Int64 = 0) throws(ManifestError) -> Presentation {
        let resolution = remote.resolve(root, at: url)
        var whole = self
        whole.root = resolution.root
        do {
            var builder = DASHPresentationBuilder(whole, now: now, clockOffset: clockOffset)
            var presentation = try builder.build()
            presentation.missingElements = resolution.missing
            presentation.notices += resolution.notices.notices
            // A patch changes the MPD as the server has it.
            presentation.document?.root = root
            return presentation
        } catch {
            var error = error.at(url)
            error.missingElements = resolution.missing
            // Without a line, the MPD is well written, and lacks what a remote element should have brought.
            if let notice = resolution.notices.notices.first, resolution.missing.isEmpty, error.code == .malformed,
                error.line == nil
            {
                error.message += "; \(notice.message)"
                error.causes = resolution.notices.notices
            }
            throw error
        }
    }

    /// A period with its start and end, in nanoseconds.
    struct Period: Hashable, Sendable {
        var element: MarkupElement
        var start: Int64
        var end: Int64?
        /// Distinguishes the period from the others, also after a reload without the oldest periods.
        var number: Int64 { start }
    }

    /// The periods with a known time (section 5.3.2.1): by their start, else after the previous period, else at 0 in
    /// a static presentation; a period without any of these is only announced.
    func periods(_ notices: inout NoticeList) throws(ManifestError) -> [Period] {
        let elements = root.all("Period")
        guard elements.count <= limits.periods else {
            throw ManifestError(.limitExceeded, "the MPD must have at most \(limits.periods) periods")
        }
        var periods: [Period] = []
        for element in elements {
            let previous = periods.last
            let follows = previous.flatMap { last in
                last.element.duration("duration").map { last.start.saturatingAdd($0) }
            }
            let atZero: Int64? = periods.isEmpty && (!isDynamic || root["availabilityStartTime"] != nil) ? 0 : nil
            guard let start = element.duration("start") ?? follows ?? atZero else {
                // A live MPD announces a period without a start (section 5.3.2.1).
                if !isDynamic { notices.add(.periodWithoutStart, line: element.line) }
                continue
            }
            if let last = periods.indices.last {
                guard start >= periods[last].start else {
                    notices.add(.misplacedPeriod, line: element.line)
                    continue
                }
                periods[last].end = min(start, periods[last].end ?? start)
            }
            let end = element.duration("duration").map { start.saturatingAdd($0) }
            periods.append(Period(element: element, start: start, end: end))
        }
        if let last = periods.indices.last, periods[last].end == nil {
            periods[last].end = root.duration("mediaPresentationDuration")
        }
        return periods.filter { ($0.end ?? .max) > $0.start }
    }
}
