internal import Instrument
public import InstrumentManifests
internal import InstrumentText

extension AdSignals {
    /// Reads the signals of a media playlist: date ranges and the legacy tags.
    ///
    /// Positions are those of the playlist's own timeline, from its first segment. Of a live playlist, signals whose
    /// begin has left the window are no defect.
    public init(_ playlist: HLSMediaPlaylist) {
        let clock = PlaylistClock(playlist)
        addDateRanges(playlist, clock)
        var cues = CueSequence(playlist)
        for tag in playlist.adTags { cues.add(tag, to: &self) }
        cues.finish(&self)
        checkTags(playlist)
        signals = signals.enumerated().sorted { left, right in
            (left.element.position ?? .max, left.offset) < (right.element.position ?? .max, right.offset)
        }.map(\.element)
        checkIdentifiers()
    }

    /// Checks the tags that carry sections alone. Where a playlist has EXT-X-CUE-OUT and EXT-X-CUE-IN as well, those
    /// mark the breaks.
    private mutating func checkTags(_ playlist: HLSMediaPlaylist) {
        let carriers: Set<AdSignal.Source> = [.oatcls, .scte35Tag, .splicePoint]
        guard !signals.contains(where: { [.cueOut, .cueIn].contains($0.source) }) else { return }
        let isWindow = !playlist.hasEnded
        checkBreaks(
            signals.filter { carriers.contains($0.source) },
            upTo: isWindow ? nil : playlist.duration,
            mayHaveBegun: isWindow
        )
    }

    private mutating func addDateRanges(_ playlist: HLSMediaPlaylist, _ clock: PlaylistClock) {
        let rule = "RFC 8216bis, section 4.4.5.1"
        for range in playlist.dateRanges where range.hasSpliceInformation {
            guard range.contradiction == nil else {
                let name = range.contradiction ?? ""
                warn(rule, "the tags of one date range contradict each other in `\(name)`", line: range.line)
                continue
            }
            add(range, "SCTE35-CMD", at: range.start, clock) { $0.signalKind }
            let begin = add(range, "SCTE35-OUT", at: range.start, clock) { _ in .breakBegin }
            let end = range.end ?? range.duration.map { range.start.advanced(nanoseconds: $0) } ?? range.start
            add(range, "SCTE35-IN", at: end, clock) { _ in .breakEnd }
            check(range, begin, rule, isOpenAllowed: !playlist.hasEnded)
        }
    }

    @discardableResult
    private mutating func add(
        _ range: DateRange,
        _ attribute: String,
        at date: WallTime,
        _ clock: PlaylistClock,
        _ kind: (SpliceInfoSection) -> AdSignal.Kind
    ) -> AdSignal? {
        guard let text = range.attributes[attribute],
            let section = section(text, .dateRange, line: range.line)
        else { return nil }
        var signal = AdSignal(.dateRange, section)
        signal.kind = kind(section)
        signal.id = range.id
        (signal.date, signal.position, signal.line) = (date, clock.position(of: date), range.line)
        if !clock.hasDates {
            warn(
                "RFC 8216bis, section 4.4.5.1",
                "a date range needs `EXT-X-PROGRAM-DATE-TIME` in the playlist; its signal has no position",
                line: range.line
            )
        }
        signal.duration = signal.kind == .breakEnd ? nil : range.duration ?? signal.duration
        signals.append(signal)
        return signal
    }

    private mutating func check(_ range: DateRange, _ begin: AdSignal?, _ rule: String, isOpenAllowed: Bool) {
        guard let begin else {
            if range.attributes["SCTE35-IN"] != nil, range.attributes["SCTE35-OUT"] == nil {
                warn(rule, "a date range has SCTE35-IN and no SCTE35-OUT", line: range.line)
            }
            return
        }
        let declared = range.actualDuration
        if range.attributes["SCTE35-IN"] == nil, declared == nil, !isOpenAllowed {
            warn(rule, "a break begins with SCTE35-OUT and never ends", line: range.line)
        }
        if let declared, let announced = begin.section?.breakDuration,
            declared.saturatingSubtract(announced).magnitude > CueSequence.tolerance
        {
            let times =
                "\(CueSequence.text(announced)) in SCTE35-OUT and \(CueSequence.text(declared)) in the date range"
            warn(rule, "the durations of a break disagree: \(times)", line: range.line)
        }
    }

    /// Begins of breaks must have identifiers that rise, and an end the identifier of its begin.
    private mutating func checkIdentifiers() {
        var (latest, open): (UInt32?, UInt32?)
        for signal in signals {
            guard let identifier = signal.section?.eventID else { continue }
            switch signal.kind {
            case .breakBegin:
                if let latest, identifier < latest {
                    warn("SCTE 35, section 9.7.3", "event \(identifier) follows event \(latest)", line: signal.line)
                }
                (latest, open) = (identifier, identifier)
            case .breakEnd:
                if let begin = open, begin != identifier {
                    let message = "event \(identifier) ends a break that event \(begin) began"
                    warn("SCTE 35, section 9.7.3", message, line: signal.line)
                }
                open = nil
            default: break
            }
        }
    }
}

/// Converts calendar times to positions of a playlist by its programme dates.
struct PlaylistClock {
    private let segments: [MediaSegment]

    init(_ playlist: HLSMediaPlaylist) { segments = playlist.segments.filter { $0.wallTime != nil } }

    /// Whether the playlist has programme dates.
    var hasDates: Bool { !segments.isEmpty }

    /// The position of a date, in nanoseconds from the first segment; nil without programme dates. A date before the
    /// first segment has a negative position.
    func position(of date: WallTime) -> Int64? {
        guard let first = segments.first else { return nil }
        // The last segment that begins at the date or before; dates of a playlist rise.
        let later = segments.partitioningIndex { $0.wallTime.map { $0 > date } ?? true }
        let segment = later > 0 ? segments[later - 1] : first
        return segment.wallTime.map { segment.start.saturatingAdd(date.nanoseconds(since: $0)) }
    }
}
