internal import Instrument
internal import InstrumentHTTP
internal import InstrumentManifests
internal import InstrumentRules
internal import InstrumentText

// What is known at the end of a check: whether there was anything to check.
extension CheckSession {
    /// Applies the rules on whole renditions, and states why nothing could be checked.
    mutating func summarize() {
        let now = client.clock.wallTime
        let summaries = renditions.compactMap { rendition in
            rendition.isListed ? summary(of: rendition, at: now) : nil
        }
        // A check that was stopped may just not have seen a segment yet.
        if !Task.isCancelled { run.observe(summaries) }
        report.emptiness = emptiness(summaries)
    }

    private func emptiness(_ summaries: [RenditionSummary]) -> String? {
        guard run.history.presentation != nil else { return "no playlist or MPD could be read" }
        let media = summaries.filter { $0.role != .subtitles }
        if !media.isEmpty, let first = media.first?.emptiness, media.allSatisfy({ $0.emptiness != nil }) {
            return first.found
        }
        if summaries.isEmpty, renditions.contains(where: { $0.playlistURL != nil }) {
            return "no media playlist could be read"
        }
        guard client.configuration.segmentCount > 0, report.readSegmentCount == 0 else { return nil }
        if report.segmentCount == 0 { return "no segment could be fetched" }
        let methods = report.unreadEncryptions.sorted().map { $0.excerpt() }
        return methods.isEmpty
            ? "no segment could be read"
            : "no segment could be read: \(methods.joined(separator: ", ")) cannot be decrypted"
    }

    private func summary(of rendition: CheckedRendition, at now: WallTime) -> RenditionSummary {
        let role: RenditionSummary.Role =
            switch rendition.role {
            case .media, .audio: .media
            case .subtitles: .subtitles
            case .keyframes: .keyframes
            }
        let address = run.history.rendition(rendition.name)?.current?.url ?? run.history.manifest?.url ?? url
        var summary = RenditionSummary(rendition: rendition.name, url: address, role: role)
        let segments = rendition.segments
        if !rendition.isLive, segments.isComplete { summary.duration = segments.end }
        summary.targetDuration = segments.targetDuration
        guard let first = segments.first(where: { !$0.isGap }) else {
            summary.emptiness = emptiness(of: segments, at: now)
            return summary
        }
        if let availability = first.availability, availability > now {
            let begin = run.history.manifest?.beginning ?? now
            summary.emptiness = .notBegun(
                begin > now
                    ? "a presentation that begins at \(begin.rfc3339)"
                    : "a presentation whose first segment is available at \(availability.rfc3339)"
            )
        }
        return summary
    }

    /// Why there is no segment with media.
    private func emptiness(of segments: SegmentIndex, at now: WallTime) -> RenditionSummary.Emptiness {
        if !segments.isEmpty {
            return RenditionSummary.Emptiness(
                found: "a list of \(segments.count) segments that are all gaps",
                advice: "Check the encoder's input and the transfer to the packager."
            )
        }
        guard let manifest = run.history.manifest else {
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
