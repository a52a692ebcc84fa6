/// Checks a sample entry and its decoder configuration (ISO/IEC 14496-12, 8.5.2; 14496-15; the registered bindings of
/// other codecs).
struct SampleEntryCheck {
    /// The codec; nil for codecs that no browser has, or in doubt.
    private(set) var family: CodecFamily?
    /// Whether the samples are encrypted, each with a separate initialization vector.
    private(set) var hasSampleVectors = false
    /// The reason for which Chromium refuses the entry, and other browsers perhaps not.
    private(set) var chromiumRefusal: MediaRefusal?

    /// - Throws: ``MediaRefusal``.
    init(_ entry: BoxReading, isVideo: Bool) throws(MediaRefusal) {
        guard let headerSize = Self.headerSize(entry, isVideo: isVideo), let boxes = entry.dropping(headerSize),
            boxes.isReadable
        else { return }
        var type = entry.name
        if type == "encv" || type == "enca" {
            guard let original = try readProtection(boxes) else { return }
            type = original
        }
        try Self.checkCodec(type)
        family = CodecFamily(sampleEntry: type)
        if type == "mp4a" {
            family = try AudioConfiguration.family(in: boxes)
            if family == .mp3 { chromiumRefusal = AudioConfiguration.mpegAudio }
        } else if let configuration = DecoderConfiguration.mandatory[type] {
            try Self.check(configuration, of: type, boxes)
        }
    }

    /// The bytes in front of the boxes; nil for the longer entries of QuickTime.
    private static func headerSize(_ entry: BoxReading, isVideo: Bool) -> Int? {
        if isVideo { return 78 }
        return entry.bytes.unsigned32(at: 8).map { $0 >> 16 } == 0 ? 28 : nil
    }

    /// The type of an encrypted entry before its encryption (ISO/IEC 23001-7, 4.1).
    private mutating func readProtection(_ boxes: BoxReading) throws(MediaRefusal) -> BoxType? {
        guard let protection = boxes.first("sinf"), protection.isReadable else {
            if boxes.first("sinf") != nil { return nil }
            throw Self.missing("sinf", "an encrypted sample entry")
        }
        guard let format = protection.first("frma")?.bytes.unsigned32(at: 0) else {
            throw Self.missing("frma", "an encrypted sample entry")
        }
        guard protection.first("schm") != nil else { throw Self.missing("schm", "an encrypted sample entry") }
        try Self.checkSchemes(boxes)
        guard let information = protection.first("schi"), information.isReadable else {
            throw Self.missing("schi", "an encrypted sample entry")
        }
        guard let defaults = information.first("tenc")?.bytes else {
            throw Self.missing("tenc", "an encrypted sample entry")
        }
        // Whether samples are protected, and the size of their vectors (ISO/IEC 23001-7, 8.2).
        if defaults.count >= 8 { hasSampleVectors = defaults[6] == 1 && defaults[7] > 0 }
        return BoxType(rawValue: format)
    }

    /// Refuses an entry whose schemes of protection are all others than those of browsers (ISO/IEC 23001-7, 10.1 and
    /// 10.4).
    private static func checkSchemes(_ boxes: BoxReading) throws(MediaRefusal) {
        let schemes = boxes.all("sinf").map { $0.first("schm")?.bytes.unsigned32(at: 4).map { BoxType(rawValue: $0) } }
        guard schemes.allSatisfy({ $0 != nil && $0 != "cenc" && $0 != "cbcs" }) else { return }
        let names = schemes.compactMap { $0.map { "`\($0)`" } }
        throw MediaRefusal(
            "the samples are encrypted with the scheme \(names.joined(separator: " and "))",
            expected: "`cenc` or `cbcs`",
            remedy: "encrypt the media again"
        )
    }

    private static func missing(_ box: BoxType, _ place: String) -> MediaRefusal {
        MediaRefusal("the initialization section has \(place) without a `\(box)` box", expected: "one")
    }

    private static func checkCodec(_ type: BoxType) throws(MediaRefusal) {
        guard let name = CodecFamily.refusedEntries[type] else { return }
        throw MediaRefusal(
            "the initialization section has a track of \(name) (sample entry `\(type)`)",
            expected: "a codec such as H.264, H.265, VP9 and AV1, or AAC, Opus and FLAC",
            remedy: "encode the track again"
        )
    }

    private static func check(
        _ configuration: DecoderConfiguration,
        of type: BoxType,
        _ boxes: BoxReading
    ) throws(MediaRefusal) {
        guard let box = boxes.first(configuration.box) else {
            throw missing(configuration.box, "a sample entry `\(type)`")
        }
        guard let problem = configuration.problem(box.bytes) else { return }
        throw MediaRefusal(
            "the `\(configuration.box)` box of the sample entry `\(type)` \(problem)",
            expected: "a complete decoder configuration"
        )
    }
}
