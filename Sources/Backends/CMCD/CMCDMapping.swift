public import Instrument
public import InstrumentCMCD

/// How samples become event reports. Change its parts, or pass a function of yours as the configuration's `mapping`.
///
/// | event | report |
/// |---|---|
/// | `StreamLoad` | `ps`, state `s` |
/// | `Start`, `BufferFinish`, `PauseFinish`, `SeekFinish` | `ps`, state `p` (`a` while paused); `Start` with `msd`, `BufferFinish` with `bsd` |
/// | `BufferBegin` during playback and not during a seek | `ps`, state `r`, with `bs` |
/// | `SeekBegin`, `PauseBegin` | `ps`, state `k`, `a` |
/// | `End`; `Stop` and `Next` | `ps`, state `e`; `q` |
/// | `Error` | `e` with `ec`; if it ended playback `ps`, state `f`, with `ec` |
/// | `QualityChangeUp`, `QualityChangeDown` | `bc` with `br` |
/// | `AdBreakBegin`, `AdBreakFinish`, `AdBegin`, `AdFinish`, `AdSkip` | `abs`, `abe`, `as`, `ae`, `sk` |
/// | `AppBackground`, `AppForeground` of a playback | `b` with `bg` |
/// | `Ping` of a content | `t` |
/// | `Action.mediaResponse` | `rr` with `url`, `rc`, `ttfb`, `ttlb`, `ot` |
///
/// Every report has `v`, `e`, `ts`, `sid` (that of the playback's requests, the playback, otherwise the sender), `cid`,
/// `pt`, `br`, `sf`, and `sta` where they are known; a report of a live stream has `st` and `ltc` and no `pt`. The
/// backend adds `sn`, and gives the reports of ads the `sid` and `cid` of their content; `msd` moves to the `as` of an
/// ad that comes before the content.
///
/// Not sent: all metrics, all other events, and every attribute without a key.
public struct CMCDMapping: Sendable {
    /// Returns the identifier of the content; nil leaves out `cid`. By default the source without its query; of more
    /// than 128 bytes the SHA-256 digest.
    public var contentID: @Sendable (Event) -> String?
    /// The attributes that are sent under custom keys, for example `["title": "com.example-title"]`. A label of a
    /// monitored stream has its name here: `["cdn": "com.example-cdn"]`.
    public var customKeys: [AttributeName: CMCDKey]

    /// Creates a mapping.
    public init(
        customKeys: [AttributeName: CMCDKey] = [:],
        contentID: @escaping @Sendable (Event) -> String? = { Self.source(of: $0) }
    ) {
        self.customKeys = customKeys
        self.contentID = contentID
    }

    /// The report of a sample, without its sequence number; nil for a sample that CMCD has no event for.
    public func callAsFunction(_ record: SampleRecord) -> CMCDReport? {
        guard case .event(let event) = record.sample, var report = specific(event) else { return nil }
        report[.version] = .integer(2)
        if report[.timestamp] == nil {
            report[.timestamp] = .integer(max(0, Int(clamping: event.time.wallTime.milliseconds)))
        }
        report[.sessionID] = Self.session(of: event).map { .string($0) }
        report[.contentID] = contentID(event).map { .string($0) }
        describePlayhead(event, in: &report)
        report[.streamingFormat] = Self.format(of: event).map { .token($0) }
        if report[.bitrate] == nil { report[.bitrate] = Self.bitrate(of: event) }
        if report[.state] == nil { report[.state] = Self.state(of: event).map { .token($0.rawValue) } }
        if !customKeys.isEmpty {
            let attributes = event.attributes.withFlatLabels
            for (name, key) in customKeys { report[key] = attributes[name].flatMap(Self.value) }
        }
        return report
    }

    /// The session of the requests if they carry reports, the playback, otherwise the sender.
    static func session(of event: Event) -> String? {
        event[.requestSession] ?? event[.playbackId] ?? event[.senderId]
    }

    /// The source without its query, or its digest.
    public static func source(of event: Event) -> String? {
        guard let source = event[.source] else { return nil }
        let plain = withoutQuery(source)
        return plain.utf8.count <= 128 ? plain : SHA256.hexadecimal(of: plain.utf8)
    }

    /// The address without query and fragment.
    private static func withoutQuery(_ address: String) -> String {
        let marks = (UInt8(ascii: "?"), UInt8(ascii: "#"))
        guard let end = address.utf8.firstIndex(where: { $0 == marks.0 || $0 == marks.1 }) else { return address }
        return String(address[..<end])
    }

    // MARK: Events

    private func specific(_ event: Event) -> CMCDReport? {
        switch event.action {
        case .streamLoad: return Self.change(to: .starting)
        case .start:
            var report = Self.change(to: .playing)
            let delay = event[Action.mediaRequest.timeKey] ?? event[Action.streamLoad.timeKey]
            report[.startDelay] = event[.joinedLate] == true ? nil : delay.map { .integer(max(0, $0)) }
            return report
        case .bufferBegin:
            guard event[.inPlaybackBlock] == true, event[.inSeekBlock] != true, event[.inPauseBlock] != true else {
                return nil
            }
            var report = Self.change(to: .rebuffering)
            report[.isStarved] = .boolean(true)
            return report
        case .bufferFinish:
            guard event[.inPlaybackBlock] == true, event[.inSeekBlock] != true else { return nil }
            var report = Self.change(to: event[.inPauseBlock] == true ? .paused : .playing)
            if event[.inPauseBlock] != true {
                report[.starvationDuration] = event[Action.bufferBegin.timeKey].map { .number(max(0, $0)) }
            }
            return report
        case .pauseFinish: return Self.change(to: .playing)
        case .seekFinish:
            guard event[.inPlaybackBlock] == true else { return nil }
            return Self.change(to: event[.inPauseBlock] == true ? .paused : .playing)
        case .seekBegin: return Self.change(to: .seeking)
        case .pauseBegin: return Self.change(to: .paused)
        case .end: return Self.change(to: .ended)
        case .stop, .next: return Self.change(to: .quit)
        default: return other(event)
        }
    }

