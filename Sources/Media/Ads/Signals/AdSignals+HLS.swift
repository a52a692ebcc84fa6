internal import Instrument
package import InstrumentManifests
internal import InstrumentText

extension AdSignals {
    /// Reads the signals of a media playlist: date ranges and the legacy tags.
    ///
    /// Positions are those of the playlist's own timeline, from its first segment. Of a live playlist, signals whose
    /// begin has left the window are no defect.
    package init(_ playlist: HLSMediaPlaylist) {
        let clock = PlaylistClock(playlist)
        let judgedRanges = addDateRanges(playlist, clock)
        var cues = CueSequence(playlist)
        for tag in playlist.adTags { cues.add(tag, to: &self) }
        cues.finish(&self)
        let judgedTags = checkTags(playlist)
        signals = signals.enumerated().sorted { left, right in
            (left.element.position ?? .max, left.offset) < (right.element.position ?? .max, right.offset)
        }.map(\.element)
        checkIdentifiers { signal in
            judgedTags.contains(signal.source)
                || signal.source == .dateRange && signal.id.map(judgedRanges.contains) ?? false
        }
    }

    /// Checks the tags that carry sections alone. Where a playlist has EXT-X-CUE-OUT and EXT-X-CUE-IN as well, those
    /// mark the breaks.
    /// - Returns: the carriers whose ends are judged.
    private mutating func checkTags(_ playlist: HLSMediaPlaylist) -> Set<AdSignal.Source> {
        let carriers: Set<AdSignal.Source> = [.oatcls, .scte35Tag, .splicePoint]
        guard !signals.contains(where: { [.cueOut, .cueIn].contains($0.source) }) else { return [] }
        checkBreaks(signals.filter { carriers.contains($0.source) }, of: playlist)
        return carriers
    }

    private mutating func checkBreaks(_ found: [AdSignal], of playlist: HLSMediaPlaylist) {
        let isWindow = !playlist.hasEnded
        checkBreaks(found, upTo: isWindow ? nil : playlist.duration, mayHaveBegun: isWindow)
    }

    /// Adds the signals of date ranges.
    /// - Returns: the identifiers of the ranges whose ends are judged.
    private mutating func addDateRanges(_ playlist: HLSMediaPlaylist, _ clock: PlaylistClock) -> Set<String> {
        let rule = "RFC 8216bis, section 4.4.5.1"
        var (judged, commands): (Set<String>, [AdSignal]) = ([], [])
        for range in playlist.dateRanges where range.hasSpliceInformation {
            guard range.contradiction == nil else {
                let name = range.contradiction ?? ""
                warn(rule, "the tags of one date range contradict each other in `\(name)`", line: range.line)
                continue
            }
            for var command in add(range, "SCTE35-CMD", at: range.start, clock) {
                // The begin and the end of a break are two date ranges, and one event of the splice.
                command.id = command.event.map { String($0) }
                commands.append(command)
                judged.insert(range.id)
            }
            let begin = add(range, "SCTE35-OUT", at: range.start, clock, as: .breakBegin).first
            let end = range.end ?? range.duration.map { range.start.advanced(nanoseconds: $0) } ?? range.start
            add(range, "SCTE35-IN", at: end, clock, as: .breakEnd)
            // The tag of the begin leaves a live window before the tag of the end.
            let hasLeft = !playlist.hasEnded && clock.position(of: range.start) ?? 0 < 0
            if !hasLeft, check(range, begin, rule, isOpenAllowed: !playlist.hasEnded) { judged.insert(range.id) }
        }
        checkBreaks(commands, of: playlist)
        return judged
    }

    /// Adds the signals of an attribute.
    /// - Parameter kind: the meaning of the attribute; nil where the section decides.
    @discardableResult
    private mutating func add(
        _ range: DateRange,
        _ attribute: String,
        at date: WallTime,
        _ clock: PlaylistClock,
        as kind: AdSignal.Kind? = nil
    ) -> [AdSignal] {
        guard let text = range.attributes[attribute],
            let section = section(text, .dateRange, line: range.line)
        else { return [] }
        if !clock.hasDates {
            warn(
                "RFC 8216bis, section 4.4.5.1",
                "a date range needs `EXT-X-PROGRAM-DATE-TIME` in the playlist; its signal has no position",
                line: range.line
            )
        }
        let found = kind == nil ? AdSignal.all(.dateRange, section) : [AdSignal(.dateRange, section)]
        let added = found.map { found in
            var signal = found
            (signal.kind, signal.id) = (kind ?? found.kind, range.id)
            (signal.date, signal.position, signal.line) = (date, clock.position(of: date), range.line)
            signal.duration = signal.kind == .breakEnd ? nil : range.duration ?? signal.duration
            return signal
        }
        signals += added
        return added
    }

    /// Checks a range that begins or ends a break.
    /// - Returns: whether the end was found to be an orphan.
    private mutating func check(
        _ range: DateRange,
        _ begin: AdSignal?,
        _ rule: String,
        isOpenAllowed: Bool
    ) -> Bool {
        guard let begin else {
            let isOrphan = range.attributes["SCTE35-IN"] != nil && range.attributes["SCTE35-OUT"] == nil
            if isOrphan { warn(rule, "a date range has SCTE35-IN and no SCTE35-OUT", line: range.line) }
            return isOrphan
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
        return false
    }

    /// Begins of breaks must have identifiers that rise, and an end the identifier of its begin.
    /// - Parameter isJudged: whether the end of a signal is checked elsewhere, so that one defect gives one warning.
    private mutating func checkIdentifiers(except isJudged: (AdSignal) -> Bool) {
        // Placements and the ads in them may count apart.
        var (latest, open): ([UInt8: UInt32], UInt32?) = ([:], nil)
        for signal in signals {
            guard let identifier = signal.event else { continue }
            switch signal.kind {
            case .breakBegin:
                if let latest = latest[signal.breakKind], identifier < latest {
                    warn("SCTE 35, section 9.7.3", "event \(identifier) follows event \(latest)", line: signal.line)
                }
                (latest[signal.breakKind], open) = (identifier, identifier)
            case .breakEnd:
                if let begin = open, begin != identifier, !isJudged(signal) {
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
    /// All segments, which have dates; or none. A copy would double the memory of a long playlist.
    private let segments: [MediaSegment]

    /// The parser gives each segment a date if one of them declares a date.
    init(_ playlist: HLSMediaPlaylist) {
        segments = playlist.segments.first?.wallTime == nil ? [] : playlist.segments
    }

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
