internal import Instrument
internal import InstrumentCMCD

/// The playbacks of contents, for the reports of their ads: an ad's report has the session and the content of the
/// playback that the ad interrupts (CTA-5004-B, Table 1: a session comprises primary and interstitial content), and all
/// reports of a playback the session of its requests, if these carry reports.
///
/// Also tells which media was the first one: the start delay ends with the first frame of any media, be it an ad's. A
/// content whose beginning an earlier process sent is not known; the reports of its ads keep the session of their
/// sender.
struct ContentSessions: Hashable {
    private static let maxCount = 10_000

    private struct Content: Hashable {
        let playback: String
        /// `sid`: that of the playback's requests, otherwise the playback.
        var session: String
        var contentID: CMCDValue?
        var requested: MonotonicInstant?
        /// Whether a frame of the content or of an ad was shown.
        var hasMedia = false
        var lastUse: UInt64
    }

    /// By the sender of the content.
    private var contents: [String: Content] = [:]
    private var uses: UInt64 = 0

    /// Notes a sample, and completes its report.
    mutating func take(_ sample: Sample, _ report: inout CMCDReport?) {
        guard case .event(let event) = sample, let sender = event[.senderId] else { return }
        if let content = event[.contentSenderId] {
            takeAd(event, of: content, sender: sender, &report)
        } else if let playback = event[.playbackId] {
            takeContent(event, sender, playback, &report)
        }
    }

    private mutating func takeContent(
        _ event: Event,
        _ sender: String,
        _ playback: String,
        _ report: inout CMCDReport?
    ) {
        uses += 1
        var content = contents[sender] ?? Content(playback: playback, session: playback, lastUse: uses)
        if content.playback != playback { content = Content(playback: playback, session: playback, lastUse: uses) }
        content.lastUse = uses
        if let session = event[.requestSession] { content.session = session }
        // Pings and responses do not come from the player.
        if report?[.sessionID] == .string(playback) { report?[.sessionID] = .string(content.session) }
        switch event.action {
        case .mediaRequest: content.requested = event.time.instant
        case .streamLoad: content.requested = content.requested ?? event.time.instant
        case .start:
            if content.hasMedia { report?[.startDelay] = nil }
            content.hasMedia = true
        default: break
        }
        if let known = report?[.contentID] { content.contentID = known }
        contents[sender] = content
        guard contents.count > Self.maxCount else { return }
        let limit = uses - UInt64(Self.maxCount / 2)
        contents = contents.filter { $0.value.lastUse > limit }
    }

    private mutating func takeAd(
        _ event: Event,
        of sender: String,
        sender own: String,
        _ report: inout CMCDReport?
    ) {
        guard var content = contents[sender] else { return }
        // A mapping of the app may have its own session.
        if report?[.sessionID] == .string(own) { report?[.sessionID] = .string(content.session) }
        if report?[.contentID] == nil { report?[.contentID] = content.contentID }
        guard event.action == .adBegin, !content.hasMedia else { return }
        content.hasMedia = true
        contents[sender] = content
        guard let requested = content.requested else { return }
        report?[.startDelay] = .integer(max(0, requested.milliseconds(to: event.time.instant)))
    }
}
