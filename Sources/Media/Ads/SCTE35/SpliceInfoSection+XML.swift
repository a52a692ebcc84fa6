internal import Instrument
internal import InstrumentManifests
internal import InstrumentText
internal import InstrumentXML

// The notation in XML (ANSI/SCTE 35, section 11 and the schema http://www.scte.org/schemas/35). Names of elements count
// without their prefix, since streams bind several namespaces to the schema.
extension SpliceInfoSection {
    /// The largest document.
    package static let mostXMLBytes = 1 << 20

    /// Whether a text is a document of XML.
    package static func isXML(_ text: String) -> Bool { text.trimmingWhitespace.hasPrefix("<") }

    /// Decodes a section from a document whose root is `SpliceInfoSection`, or an element around it such as `Signal` or
    /// an `Event` of DASH, which may have the section in `Binary`. An `Event` may also carry a section, or a document,
    /// as its text or as `messageData`.
    /// - Throws: ``SpliceError``.
    package init(xml document: String) throws(SpliceError) { try self.init(xml: document, mayNest: true) }

    /// - Parameter mayNest: whether the text of an `Event` may be a document itself.
    init(xml document: String, mayNest: Bool) throws(SpliceError) {
        let limits = MarkupLimits(
            bytes: Self.mostXMLBytes,
            textBytes: 1 << 17,
            depth: 32,
            elements: 10_000,
            attributes: 64
        )
        let root: MarkupElement
        do throws(MarkupError) {
            root = try MarkupReader.read(Array(document.trimmingWhitespace.utf8), as: "the document", limits: limits)
        } catch {
            throw SpliceError(.notation, error.message)
        }
        if let element = root.descendant("SpliceInfoSection") {
            self.init(element)
        } else if let binary = root.descendant("Binary") {
            try self.init(ofManifest: binary.text)
        } else if mayNest, root.localName == "Event", let text = root.eventText {
            if let inner = Self.document(in: text) {
                try self.init(xml: inner, mayNest: false)
            } else {
                try self.init(ofManifest: text)
            }
        } else {
            let message =
                "the document must have `SpliceInfoSection` or `Binary` (found `\(root.localName.prefix(60))`)"
            throw SpliceError(.notation, message)
        }
    }

    /// The document of XML that a text is, or that it encodes in base64 (`contentEncoding` of ISO/IEC 23009-1, section
    /// 5.10.2); nil for any other text.
    static func document(in text: String) -> String? {
        if isXML(text) { return text }
        guard let bytes = Base64.decode(SpliceElementReader.padded(text.withoutWhitespace)),
            let document = String(validating: bytes, as: UTF8.self), isXML(document)
        else { return nil }
        return document
    }

    /// Decodes a section from its element. What is missing or malformed has its default, with a finding.
    init(_ element: MarkupElement) {
        self.init()
        notation = .xml
        var reader = SpliceElementReader()
        sapType = reader.number(element, "sapType", default: 3)
        protocolVersion = reader.number(element, "protocolVersion", default: 0)
        ptsAdjustment = reader.ticks(element, "ptsAdjustment") ?? SpliceTicks(0)
        tier = reader.number(element, "tier", default: 0xFFF)
        for child in element.children {
            if child.localName == "EncryptedPacket" {
                let algorithm: UInt8 = reader.number(child, "encryptionAlgorithm", default: 0)
                encryption = SpliceEncryption(algorithm: algorithm, payload: [])
                controlWordIndex = reader.number(child, "cwIndex", default: 0xFF)
            } else if let found = reader.command(child) {
                if command == nil { command = found } else { reader.note("9.7", "a section must have one command") }
            } else if let found = reader.descriptor(child) {
                descriptors.append(found)
            }
        }
        if command == nil, encryption == nil { reader.note("9.7", "a section must have a command (found none)") }
        findings = reader.findings
    }
}

/// Reads the elements of a section, and notes what is malformed.
private struct SpliceElementReader {
    private(set) var findings: [AdFinding] = []
    private static let mostFindings = 50

    mutating func note(_ section: String, _ message: String) {
        guard findings.count < Self.mostFindings else { return }
        findings.append(AdFinding(.warning, rule: "SCTE 35, section \(section)", message: message))
    }

    // MARK: Attributes

    private mutating func malformed(_ element: MarkupElement, _ name: String, _ expected: String) {
        let found = (element[name] ?? "").prefix(40)
        note("11", "`\(name)` of `\(element.localName)` must be \(expected) (found `\(found)`)")
    }

    mutating func number<Number: FixedWidthInteger>(
        _ element: MarkupElement,
        _ name: String,
        default standard: Number
    ) -> Number {
        guard let text = element[name] else { return standard }
        if let value = Number(text.trimmingWhitespace) { return value }
        malformed(element, name, "a number from 0 to \(Number.max)")
        return standard
    }

