internal import InstrumentManifests
internal import InstrumentText
internal import InstrumentXML

extension Rule {
    /// A value of an MPD cannot be read.
    package static let mpdAttributeInvalid = Rule(
        "mpd-attribute-invalid",
        .error,
        "A value of the MPD cannot be read",
        explanation: "Each player replaces the value by another guess, or refuses the MPD.",
        source: "ISO/IEC 23009-1 clauses 5.3.1.2, 5.3.2.2, 5.3.3.2, 5.3.5.2, 5.3.7.2, 5.3.9.2 and 5.10.2",
        checks: [
            .manifest { manifest, _ in
                var problems: [Problem] = []
                AttributeForm.check(manifest.root, AttributeForm.ofRoot, &problems)
                for period in manifest.root.all("Period") {
                    AttributeForm.check(period, AttributeForm.ofPeriod, &problems)
                    for stream in period.all("EventStream") {
                        AttributeForm.check(stream, AttributeForm.ofEventStream, &problems)
                        for event in stream.all("Event") where problems.count < mostProblems {
                            AttributeForm.check(event, AttributeForm.ofEvent, &problems)
                        }
                    }
                    for set in period.all("AdaptationSet") {
                        AttributeForm.check(set, AttributeForm.ofSet, &problems)
                        for representation in set.all("Representation") {
                            AttributeForm.check(representation, AttributeForm.ofRepresentation, &problems)
                        }
                    }
                    guard problems.count < mostProblems else { break }
                }
                for element in manifest.segmentElements where problems.count < mostProblems {
                    AttributeForm.check(element, AttributeForm.ofSegments, &problems)
                    for name in ["Initialization", "RepresentationIndex", "SegmentURL"] {
                        for address in element.all(name) where problems.count < mostProblems {
                            AttributeForm.check(address, AttributeForm.ofAddress, &problems)
                        }
                    }
                    for entry in element.first("SegmentTimeline")?.all("S") ?? NamedElements() {
                        AttributeForm.check(entry, AttributeForm.ofEntry, &problems)
                        guard problems.count < mostProblems else { break }
                    }
                }
                return problems
            }
        ]
    )
}

/// The form of an attribute's value.
private enum AttributeForm {
    case duration, date, number, positive, timeScale, integer, frameRate, presentationType, seconds, word, mediaType,
        ratio
    case truth, alignment, accessPoint, actuation, contentType, scanType, samplingRates, byteRange, codecs

    static let ofRoot: [(String, AttributeForm)] = [
        ("type", .presentationType), ("availabilityStartTime", .date), ("availabilityEndTime", .date),
        ("publishTime", .date), ("mediaPresentationDuration", .duration), ("minimumUpdatePeriod", .duration),
        ("minBufferTime", .duration), ("timeShiftBufferDepth", .duration), ("suggestedPresentationDelay", .duration),
        ("maxSegmentDuration", .duration), ("maxSubsegmentDuration", .duration),
    ]
    static let ofPeriod: [(String, AttributeForm)] = [
        ("start", .duration), ("duration", .duration), ("xlink:actuate", .actuation),
    ]
    static let ofMedia: [(String, AttributeForm)] = [
        ("width", .number), ("height", .number), ("frameRate", .frameRate), ("mimeType", .mediaType), ("sar", .ratio),
        ("par", .ratio), ("startWithSAP", .accessPoint), ("subsegmentStartsWithSAP", .accessPoint),
        ("segmentAlignment", .alignment), ("subsegmentAlignment", .alignment), ("bitstreamSwitching", .truth),
        ("audioSamplingRate", .samplingRates), ("scanType", .scanType), ("codecs", .codecs),
    ]
    static let ofSet: [(String, AttributeForm)] =
        [
            ("contentType", .contentType), ("xlink:actuate", .actuation), ("minBandwidth", .number),
            ("maxBandwidth", .number), ("minWidth", .number), ("maxWidth", .number), ("minHeight", .number),
            ("maxHeight", .number), ("minFrameRate", .frameRate), ("maxFrameRate", .frameRate),
        ] + ofMedia
    static let ofRepresentation: [(String, AttributeForm)] = [("id", .word), ("bandwidth", .positive)] + ofMedia
    static let ofEventStream: [(String, AttributeForm)] = [
        ("timescale", .positive), ("presentationTimeOffset", .number), ("xlink:actuate", .actuation),
    ]
    static let ofEvent: [(String, AttributeForm)] = [("presentationTime", .number), ("duration", .number)]
    static let ofSegments: [(String, AttributeForm)] = [
        // Without segments because of a time scale of 0, the MPD or the representation has another rule.
        ("timescale", .timeScale), ("duration", .positive), ("startNumber", .number), ("endNumber", .number),
        ("presentationTimeOffset", .number), ("availabilityTimeOffset", .seconds), ("indexRange", .byteRange),
    ]
    static let ofAddress: [(String, AttributeForm)] = [
        ("range", .byteRange), ("mediaRange", .byteRange), ("indexRange", .byteRange),
    ]
    static let ofEntry: [(String, AttributeForm)] = [
        ("t", .number), ("d", .number), ("n", .number), ("r", .integer),
    ]

