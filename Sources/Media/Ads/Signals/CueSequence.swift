internal import Instrument
internal import InstrumentManifests
internal import InstrumentText

/// The legacy tags of a playlist in order: which break is open, and what contradicts.
struct CueSequence {
    /// Differences of durations up to this many nanoseconds are usual: breaks begin and end at segments.
    static let tolerance: Int64 = 1_000_000_000

    private struct Open {
        var position: Int64
        var duration: Int64?
        var line: Int
        var segment: Int64
        /// The segments after the first of the break that a CUE-OUT-CONT stands before.
        var continued: Set<Int64> = []
    }

    private let rule = "legacy HLS cue tags"
    private let playlist: HLSMediaPlaylist
    private var open: Open?
    /// Whether a cue was seen: the first cue of a live playlist may continue a break that began before the window.
    private var hasCue = false

    init(_ playlist: HLSMediaPlaylist) { self.playlist = playlist }

    private var isWindow: Bool { !playlist.hasEnded && playlist.mediaSequence > 0 }

    mutating func add(_ tag: HLSAdTag, to signals: inout AdSignals) {
        switch tag.kind {
        case .cueOut: begin(tag, &signals)
        case .cueOutContinue: proceed(tag, &signals)
        case .cueIn: end(tag, &signals)
        case .oatcls: addSection(tag, tag.value, .oatcls, &signals)
        case .splicePoint: addSection(tag, tag.value, .splicePoint, &signals)
        case .scte35:
            guard let cue = tag.attribute("CUE") else {
                signals.warn(rule, "EXT-X-SCTE35 must have a `CUE`", line: tag.line)
                return
            }
            addSection(tag, cue, .scte35Tag, &signals)
        }
    }

    private func addSection(_ tag: HLSAdTag, _ text: String, _ source: AdSignal.Source, _ signals: inout AdSignals) {
        guard let section = signals.section(text, source, line: tag.line) else { return }
        for var signal in AdSignal.all(source, section) {
            (signal.position, signal.line) = (tag.position, tag.line)
            signals.signals.append(signal)
        }
    }

    private mutating func begin(_ tag: HLSAdTag, _ signals: inout AdSignals) {
        if let open {
            signals.warn(
                rule,
                "EXT-X-CUE-OUT follows the EXT-X-CUE-OUT of line \(open.line) without EXT-X-CUE-IN",
                line: tag.line
            )
        }
        let text = tag.attribute("DURATION") ?? tag.value
        var signal = AdSignal(.cueOut, .breakBegin)
        signal.duration = tag.nanoseconds(text)
        if signal.duration == nil, !tag.value.isEmpty, tag.attribute("ID") == nil, tag.attribute("CAID") == nil {
            signals.warn(rule, "the duration of EXT-X-CUE-OUT must be a number of seconds", line: tag.line)
        }
        (signal.position, signal.line, signal.id) = (tag.position, tag.line, tag.attribute("ID"))
        signals.signals.append(signal)
        open = Open(position: tag.position, duration: signal.duration, line: tag.line, segment: tag.segment)
        hasCue = true
    }

    private mutating func proceed(_ tag: HLSAdTag, _ signals: inout AdSignals) {
        let (elapsed, duration) = tag.progress
        var signal = AdSignal(.cueOutContinue, .breakContinue(elapsed: elapsed))
        if let text = tag.attribute("SCTE35"), let section = signals.section(text, .cueOutContinue, line: tag.line) {
            signal.section = section
        }
        (signal.position, signal.line, signal.duration) = (tag.position, tag.line, duration)
        signals.signals.append(signal)
        if open == nil {
            if hasCue || !isWindow {
                signals.warn(rule, "EXT-X-CUE-OUT-CONT follows no EXT-X-CUE-OUT", line: tag.line)
            }
            let start = tag.position.saturatingSubtract(elapsed ?? 0)
            open = Open(position: start, duration: duration, line: tag.line, segment: tag.segment)
        } else {
            check(tag, elapsed, duration, &signals)
        }
        open?.continued.insert(tag.segment)
        hasCue = true
    }

    private func check(_ tag: HLSAdTag, _ elapsed: Int64?, _ duration: Int64?, _ signals: inout AdSignals) {
        guard let open else { return }
        let passed = tag.position.saturatingSubtract(open.position)
        if let elapsed, elapsed.saturatingSubtract(passed).magnitude > Self.tolerance {
            let message = "EXT-X-CUE-OUT-CONT states \(Self.text(elapsed)) elapsed (\(Self.text(passed)) have)"
            signals.warn(rule, message, line: tag.line)
        }
        if let duration, let announced = open.duration,
            duration.saturatingSubtract(announced).magnitude > Self.tolerance
        {
            let message =
                "EXT-X-CUE-OUT-CONT states a duration of \(Self.text(duration)), EXT-X-CUE-OUT \(Self.text(announced))"
            signals.warn(rule, message, line: tag.line)
        }
    }

    private mutating func end(_ tag: HLSAdTag, _ signals: inout AdSignals) {
        var signal = AdSignal(.cueIn, .breakEnd)
        (signal.position, signal.line) = (tag.position, tag.line)
        signals.signals.append(signal)
        defer { (open, hasCue) = (nil, true) }
        guard let open else {
            if hasCue || !isWindow { signals.warn(rule, "EXT-X-CUE-IN follows no EXT-X-CUE-OUT", line: tag.line) }
            return
        }
        let actual = tag.position.saturatingSubtract(open.position)
        if let announced = open.duration, actual.saturatingSubtract(announced).magnitude > Self.tolerance {
            let message = "the break ends after \(Self.text(actual)); EXT-X-CUE-OUT announces \(Self.text(announced))"
            signals.warn(rule, message, line: tag.line)
        }
        checkContinuation(open, upTo: tag.segment, &signals)
    }

    /// Every segment of a break but the first should carry EXT-X-CUE-OUT-CONT, for players that join there.
    private func checkContinuation(_ open: Open, upTo end: Int64, _ signals: inout AdSignals) {
        let missing = end.saturatingSubtract(open.segment).saturatingSubtract(1)
            .saturatingSubtract(Int64(open.continued.subtracting([open.segment]).count))
        guard missing > 0 else { return }
        let message =
            "\(missing) segments of the break have no EXT-X-CUE-OUT-CONT; players that join there miss the break"
        signals.warn(rule, message, line: open.line)
    }

    mutating func finish(_ signals: inout AdSignals) {
        guard let open, playlist.hasEnded else { return }
        // A break up to the end of the content needs no EXT-X-CUE-IN.
        if let duration = open.duration, open.position.saturatingAdd(duration) >= playlist.duration - Self.tolerance {
            return
        }
        signals.warn(rule, "EXT-X-CUE-OUT has no EXT-X-CUE-IN", line: open.line)
    }

    static func text(_ nanoseconds: Int64) -> String {
        let milliseconds = nanoseconds / 1_000_000
        return "\(milliseconds.decimal(places: 3)) s"
    }
}