    mutating func ticks(_ element: MarkupElement, _ name: String) -> SpliceTicks? {
        guard let text = element[name] else { return nil }
        if let value = UInt64(text.trimmingWhitespace), value < 1 << 40 { return SpliceTicks(value) }
        malformed(element, name, "a number of ticks")
        return nil
    }

    /// A value of `xs:boolean`.
    mutating func truth(_ element: MarkupElement, _ name: String, default standard: Bool) -> Bool {
        guard let text = element[name] else { return standard }
        switch text.trimmingWhitespace {
        case "1", "true": return true
        case "0", "false": return false
        default:
            malformed(element, name, "true or false")
            return standard
        }
    }

    // MARK: Commands

    /// The command of an element; nil for any other element.
    mutating func command(_ element: MarkupElement) -> SpliceCommand? {
        switch element.localName {
        case "SpliceNull": return .null
        case "SpliceSchedule":
            let events = element.children.filter { $0.localName == "Event" }
            return .schedule(events.map { scheduled($0) })
        case "SpliceInsert": return .insert(insert(element))
        case "TimeSignal": return .timeSignal(time(element))
        case "BandwidthReservation": return .bandwidthReservation
        case "PrivateCommand":
            return .privateCommand(
                identifier: number(element, "identifier", default: 0),
                bytes: privateBytes(element)
            )
        default: return nil
        }
    }

    /// `SpliceTime` in an element; nil where it states no time.
    private mutating func time(_ element: MarkupElement) -> SpliceTicks? {
        element.child("SpliceTime").flatMap { ticks($0, "ptsTime") }
    }

    private mutating func breakDuration(_ element: MarkupElement) -> BreakDuration? {
        guard let found = element.child("BreakDuration") else { return nil }
        guard let duration = ticks(found, "duration") else {
            note("9.8.2", "`BreakDuration` must have a `duration`")
            return nil
        }
        return BreakDuration(isAutoReturn: truth(found, "autoReturn", default: false), duration: duration)
    }

    private mutating func insert(_ element: MarkupElement) -> SpliceInsert {
        var insert = SpliceInsert(eventID: number(element, "spliceEventId", default: 0))
        insert.isCancelled = truth(element, "spliceEventCancelIndicator", default: false)
        if insert.isCancelled { return insert }
        insert.isOutOfNetwork = truth(element, "outOfNetworkIndicator", default: false)
        insert.isImmediate = truth(element, "spliceImmediateFlag", default: false)
        insert.isEventIDCompliant = truth(element, "eventIdComplianceFlag", default: true)
        insert.uniqueProgramID = number(element, "uniqueProgramId", default: 0)
        insert.availNumber = number(element, "availNum", default: 0)
        insert.availsExpected = number(element, "availsExpected", default: 0)
        insert.breakDuration = breakDuration(element)
        for component in element.children where component.localName == "Component" {
            insert.components.append(
                SpliceInsert.Component(tag: number(component, "componentTag", default: 0), time: time(component))
            )
        }
        insert.isProgramSplice = insert.components.isEmpty
        if let program = element.child("Program") { insert.time = time(program) }
        return insert
    }

    private mutating func scheduled(_ element: MarkupElement) -> ScheduledSplice {
        var splice = ScheduledSplice(eventID: number(element, "spliceEventId", default: 0))
        splice.isCancelled = truth(element, "spliceEventCancelIndicator", default: false)
        if splice.isCancelled { return splice }
        splice.isOutOfNetwork = truth(element, "outOfNetworkIndicator", default: false)
        splice.isEventIDCompliant = truth(element, "eventIdComplianceFlag", default: true)
        splice.uniqueProgramID = number(element, "uniqueProgramId", default: 0)
        splice.availNumber = number(element, "availNum", default: 0)
        splice.availsExpected = number(element, "availsExpected", default: 0)
        splice.breakDuration = breakDuration(element)
        for component in element.children where component.localName == "Component" {
            splice.components.append(
                ScheduledSplice.Component(
                    tag: number(component, "componentTag", default: 0),
                    utcTime: utcTime(component) ?? 0
                )
            )
        }
        splice.isProgramSplice = splice.components.isEmpty
        splice.utcTime = element.child("Program").flatMap { utcTime($0) }
        return splice
    }