    /// Adds the attributes of an element whose values have another form, up to the limit of problems.
    static func check(_ element: MarkupElement, _ forms: [(String, AttributeForm)], _ problems: inout [Problem]) {
        for (name, form) in forms where problems.count < Rule.mostProblems {
            guard let value = element[name], !form.admits(value) else { continue }
            problems.append(
                Problem(
                    found: "`\(name)=\"\(value.excerpt())\"` in `\(element.name)`",
                    expected: form.isTooLarge(value) ? "a whole number of at most 64 bits" : form.words,
                    advice: "Correct the value.",
                    line: element.line
                )
            )
        }
    }

    /// The top-level media types of the registry of IANA.
    private static let topLevelTypes: Set<Substring> = [
        "application", "audio", "example", "font", "haptics", "image", "message", "model", "multipart", "text", "video",
    ]

    /// Whether a value is a whole number that is larger than any that a client reads.
    private func isTooLarge(_ value: String) -> Bool {
        let text = value.trimmingWhitespace
        guard [.number, .positive, .timeScale].contains(self), DecimalText.integer(text) != nil else { return false }
        return UInt64(text) == nil
    }

    private var words: String {
        switch self {
        case .duration: "a duration such as `PT6S` or `PT1H2.5S`"
        case .date: "a date of XML Schema such as `2026-01-01T00:00:00Z`"
        case .number: "a whole number of 0 or more"
        case .positive, .timeScale: "a whole number above 0"
        case .integer: "a whole number"
        case .frameRate: "a frame rate such as `25` or `30000/1001`"
        case .presentationType: "`static` or `dynamic`"
        case .seconds: "a number of seconds, or `INF`"
        case .word: "a text without white space"
        case .mediaType: "a media type such as `video/mp4`"
        case .ratio: "a ratio such as `16:9`"
        case .truth: "`true` or `false`"
        case .alignment: "`true`, `false` or a whole number"
        case .accessPoint: "a type of stream access points from 0 to 6"
        case .actuation: "`onLoad` or `onRequest`"
        case .contentType: "`video`, `audio`, `text` or another top-level media type"
        case .scanType: "`progressive`, `interlaced` or `unknown`"
        case .byteRange: "a byte range such as `0-999`"
        case .codecs: "a codec string such as `avc1.640028` or `mp4a.40.2`"
        case .samplingRates: "a sampling rate in Hz, or the lowest and the highest one"
        }
    }

    private func admits(_ value: String) -> Bool {
        let text = value.trimmingWhitespace
        if isTooLarge(value) { return false }
        switch self {
        case .byteRange: return MarkupElement.byteRange(of: String(text)) != nil
        case .codecs: return !text.isEmpty
        case .duration: return CalendarText.nanoseconds(duration: text) != nil
        case .date: return CalendarText.wallTime(text) != nil && CalendarText.hasRealDay(text)
        case .number, .timeScale: return DecimalText.integer(text) != nil
        case .positive: return DecimalText.integer(text).map { $0 > 0 } ?? false
        case .integer: return DecimalText.integer(text.hasPrefix("-") ? text.dropFirst() : text) != nil
        case .frameRate: return FrameRateText.value(text) != nil
        case .presentationType: return text == "static" || text == "dynamic"
        case .seconds: return text == "INF" || DecimalText.nanoseconds(text) != nil
        case .word: return !value.isEmpty && !value.contains(where: \.isWhitespace)
        case .mediaType:
            let parts = text.prefix { $0 != ";" }.split(separator: "/", omittingEmptySubsequences: false)
            return parts.count == 2 && parts.allSatisfy { !$0.trimmingSpaces.isEmpty }
        case .truth: return ["true", "false", "0", "1"].contains(text)
        case .alignment: return ["true", "false"].contains(text) || DecimalText.integer(text) != nil
        case .accessPoint: return DecimalText.integer(text).map { $0 <= 6 } ?? false
        case .actuation: return text == "onLoad" || text == "onRequest"
        case .contentType: return Self.topLevelTypes.contains(text)
        case .scanType: return ["progressive", "interlaced", "unknown"].contains(text)
        case .samplingRates:
            let rates = text.split(separator: " ")
            return (1...2).contains(rates.count) && rates.allSatisfy { DecimalText.integer($0).map { $0 > 0 } ?? false }
        case .ratio:
            let parts = text.split(separator: ":", omittingEmptySubsequences: false)
            return parts.count == 2 && parts.allSatisfy { DecimalText.integer($0) != nil }
        }
    }
}
