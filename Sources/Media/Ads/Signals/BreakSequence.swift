internal import Instrument

/// Follows the breaks that sections of splice information begin and end, in the order of the stream, and finds orphans:
/// an end without a begin, and a begin without an end.
///
/// A break is known by the identifier of its event, and several may be open at a time: an ad in a placement
/// opportunity. A begin that is repeated, as splice commands are before their time, and an end that is repeated, count
/// once. A break ends
/// - with the signal of its end, also where that signal has a wrong identifier and a break of its kind is open,
/// - at its planned duration, if it returns by itself (`auto_return`), or if its carrier states the duration (an event
///   of an MPD, a segmentation),
/// - as an orphan at its planned duration if a splice has announced its own end, and as an orphan at the next break of
///   its kind if it has no duration.
package struct BreakSequence: Hashable, Sendable {
    private struct Open: Hashable {
        var position: Int64
        /// Where the break ends at the latest; nil if it has no duration.
        var end: Int64?
        /// Whether the break needs no signal of its end.
        var endsItself: Bool
        /// What kind of break: 0 for a splice, else the type of the segmentation that begins it.
        var kind: UInt8
        var line: Int?
    }

    /// Breaks that are open at a time, and ends that are remembered.
    private static let most = 64
    private static let rule = "SCTE 35, section 9.7.3"

    private var open: [String: Open] = [:]
    private var ended: [String] = []
    /// Whether an end may belong to a break that began before the first signal.
    private var mayHaveBegun: Bool
    /// The kinds of the breaks that began since the first signal: an end of these kinds has a known begin.
    private var begunKinds: Set<UInt8> = []

    /// - Parameter mayHaveBegun: whether the playback may join a break in its middle.
    package init(mayHaveBegun: Bool) { self.mayHaveBegun = mayHaveBegun }

    /// Takes the next signal, and adds what is wrong to the findings.
    mutating func take(_ signal: AdSignal, to signals: inout AdSignals) {
        guard let position = signal.position, let id = signal.id else { return }
        endOverdue(at: position, &signals)
        switch signal.kind {
        case .breakBegin: begin(signal, id, position, &signals)
        case .breakEnd: end(signal, id, position, &signals)
        case .breakContinue, .other: break
        }
    }

    /// Ends the breaks that are still open at the end of the stream.
    mutating func finish(at position: Int64, _ signals: inout AdSignals) {
        endOverdue(at: position.saturatingAdd(CueSequence.tolerance), &signals)
        for (id, left) in open.sorted(by: { $0.value.position < $1.value.position }) where left.end == nil {
            orphan(id, left, "the stream ends before the break", &signals)
        }
        open = [:]
    }

    /// The playhead or the stream jumped: breaks may have begun and ended in between.
    package mutating func jump() { (open, ended, mayHaveBegun, begunKinds) = ([:], [], true, []) }

    private mutating func begin(_ signal: AdSignal, _ id: String, _ position: Int64, _ signals: inout AdSignals) {
        guard open[id] == nil else { return }
        ended.removeAll { $0 == id }
        let kind = signal.breakKind
        begunKinds.insert(kind)
        for (other, left) in open where left.kind == kind && left.end == nil {
            orphan(other, left, "event \(id) begins another one", &signals)
            open[other] = nil
        }
        guard open.count < Self.most else { return }
        open[id] = Open(
            position: position,
            end: signal.duration.map { position.saturatingAdd($0) },
            endsItself: signal.statesItsEnd || signal.section?.announcesEnd != true,
            kind: kind,
            line: signal.line
        )
    }

    private mutating func end(_ signal: AdSignal, _ id: String, _ position: Int64, _ signals: inout AdSignals) {
        guard let begun = open.removeValue(forKey: id) else { return endUnknown(signal, id, &signals) }
        remember(id)
        guard let planned = begun.end, planned.saturatingSubtract(position).magnitude > CueSequence.tolerance else {
            return
        }
        let actual = position.saturatingSubtract(begun.position)
        let announced = planned.saturatingSubtract(begun.position)
        let times = "\(CueSequence.text(actual)); its begin announces \(CueSequence.text(announced))"
        signals.warn(Self.rule, "the break of event \(id) ends after \(times)", line: signal.line)
    }

    /// An end whose identifier no open break has: a repetition, the end of an open break of its kind under a wrong
    /// identifier, or an orphan.
    private mutating func endUnknown(_ signal: AdSignal, _ id: String, _ signals: inout AdSignals) {
        guard !ended.contains(id) else { return }
        remember(id)
        let kind = signal.breakKind
        let candidates = open.filter { $0.value.kind == kind }
        if let other = candidates.max(by: { ($0.value.position, $0.key) < ($1.value.position, $1.key) })?.key {
            signals.warn(Self.rule, "event \(id) ends a break that event \(other) began", line: signal.line)
            open[other] = nil
            remember(other)
        } else if !mayHaveBegun || begunKinds.contains(kind) {
            signals.warn(Self.rule, "event \(id) ends a break that did not begin", line: signal.line)
        }
    }

    private mutating func remember(_ id: String) {
        ended.append(id)
        if ended.count > Self.most { ended.removeFirst() }
    }

    /// Ends the breaks whose planned end has passed.
    private mutating func endOverdue(at position: Int64, _ signals: inout AdSignals) {
        for (id, left) in open {
            guard let end = left.end, position.saturatingSubtract(end) > CueSequence.tolerance else { continue }
            if !left.endsItself { orphan(id, left, "it ends at its planned duration", &signals) }
            open[id] = nil
            remember(id)
        }
    }

    private func orphan(_ id: String, _ left: Open, _ end: String, _ signals: inout AdSignals) {
        signals.warn(Self.rule, "the break of event \(id) has no signal of its end: \(end)", line: left.line)
    }
}

extension AdSignal {
    /// The kind of break: 0 for a splice, else the type of the segmentation that begins it. Types come in pairs, of
    /// which the even one is the begin (SCTE 35, table 23).
    var breakKind: UInt8 { (segmentationType?.rawValue ?? 0) & ~1 }

    /// Whether the carrier itself says when the break ends: an event of an MPD, or a date range with its duration.
    fileprivate var statesItsEnd: Bool { source == .eventStream || source == .dateRange && duration != nil }
}