    /// `utcSpliceTime`, which the schema writes as a date, in seconds since 6 January 1980. The 18 leap seconds up to
    /// now are those of every splice of the present.
    private mutating func utcTime(_ element: MarkupElement) -> UInt32? {
        guard let text = element["utcSpliceTime"]?.trimmingWhitespace else { return nil }
        if let seconds = UInt32(text) { return seconds }
        guard let date = CalendarText.wallTime(text) else {
            malformed(element, "utcSpliceTime", "a date and time such as 2026-01-31T20:00:00Z")
            return nil
        }
        return UInt32(exactly: date.milliseconds / 1_000 - 315_964_800 + 18)
    }

    // MARK: Descriptors

    /// The descriptor of an element; nil for any other element.
    mutating func descriptor(_ element: MarkupElement) -> SpliceDescriptor? {
        switch element.localName {
        case "AvailDescriptor": return standard(0, .avail(number(element, "providerAvailId", default: 0)))
        case "DTMFDescriptor":
            let preroll: UInt8 = number(element, "preroll", default: 0)
            return standard(1, .dtmf(DTMFDescriptor(preroll: preroll, tones: element["chars"] ?? "")))
        case "SegmentationDescriptor": return standard(2, .segmentation(segmentation(element)))
        case "TimeDescriptor":
            let time = TimeDescriptor(
                taiSeconds: number(element, "taiSeconds", default: 0),
                taiNanoseconds: number(element, "taiNs", default: 0),
                utcOffset: number(element, "utcOffset", default: 0)
            )
            return standard(3, .time(time))
        case "AudioDescriptor":
            let channels = element.children.filter { $0.localName == "AudioChannel" }
            return standard(4, .audio(channels.map { audio($0) }))
        case "PrivateDescriptor":
            return SpliceDescriptor(
                tag: number(element, "descriptorTag", default: 0),
                length: 0,
                identifier: number(element, "identifier", default: 0),
                content: .other(privateBytes(element))
            )
        default: return nil
        }
    }

    private func standard(_ tag: UInt8, _ content: SpliceDescriptor.Content) -> SpliceDescriptor {
        SpliceDescriptor(tag: tag, length: 0, identifier: SpliceDescriptor.standardIdentifier, content: content)
    }

    private mutating func audio(_ element: MarkupElement) -> AudioComponent {
        AudioComponent(
            tag: number(element, "componentTag", default: 0),
            language: element["ISOCode"] ?? "",
            bitStreamMode: number(element, "BitStreamMode", default: 0),
            channels: number(element, "NumChannels", default: 0),
            isFullService: truth(element, "FullSrvcAudio", default: false)
        )
    }

    private mutating func segmentation(_ element: MarkupElement) -> SegmentationDescriptor {
        var found = SegmentationDescriptor(eventID: number(element, "segmentationEventId", default: 0))
        found.isCancelled = truth(element, "segmentationEventCancelIndicator", default: false)
        found.isEventIDCompliant = truth(element, "segmentationEventIdComplianceIndicator", default: true)
        found.type = SegmentationType(number(element, "segmentationTypeId", default: 0))
        if found.isCancelled { return found }
        found.duration = ticks(element, "segmentationDuration")
        found.segmentNumber = number(element, "segmentNum", default: 0)
        found.segmentsExpected = number(element, "segmentsExpected", default: 0)
        if element["subSegmentNum"] != nil || element["subSegmentsExpected"] != nil {
            found.subSegment = SegmentationDescriptor.SubSegment(
                number: number(element, "subSegmentNum", default: 0),
                expected: number(element, "subSegmentsExpected", default: 0)
            )
        }
        if let delivery = element.child("DeliveryRestrictions") {
            found.restrictions = SegmentationDescriptor.Restrictions(
                isWebDeliveryAllowed: truth(delivery, "webDeliveryAllowedFlag", default: false),
                hasNoRegionalBlackout: truth(delivery, "noRegionalBlackoutFlag", default: false),
                isArchiveAllowed: truth(delivery, "archiveAllowedFlag", default: false),
                deviceRestrictions: number(delivery, "deviceRestrictions", default: 3)
            )
        }
        for component in element.children where component.localName == "Component" {
            found.components.append(
                SegmentationDescriptor.Component(
                    tag: number(component, "componentTag", default: 0),
                    offset: ticks(component, "ptsOffset") ?? SpliceTicks(0)
                )
            )
        }
        found.isProgramSegmentation = found.components.isEmpty
        let identifiers = element.children.filter { $0.localName == "SegmentationUpid" }.map { upid($0) }
        if identifiers.count > 1 {
            // Several identifiers are a MID (SCTE 35, section 10.3.3.4).
            let bytes = identifiers.flatMap {
                [$0.type.rawValue, UInt8(clamping: $0.bytes.count)] + $0.bytes.prefix(255)
            }
            found.upid = SegmentationUPID(type: .multiple, bytes: bytes)
        } else if let one = identifiers.first {
            found.upid = one
        }
        if found.upid.isMalformed {
            note("10.3.3.1", "`SegmentationUpid` does not have the format of its type (\(found.upid.type.name))")
        }
        return found
    }

