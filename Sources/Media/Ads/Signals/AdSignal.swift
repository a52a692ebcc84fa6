package import Instrument

/// A signal of a stream: the begin or the end of an ad break, or another event.
///
/// Signals come from HLS playlists, DASH manifests, event message boxes and transport streams; ``AdSignals`` reads
/// them.
package struct AdSignal: Hashable, Sendable {
    /// The carrier of a signal; an open set.
    package struct Source: RawRepresentable, Hashable, Sendable {
        /// The name.
        package var rawValue: String
        /// Creates a source.
        package init(rawValue: String) { self.rawValue = rawValue }

        /// `EXT-X-DATERANGE` with an SCTE-35 attribute.
        package static let dateRange = Source(rawValue: "EXT-X-DATERANGE")
        /// `EXT-X-CUE-OUT`.
        package static let cueOut = Source(rawValue: "EXT-X-CUE-OUT")
        /// `EXT-X-CUE-OUT-CONT`.
        package static let cueOutContinue = Source(rawValue: "EXT-X-CUE-OUT-CONT")
        /// `EXT-X-CUE-IN`.
        package static let cueIn = Source(rawValue: "EXT-X-CUE-IN")
        /// `EXT-OATCLS-SCTE35`.
        package static let oatcls = Source(rawValue: "EXT-OATCLS-SCTE35")
        /// `EXT-X-SCTE35`.
        package static let scte35Tag = Source(rawValue: "EXT-X-SCTE35")
        /// `EXT-X-SPLICEPOINT-SCTE35`.
        package static let splicePoint = Source(rawValue: "EXT-X-SPLICEPOINT-SCTE35")
        /// `EventStream` of a DASH manifest.
        package static let eventStream = Source(rawValue: "EventStream")
        /// An `emsg` box.
        package static let eventMessage = Source(rawValue: "emsg")
        /// A stream of type 0x86 in a transport stream.
        package static let transportStream = Source(rawValue: "stream type 0x86")
    }

    /// The meaning of a signal.
    package enum Kind: Hashable, Sendable {
        /// An ad break begins.
        case breakBegin
        /// An ad break runs since a time, in nanoseconds.
        case breakContinue(elapsed: Int64?)
        /// An ad break ends.
        case breakEnd
        /// Another event, such as the start of a program.
        case other

        /// The name in events and lists.
        package var name: String {
            switch self {
            case .breakBegin: "breakBegin"
            case .breakContinue: "breakContinue"
            case .breakEnd: "breakEnd"
            case .other: "other"
            }
        }
    }

    /// The carrier.
    package var source: Source
    /// The meaning.
    package var kind: Kind
    /// The identifier: of the date range, of the event, or of the splice; nil if the signal has none.
    package var id: String?
    /// The position on the presentation timeline, in nanoseconds; nil if unknown.
    package var position: Int64?
    /// The calendar time; nil if unknown.
    package var date: WallTime?
    /// The duration of the break, in nanoseconds; nil if unknown.
    package var duration: Int64?
    /// The decoded section; nil if the signal carries none, or a malformed one.
    package var section: SpliceInfoSection?
    /// The line of the manifest; nil for other carriers.
    package var line: Int?

    /// The event of the splice that the signal stands for; nil for a signal without section.
    package var event: UInt32?
    /// The type of the segmentation that the signal stands for; nil for a splice.
    var segmentationType: SegmentationType?

    /// Creates a signal.
    package init(_ source: Source, _ kind: Kind) { (self.source, self.kind) = (source, kind) }

    /// Creates the signal of a section: of the segmentation that decides where the section has several.
    init(_ source: Source, _ section: SpliceInfoSection) {
        self.init(source, section.signalKind)
        self.section = section
        duration = section.breakDuration
        event = section.eventID
        id = event.map { String($0) }
        if case .timeSignal = section.command { segmentationType = section.decisive?.type }
    }

    /// The signals of a section: one for each segmentation about ads, because one section can end an ad and begin the
    /// next one; else one. Ends come first.
    static func all(_ source: Source, _ section: SpliceInfoSection) -> [AdSignal] {
        let one = AdSignal(source, section)
        guard case .timeSignal = section.command else { return [one] }
        let segmentations = section.segmentations.filter { $0.type.isAdvertising && !$0.isCancelled }
        guard segmentations.count > 1 else { return [one] }
        let signals = segmentations.map { segmentation in
            var signal = one
            signal.kind = segmentation.type.isStart ? .breakBegin : .breakEnd
            (signal.event, signal.id) = (segmentation.eventID, String(segmentation.eventID))
            (signal.segmentationType, signal.duration) = (segmentation.type, segmentation.duration?.nanoseconds)
            return signal
        }
        return signals.endsFirst
    }
}