    private func other(_ event: Event) -> CMCDReport? {
        switch event.action {
        case .error:
            var report = event[.isFatal] == true ? Self.change(to: .fatalError) : Self.report(.error)
            report[.errorCodes] = .strings([event[.errorDescription] ?? "unknown"])
            return report
        case .qualityChangeUp, .qualityChangeDown:
            guard let bitrate = Self.bitrate(of: event) else { return nil }
            var report = Self.report(.bitrateChange)
            report[.bitrate] = bitrate
            return report
        case .adBreakBegin: return Self.report(.adBreakStart)
        case .adBreakFinish: return Self.report(.adBreakEnd)
        case .adBegin: return Self.report(.adStart)
        case .adFinish: return Self.report(.adEnd)
        case .adSkip: return Self.report(.skip)
        case .ping: return event[.isAdsTracker] == true ? nil : Self.report(.timeInterval)
        case .mediaResponse: return Self.response(event)
        case Self.appBackground, Self.appForeground:
            guard event[.playbackId] != nil else { return nil }
            var report = Self.report(.backgrounded)
            report[.isBackgrounded] = .boolean(event.action == Self.appBackground)
            return report
        default: return nil
        }
    }

    private static let appBackground = Action("AppBackground")
    private static let appForeground = Action("AppForeground")

    private static func report(_ event: CMCDEvent) -> CMCDReport {
        var report = CMCDReport()
        report[.event] = .token(event.rawValue)
        return report
    }

    private static func change(to state: CMCDPlayerState) -> CMCDReport {
        var report = report(.playState)
        report[.state] = .token(state.rawValue)
        return report
    }

    private static func response(_ event: Event) -> CMCDReport? {
        guard let url = event[.responseURL] else { return nil }
        var report = report(.responseReceived)
        report[.url] = .string(url)
        report[.timestamp] = event[.requestStartTime].map { .integer(max(0, $0)) }
        // 0: no response was received (CTA-5004-B, Table 1).
        report[.responseCode] = .integer(event[.responseStatus] ?? 0)
        report[.timeToFirstByte] = event[.timeToFirstByte].map { .integer(max(0, $0.milliseconds)) }
        report[.timeToLastByte] = event[.timeToLastByte].map { .integer(max(0, $0.milliseconds)) }
        report[.objectType] = event[.responseObjectType].map { .token($0) }
        return report
    }

    // MARK: Keys of every event

    private static func state(of event: Event) -> CMCDPlayerState? {
        guard let isPlayback = event[.inPlaybackBlock] else { return nil }
        if !isPlayback { return nil }
        if event[.inSeekBlock] == true { return .seeking }
        if event[.inPauseBlock] == true { return .paused }
        return event[.inBufferBlock] == true ? .rebuffering : .playing
    }

    /// The playhead of a live stream is a calendar time (CTA-5004-B, Table 1), which events do not have: `pt` is left
    /// out, and the distance from the live edge is sent.
    private func describePlayhead(_ event: Event, in report: inout CMCDReport) {
        if let latency = event[.liveLatency] {
            report[.streamType] = .token("l")
            report[.liveLatency] = .integer(max(0, latency.milliseconds))
        } else {
            report[.playheadTime] = event[.position].map { .integer(max(0, $0.milliseconds)) }
        }
    }

    private static func bitrate(of event: Event) -> CMCDValue? {
        guard let bitrate = event[.bitrate], bitrate > 0 else { return nil }
        return .number(max(1, (bitrate.saturatingAdd(500)) / 1000))
    }

    private static func format(of event: Event) -> String? {
        guard let source = event[.source] else { return nil }
        // The longest of the endings below.
        let path = String(decoding: withoutQuery(source).utf8.suffix(9), as: UTF8.self).lowercased()
        if path.hasSuffix(".m3u8") { return "h" }
        if path.hasSuffix(".mpd") { return "d" }
        return path.hasSuffix("/manifest") ? "s" : nil
    }

    /// The value of a custom key, which must be a string or a token (CTA-5004-B, section 4.1, item 5).
    private static func value(_ value: AttributeValue) -> CMCDValue? {
        switch value {
        case .string(let text): .string(text)
        case .int(let number): .string("\(number)")
        case .double(let number): .string("\(number)")
        case .bool(let truth): .token(truth ? "true" : "false")
        case .array, .object: nil
        }
    }
}

/// The response to a request of a player, for reports of received responses. Emit it for each finished request; the
/// command line does so for the requests of its probes.
extension Action {
    /// A player received a response, or gave up waiting.
    public static let mediaResponse = Action("MediaResponse")
}

extension AttributeKey where Value == String {
    /// The address of a request, without credentials and query.
    public static var responseURL: Self { "responseUrl" }
    /// The type of the object, as CMCD names it: `m`, `v`, `a`, `av`, `i`, `k` …
    public static var responseObjectType: Self { "responseObjectType" }
}

extension AttributeKey where Value == Int {
    /// The status of the response; absent without an answer.
    public static var responseStatus: Self { "responseStatus" }
    /// The instant at which the request began, in milliseconds since 1970; without it the event's time counts.
    public static var requestStartTime: Self { "requestStartTime" }
}

extension AttributeKey where Value == Duration {
    /// From the request to the last byte. Whole milliseconds on the wire.
    public static var timeToLastByte: Self { "timeToLastByte" }
}