    /// An identifier: `segmentationUpidFormat` says how its text is written. Editions before 2016 write hexadecimal.
    private mutating func upid(_ element: MarkupElement) -> SegmentationUPID {
        let type = SegmentationUPID.Kind(rawValue: number(element, "segmentationUpidType", default: 0))
        let text = String(element.text.trimmingWhitespace)
        let owner = element["formatIdentifier"].flatMap { UInt32($0.trimmingWhitespace) }
        let prefix = owner.map { id in [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: id >> UInt32($0)) } }
        let bytes: [UInt8]
        switch element["segmentationUpidFormat"]?.lowercased() {
        case "hexbinary": bytes = Self.hexadecimal(text.withoutWhitespace) ?? Array(text.utf8)
        case "base-64", "base64": bytes = Base64.decode(Self.padded(text.withoutWhitespace)) ?? Array(text.utf8)
        case nil: bytes = type.isText && !type.isHexadecimal(text) ? Array(text.utf8) : type.bytes(ofNotation: text)
        default: bytes = type.bytes(ofNotation: text)
        }
        return SegmentationUPID(type: type, bytes: (prefix ?? []) + bytes)
    }

    private mutating func privateBytes(_ element: MarkupElement) -> [UInt8] {
        let text = (element.child("PrivateBytes") ?? element).text.withoutWhitespace
        if let bytes = Self.hexadecimal(text) { return bytes }
        note("11", "`PrivateBytes` must be hexadecimal")
        return []
    }

    fileprivate static func padded(_ text: String) -> String {
        text + String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
    }

    fileprivate static func hexadecimal(_ text: String) -> [UInt8]? {
        let digits = text.utf8.compactMap(\.hexDigitValue)
        guard digits.count == text.utf8.count, digits.count % 2 == 0 else { return nil }
        return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }
}

extension SegmentationUPID.Kind {
    /// Whether the identifier consists of characters.
    fileprivate var isText: Bool { [.isci, .adID, .tid, .adi, .ads, .uri, .scr].contains(self) }

    /// Whether a text is the hexadecimal form of an identifier of this type, and not its characters.
    fileprivate func isHexadecimal(_ text: String) -> Bool {
        guard let bytes = SpliceElementReader.hexadecimal(text), !bytes.isEmpty else { return false }
        if let length = fixedLength { return bytes.count == length }
        return text.utf8.count >= 8 && bytes.allSatisfy { 0x20...0x7E ~= $0 }
    }

    /// The bytes of an identifier in the notation of its registry.
    fileprivate func bytes(ofNotation text: String) -> [UInt8] {
        let digits = text.filter { $0 != "-" && $0 != "." && $0 != ":" && $0 != " " }
        switch self {
        case .eidr:
            // 10.5240/7791-8534-2C23-9030-8610-5: the prefix, the identifier, and a check character.
            let parts = text.split(separator: "/")
            guard parts.count == 2, parts[0].hasPrefix("10."), let prefix = UInt16(parts[0].dropFirst(3)),
                let suffix = SpliceElementReader.hexadecimal(String(parts[1].filter { $0 != "-" }.prefix(20)))
            else { return SpliceElementReader.hexadecimal(digits) ?? Array(text.utf8) }
            return [UInt8(prefix >> 8), UInt8(prefix & 0xFF)] + suffix
        case .airingID:
            let hexadecimal = text.hasPrefix("0x") ? String(text.dropFirst(2)) : text
            if text.utf8.count == 16, let bytes = SpliceElementReader.hexadecimal(text) { return bytes }
            guard let value = UInt64(hexadecimal, radix: text.hasPrefix("0x") ? 16 : 10) else {
                return Array(text.utf8)
            }
            return stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: value >> UInt64($0)) }
        case _ where isText || self == .userDefined:
            return isHexadecimal(text) && self != .userDefined && fixedLength != nil
                ? SpliceElementReader.hexadecimal(text) ?? Array(text.utf8) : Array(text.utf8)
        default: return SpliceElementReader.hexadecimal(digits) ?? Array(text.utf8)
        }
    }
}

extension MarkupElement {
    /// What an `Event` without elements carries: its text, or else `messageData`; nil if it carries neither.
    var eventText: String? {
        let text = children.isEmpty ? text.trimmingWhitespace : ""
        return text.isEmpty ? self["messageData"].flatMap { $0.isEmpty ? nil : $0 } : String(text)
    }

    /// The first child of a local name.
    fileprivate func child(_ name: String) -> MarkupElement? { children.first { $0.localName == name } }
}