/// The signals of a manifest or a box, in their order, and what is wrong with them.
package struct AdSignals: Hashable, Sendable {
    /// The signals by position; signals without a position come last.
    package var signals: [AdSignal] = []
    /// Malformed sections, orphaned and contradictory signals.
    package var findings: [AdFinding] = []

    /// The largest number of findings that are kept.
    static let mostFindings = 200

    /// Creates an empty list.
    package init() {}

    mutating func warn(_ rule: String, _ message: String, line: Int? = nil, path: String = "") {
        guard findings.count < Self.mostFindings else { return }
        findings.append(AdFinding(.warning, rule: rule, path: path, message: message, line: line))
    }

    /// Decodes a section of a manifest; nil, with a finding, if the section is malformed.
    mutating func section(_ text: String, _ source: AdSignal.Source, line: Int?) -> SpliceInfoSection? {
        do throws(SpliceError) {
            let section = try SpliceInfoSection(ofManifest: text)
            if !section.isChecksumValid { add(section.findings.suffix(1), source, line) }
            return section
        } catch {
            guard findings.count < Self.mostFindings else { return nil }
            findings.append(
                AdFinding(
                    .error,
                    rule: "SCTE 35, section 9.6",
                    path: source.rawValue,
                    message: error.description,
                    line: line
                )
            )
            return nil
        }
    }
}

extension AdSignals {
    /// Adds the findings of a section, at its place.
    mutating func add(_ found: some Sequence<AdFinding>, _ source: AdSignal.Source, _ line: Int?) {
        for finding in found where findings.count < Self.mostFindings {
            var finding = finding
            (finding.path, finding.line) = (source.rawValue, line)
            findings.append(finding)
        }
    }

    /// Checks signals of one carrier in the order of their positions.
    mutating func checkBreaks(_ found: [AdSignal], upTo end: Int64?, mayHaveBegun: Bool) {
        var sequence = BreakSequence(mayHaveBegun: mayHaveBegun)
        let ordered = found.enumerated().sorted { left, right in
            (left.element.position ?? .max, left.offset) < (right.element.position ?? .max, right.offset)
        }
        for (_, signal) in ordered { sequence.take(signal, to: &self) }
        if let end { sequence.finish(at: end, &self) }
    }

    /// Checks these signals as the next ones of a stream.
    package mutating func check(_ sequence: inout BreakSequence) {
        for signal in signals { sequence.take(signal, to: &self) }
    }

    /// Reads the signals of an event message. Messages of other schemes give no signal.
    package init(_ message: EventMessage, segmentStart: Int64) {
        guard message.scheme == EventMessage.spliceScheme else { return }
        do throws(SpliceError) {
            signals = AdSignal.all(.eventMessage, try SpliceInfoSection(bytes: message.data)).map { found in
                var signal = found
                signal.position = message.position(segmentStart: segmentStart)
                signal.duration = message.nanosecondsOfDuration ?? signal.duration
                return signal
            }
        } catch {
            findings = [AdFinding(.error, rule: "SCTE 214-3, section 7", path: "emsg", message: error.description)]
        }
    }

    /// Decodes sections of a transport stream. Their positions are unknown: times of a section are those of the
    /// stream's clock.
    package init(transportStreamSections sections: [[UInt8]]) {
        for bytes in sections {
            do throws(SpliceError) {
                signals += AdSignal.all(.transportStream, try SpliceInfoSection(bytes: bytes))
            } catch {
                guard findings.count < Self.mostFindings else { continue }
                findings.append(
                    AdFinding(
                        .error,
                        rule: "SCTE 35, section 9.6",
                        path: "stream type 0x86",
                        message: error.description
                    )
                )
            }
        }
    }
}

extension [AdSignal] {
    /// The signals of one instant in an order that fits: a break ends before the next one begins.
    var endsFirst: [AdSignal] { filter { $0.kind == .breakEnd } + filter { $0.kind != .breakEnd } }
}
