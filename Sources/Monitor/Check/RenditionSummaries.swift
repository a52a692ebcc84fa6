internal import Instrument
internal import InstrumentHTTP
internal import InstrumentManifests
internal import InstrumentRules
internal import InstrumentText

/// The renditions at the end of a check, as the rules on whole renditions judge them: whether there was anything to
/// check.
struct RenditionSummaries {
    private let url: HTTPURL
    private let history: StreamHistory
    private let renditions: [CheckedRendition]
    private let now: WallTime
    /// The renditions whose segments are listed.
    private(set) var all: [RenditionSummary] = []

    init(of renditions: [CheckedRendition], _ history: StreamHistory, at url: HTTPURL, now: WallTime) {
        (self.url, self.history, self.renditions, self.now) = (url, history, renditions, now)
        all = renditions.compactMap { $0.isListed ? summary(of: $0) : nil }
    }

    /// Why nothing could be checked; nil if something was.
    func emptiness(of report: StreamCheckReport, fetchesSegments: Bool) -> String? {
        guard history.presentation != nil else { return "no playlist or MPD could be read" }
        let media = all.filter { $0.role != .subtitles }
        if !media.isEmpty, let first = media.first?.emptiness, media.allSatisfy({ $0.emptiness != nil }) {
            return first.found
        }
        if all.isEmpty, renditions.contains(where: { $0.playlistURL != nil }) {
            return "no media playlist could be read"
        }
        guard fetchesSegments, report.readSegmentCount == 0 else { return nil }
        if report.segmentCount == 0 { return "no segment could be fetched" }
        let methods = report.unreadEncryptions.sorted().map { $0.excerpt() }
        return methods.isEmpty
            ? "no segment could be read"
            : "no segment could be read: \(methods.joined(separator: ", ")) cannot be decrypted"
    }

    private func summary(of rendition: CheckedRendition) -> RenditionSummary {
        let role: RenditionSummary.Role =
            switch rendition.role {
            case .media, .audio: .media
            case .subtitles: .subtitles
            case .keyframes: .keyframes
            }
        let address = history.rendition(rendition.name)?.current?.url ?? history.manifest?.url ?? url
        var summary = RenditionSummary(rendition: rendition.name, url: address, role: role)
        let segments = rendition.segments
        if !rendition.isLive, segments.isComplete { summary.duration = segments.end }
        summary.targetDuration = segments.targetDuration
        guard let first = segments.first(where: { !$0.isGap }) else {
            summary.emptiness = emptiness(of: segments)
            return summary
        }
        if let availability = first.availability, availability > now {
            let begin = history.manifest?.beginning ?? now
            summary.emptiness = .notBegun(
                begin > now
                    ? "a presentation that begins at \(begin.rfc3339)"
                    : "a presentation whose first segment is available at \(availability.rfc3339)"
            )
        }
        return summary
    }

    /// Why there is no segment with media.
    private func emptiness(of segments: SegmentIndex) -> RenditionSummary.Emptiness {
        if !segments.isEmpty {
            return RenditionSummary.Emptiness(
                found: "a list of \(segments.count) segments that are all gaps",
                advice: "Check the encoder's input and the transfer to the packager."
            )
        }
        guard let manifest = history.manifest else {
            return RenditionSummary.Emptiness(
                found: "a media playlist without segments",
                advice: "Check the packager and its input."
            )
        }
        guard manifest.isDynamic, let start = manifest.availabilityStart, let begin = manifest.beginning else {
            return RenditionSummary.Emptiness(
                found: "a representation without segments",
                advice: "Correct its SegmentTemplate, SegmentTimeline or SegmentList, and the durations of its period."
            )
        }
        if begin > now { return .notBegun("a presentation that begins at \(begin.rfc3339)") }
        if let end = manifest.periods.last?.end.map({ start.advanced(nanoseconds: $0) }), end < now {
            let window = manifest.root.duration("timeShiftBufferDepth")
            let past = window.map { ", and whose window of \($0.shownSeconds) has passed" } ?? ""
            return RenditionSummary.Emptiness(
                found: "a presentation that ended at \(end.rfc3339)\(past)",
                advice: "Publish a static MPD of the recording, or end the address."
            )
        }
        return RenditionSummary.Emptiness(
            found: "a live representation without an available segment",
            advice: "Check the packager and its input, and availabilityStartTime."
        )
    }
}

extension RenditionSummary.Emptiness {
    fileprivate static func notBegun(_ found: String) -> Self {
        Self(found: found, advice: "Check the stream again after that time, or correct availabilityStartTime.")
    }
}

extension ManifestVersion {
    /// The calendar time at which the first period of a live presentation begins; nil for a recording.
    fileprivate var beginning: WallTime? {
        guard isDynamic else { return nil }
        return availabilityStart?.advanced(nanoseconds: periods.first?.start ?? 0)
    }
}
