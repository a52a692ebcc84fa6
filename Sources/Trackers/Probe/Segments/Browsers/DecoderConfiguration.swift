/// The box with the decoder's configuration that a sample entry must have.
struct DecoderConfiguration: Sendable {
    let box: BoxType
    /// The defect of the box's content, as a verb; nil without one.
    let problem: @Sendable (UnsafeRawBufferPointer) -> String?

    /// By the type of the sample entry. Sources: ISO/IEC 14496-15, 5.3.3 and 8.3.3; the bindings of VP9, AV1, Opus and
    /// FLAC to ISOBMFF; ETSI TS 102 366, annex F.
    static let mandatory: [BoxType: DecoderConfiguration] = [
        "avc1": avc, "avc3": avc, "hvc1": hevc, "hev1": hevc, "vp08": vp, "vp09": vp, "av01": av1,
        "Opus": DecoderConfiguration(box: "dOps") { tooShort($0, 11) },
        "fLaC": DecoderConfiguration(box: "dfLa", problem: flacProblem),
        "ac-3": DecoderConfiguration(box: "dac3") { tooShort($0, 3) },
        "ec-3": DecoderConfiguration(box: "dec3") { tooShort($0, 5) },
    ]

    private static let avc = DecoderConfiguration(box: "avcC") { content in
        if let problem = tooShort(content, 7) ?? wrongVersion(content[0], not: 1) { return problem }
        if content[4] & 3 == 2 { return "declares lengths of 3 bytes" }
        var offset = 5
        // Sequence parameter sets, then picture parameter sets.
        for mask in [UInt8(0x1F), 0xFF] {
            guard offset < content.count else { return truncated }
            let count = Int(content[offset] & mask)
            offset += 1
            guard skip(count, in: content, &offset) else { return truncated }
        }
        return nil
    }

    private static let hevc = DecoderConfiguration(box: "hvcC") { content in
        if let problem = tooShort(content, 23) ?? wrongVersion(content[0], not: 1) { return problem }
        if content[21] & 3 == 2 { return "declares lengths of 3 bytes" }
        var offset = 23
        for _ in 0..<content[22] {
            guard offset + 3 <= content.count else { return truncated }
            let count = Int(content[offset + 1]) << 8 | Int(content[offset + 2])
            offset += 3
            guard skip(count, in: content, &offset) else { return truncated }
        }
        return nil
    }

    /// A version and flags, then eight bytes.
    private static let vp = DecoderConfiguration(box: "vpcC") { tooShort($0, 12) }

    private static let av1 = DecoderConfiguration(box: "av1C") { content in
        guard let first = content.first else { return tooShort(content, 4) }
        return first & 0x80 == 0 ? "has no marker bit" : wrongVersion(first & 0x7F, not: 1)
    }

    private static func flacProblem(_ content: UnsafeRawBufferPointer) -> String? {
        if let problem = tooShort(content, 42) { return problem }
        guard content[4] & 0x7F == 0, content[5] == 0, content[6] == 0, content[7] == 34 else {
            return "does not begin with the information about the stream (STREAMINFO)"
        }
        return nil
    }

    private static let truncated = "ends within a parameter set"

    private static func tooShort(_ content: UnsafeRawBufferPointer, _ least: Int) -> String? {
        content.count < least ? "has \(content.count) bytes, and needs at least \(least)" : nil
    }

    private static func wrongVersion(_ version: UInt8, not expected: UInt8) -> String? {
        version == expected ? nil : "has version \(version), not \(expected)"
    }

    /// Moves behind parameter sets with their lengths in two bytes; false at the end.
    private static func skip(_ count: Int, in content: UnsafeRawBufferPointer, _ offset: inout Int) -> Bool {
        for _ in 0..<count {
            guard offset + 2 <= content.count else { return false }
            offset += 2 + Int(content[offset]) << 8 + Int(content[offset + 1])
            guard offset <= content.count else { return false }
        }
        return true
    }
}
