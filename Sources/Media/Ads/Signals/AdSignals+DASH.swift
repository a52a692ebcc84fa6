internal import Instrument
package import InstrumentManifests
internal import InstrumentText
internal import InstrumentXML

extension AdSignals {
    /// The schemes of SCTE-35 in an MPD: SCTE 214-1, section 6.8.
    private static let xmlScheme = "urn:scte:scte35:2013:xml"
    private static let binaryScheme = "urn:scte:scte35:2014:xml+bin"
    private static let schemes = [xmlScheme, binaryScheme, EventMessage.spliceScheme]

    /// Reads the signals of the events of an MPD.
    /// - Parameters:
    ///   - events: the events of the MPD.
    ///   - end: the end of the presentation, in nanoseconds; nil while media is still produced, so that an end may
    ///     come, and an end may belong to a begin that the MPD no longer has.
    package init(_ events: [ManifestEvent], upTo end: Int64? = nil) {
        var breaks: [AdSignal] = []
        for event in events where Self.schemes.contains(event.scheme) { add(event, &breaks) }
        checkBreaks(breaks, upTo: end, mayHaveBegun: end == nil)
    }

    private mutating func add(_ event: ManifestEvent, _ breaks: inout [AdSignal]) {
        if event.element.binary == nil, let text = event.element.eventText {
            addText(text, event, &breaks)
            return
        }
        guard let binary = event.element.binary else {
            addElement(event, &breaks)
            return
        }
        guard let section = section(binary, .eventStream, line: event.line) else { return }
        for signal in AdSignal.all(.eventStream, section) { add(signal, event, &breaks) }
    }

    /// A section, or a document, that is the text or the `messageData` of an event (ISO/IEC 23009-1, section 5.10.2).
    private mutating func addText(_ text: String, _ event: ManifestEvent, _ breaks: inout [AdSignal]) {
        let found: SpliceInfoSection?
        if let document = SpliceInfoSection.document(in: text) {
            do throws(SpliceError) {
                found = try SpliceInfoSection(xml: document)
            } catch {
                let rule = "SCTE 214-1, section 6.8"
                add([AdFinding(.error, rule: rule, message: error.description)], .eventStream, event.line)
                return
            }
        } else {
            found = section(text, .eventStream, line: event.line)
        }
        guard let found else { return }
        add(found.notation == .xml ? found.findings : [], .eventStream, event.line)
        for signal in AdSignal.all(.eventStream, found) { add(signal, event, &breaks) }
    }

    private mutating func add(_ signal: AdSignal, _ event: ManifestEvent, _ breaks: inout [AdSignal]) {
        var signal = signal
        (signal.position, signal.line) = (event.start, event.line)
        signal.duration = event.duration ?? signal.duration
        // The begin and the end of a break are two events of the MPD, and one event of the splice.
        breaks.append(signal)
        signal.id = event.id ?? signal.id
        signals.append(signal)
    }

    /// The form in XML: the elements of the standard's schema, with or without `Signal` around them.
    private mutating func addElement(_ event: ManifestEvent, _ breaks: inout [AdSignal]) {
        guard let element = event.element.descendant("SpliceInfoSection") else {
            warn("SCTE 214-1, section 6.8", "an event must have `Signal` or `SpliceInfoSection`", line: event.line)
            return
        }
        let section = SpliceInfoSection(element)
        add(section.findings, .eventStream, event.line)
        for signal in AdSignal.all(.eventStream, section) { add(signal, event, &breaks) }
    }
}

extension MarkupElement {
    /// The text of `Signal/Binary`.
    fileprivate var binary: String? { descendant("Binary")?.text.trimmingWhitespace.nonEmpty }

    /// The first element of that local name, this one included. MPDs are at most 32 elements deep.
    func descendant(_ name: String) -> MarkupElement? {
        if localName == name { return self }
        for child in children { if let found = child.descendant(name) { return found } }
        return nil
    }
}

extension Substring {
    fileprivate var nonEmpty: String? { isEmpty ? nil : String(self) }
}

/// An event of an MPD that replaces content, or that calls an address.
package enum ManifestAdEvent: Hashable, Sendable {
    /// An alternative presentation in place of the content, or between its parts (`alternativeMPD`, ISO/IEC 23009-1,
    /// 2025). Times in nanoseconds.
    case alternative(AlternativePresentation)
    /// An address to call when the playhead reaches the event (`callback:2015`).
    case callback(AdURL)

    /// Reads an event; nil for an event of another scheme, or a malformed one.
    package init?(_ event: ManifestEvent) {
        switch event.scheme {
        case "urn:mpeg:dash:event:callback:2015":
            guard let text = event.element.text.trimmingWhitespace.nonEmpty ?? event.messageData else { return nil }
            self = .callback(AdURL(text))
        case "urn:mpeg:dash:event:alternativeMPD:insert:2025", "urn:mpeg:dash:event:alternativeMPD:replace:2025":
            guard let value = AlternativePresentation(event) else { return nil }
            self = .alternative(value)
        default: return nil
        }
    }
}

/// A presentation that an event inserts into the content, or that replaces a part of it.
package struct AlternativePresentation: Hashable, Sendable {
    /// Whether the content behind the event is skipped while the alternative plays. False: it is delayed.
    package var replacesContent: Bool
    /// The address of the alternative MPD.
    package var uri: String
    /// The position of the event, in nanoseconds.
    package var start: Int64
    /// `maxDuration` in nanoseconds; nil without a limit.
    package var maximumDuration: Int64?
    /// `returnOffset`: where content resumes behind the event, in nanoseconds; nil if absent.
    package var returnOffset: Int64?
    /// `noJump`: whether the person may not jump over the alternative.
    package var forbidsJump: Bool
    /// `skipAfter` in nanoseconds: from then on the person may skip; nil if absent.
    package var skipAfter: Int64?

    init?(_ event: ManifestEvent) {
        replacesContent = event.scheme.contains(":replace:")
        let name = replacesContent ? "ReplacePresentation" : "InsertPresentation"
        guard let element = event.element.descendant(name), let uri = element["uri"] ?? element["url"], !uri.isEmpty
        else {
            return nil
        }
        let ticks = { (attribute: String) -> Int64? in
            guard let text = element[attribute], text.utf8.count <= 18, let value = Int64(text), value >= 0 else {
                return nil
            }
            return event.nanoseconds(ticks: value)
        }
        (self.uri, start) = (uri, event.start)
        (maximumDuration, returnOffset, skipAfter) = (ticks("maxDuration"), ticks("returnOffset"), ticks("skipAfter"))
        forbidsJump = !["0", "false", nil].contains(element["noJump"])
    }
}
