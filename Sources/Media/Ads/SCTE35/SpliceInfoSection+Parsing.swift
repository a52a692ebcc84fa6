internal import Instrument
internal import InstrumentHTTP
internal import InstrumentText

extension SpliceInfoSection {
    /// The number of bytes before the command's type and behind the length field that `section_length` counts.
    private static var headerLength: Int { 3 }
    /// The bytes of `CRC_32`.
    private static var checksumLength: Int { 4 }

    /// Decodes a section from its text: base64 (with or without padding), or hexadecimal with or without `0x`.
    /// - Throws: ``SpliceError``.
    package init(text: String) throws(SpliceError) {
        try self.init(bytes: try Self.bytes(of: text))
    }

    /// Decodes a section whose text a manifest carries. A wrong checksum is a finding there: packagers correct times
    /// and durations and leave the old checksum behind, and the manifest itself came whole.
    /// - Throws: ``SpliceError``; that of the checksum for a section that has a wrong one and cannot be decoded either.
    package init(ofManifest text: String) throws(SpliceError) {
        let bytes = try Self.bytes(of: text)
        do throws(SpliceError) {
            try self.init(bytes: bytes)
        } catch {
            guard error.code == .checksum else { throw error }
            do throws(SpliceError) {
                try self.init(unchecked: bytes)
            } catch _ {
                throw error
            }
            isChecksumValid = false
            note("9.6", "the checksum is not that of the section, which is decoded nevertheless: \(error.message)")
        }
    }

    /// Decodes a section. Bytes 0xFF behind the section, which fill up a transport packet, are ignored.
    /// - Throws: ``SpliceError``.
    package init(bytes: some Sequence<UInt8>) throws(SpliceError) {
        let bytes = Array(bytes)
        try Self.check(bytes)
        try self.init(unchecked: bytes)
    }

    /// Decodes a section whose lengths were checked, and not its checksum.
    private init(unchecked bytes: [UInt8]) throws(SpliceError) {
        self.init()
        var reader = BitReader(try Self.section(of: bytes).dropLast(Self.checksumLength))
        try readHeader(&reader)
        let section = try Self.section(of: bytes)
        crc = section.suffix(4).reduce(0) { $0 << 8 | UInt32($1) }
        if encryption != nil {
            encryption?.payload = reader.rest()
            note("9.6", "the section is encrypted; its command and descriptors are not decoded")
            return
        }
        try readCommand(&reader)
        try readDescriptors(&reader)
        stuffing = reader.rest()
        if !stuffing.isEmpty {
            note("9.6", "\(stuffing.count) bytes follow the last descriptor of a section in the clear")
        }
    }

    /// The bytes that a text stands for.
    static func bytes(of text: String) throws(SpliceError) -> [UInt8] {
        let text = text.withoutWhitespace
        if text.hasPrefix("0x") || text.hasPrefix("0X") { return try hexadecimal(text.dropFirst(2)) }
        // A section begins with FC: in base64 that is `/`, which no hexadecimal text has.
        if !text.isEmpty, text.utf8.count % 2 == 0, text.utf8.allSatisfy(\.isHexDigit) { return try hexadecimal(text) }
        let padding = String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
        guard !text.isEmpty, let bytes = Base64.decode(text + padding) else {
            throw SpliceError(.notation, "the text must be base64, or hexadecimal after `0x`")
        }
        return bytes
    }

    private static func hexadecimal(_ text: some StringProtocol) throws(SpliceError) -> [UInt8] {
        let digits = text.utf8.compactMap(\.hexDigitValue)
        guard digits.count == text.utf8.count, digits.count % 2 == 0, !digits.isEmpty else {
            throw SpliceError(.notation, "hexadecimal text must have an even number of hexadecimal digits after `0x`")
        }
        return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }

    /// The section without what follows it.
    private static func section(of bytes: [UInt8]) throws(SpliceError) -> ArraySlice<UInt8> {
        guard bytes.count >= headerLength else {
            throw SpliceError(.truncated, "a section must have at least \(headerLength) bytes (found \(bytes.count))")
        }
        let length = Int(bytes[1] & 0x0F) << 8 | Int(bytes[2])
        guard bytes.count >= headerLength + length else {
            let message = "`section_length` announces \(length) bytes (found \(bytes.count - headerLength))"
            throw SpliceError(.truncated, message)
        }
        return bytes[..<(headerLength + length)]
    }

    private static func check(_ bytes: [UInt8]) throws(SpliceError) {
        if let first = bytes.first, first != tableID {
            let message = "`table_id` must be 0xfc (found 0x\(first.padded(2, radix: 16)))"
            throw SpliceError(.tableID, message)
        }
        let section = try section(of: bytes)
        let surplus = bytes[section.endIndex...]
        guard surplus.allSatisfy({ $0 == 0xFF }) else {
            let message = "`section_length` announces \(section.count - headerLength) bytes"
            throw SpliceError(.length, message + " (found \(bytes.count - headerLength))")
        }
        guard section.count > headerLength + checksumLength else {
            throw SpliceError(.length, "`section_length` must be at least 17 (found \(section.count - headerLength))")
        }
        let found = section.suffix(checksumLength).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        let expected = CRC32MPEG2.checksum(of: section.dropLast(checksumLength))
        guard found == expected else {
            let message = "`CRC_32` must be 0x\(expected.padded(8, radix: 16)) (found 0x\(found.padded(8, radix: 16)))"
            throw SpliceError(.checksum, message)
        }
    }

    private mutating func readHeader(_ reader: inout BitReader) throws(SpliceError) {
        try reader.skip(8)
        hasLongSyntax = try reader.flag("section_syntax_indicator")
        isPrivate = try reader.flag("private_indicator")
        sapType = try reader.integer(2, "sap_type")
        sectionLength = try reader.integer(12, "section_length")
        protocolVersion = try reader.integer("protocol_version")
        let isEncrypted = try reader.flag("encrypted_packet")
        let algorithm: UInt8 = try reader.integer(6, "encryption_algorithm")
        if isEncrypted { encryption = SpliceEncryption(algorithm: algorithm, payload: []) }
        ptsAdjustment = SpliceTicks(try reader.number(33, "pts_adjustment"))
        controlWordIndex = try reader.integer("cw_index")
        tier = try reader.integer(12, "tier")
        commandLength = try reader.integer(12, "splice_command_length")
        if hasLongSyntax { note("9.6", "`section_syntax_indicator` must be 0 (found 1)") }
        if isPrivate { note("9.6", "`private_indicator` must be 0 (found 1)") }
        if protocolVersion != 0 { note("9.6", "`protocol_version` must be 0 (found \(protocolVersion))") }
    }

    private mutating func readCommand(_ reader: inout BitReader) throws(SpliceError) {
        let type: UInt8 = try reader.integer("splice_command_type")
        guard commandLength != 0xFFF else {
            note("9.6", "`splice_command_length` is 0xfff, which editions before 2016 allowed")
            // The length of these commands is known only from their owner, and the descriptors cannot be found.
            command = try SpliceCommand(type, &reader, isLengthKnown: false)
            return
        }
        var body = BitReader(try reader.take(Int(commandLength), "splice_command"))
        do {
            command = try SpliceCommand(type, &body, isLengthKnown: true)
        } catch {
            let message = "`splice_command_length` is \(commandLength), too short for the command: \(error.message)"
            throw SpliceError(.length, message)
        }
        if !body.isAtEnd {
            note(
                "9.6",
                "`splice_command_length` is \(commandLength); the command ends after \(body.consumedBytes) bytes"
            )
        }
    }

    private mutating func readDescriptors(_ reader: inout BitReader) throws(SpliceError) {
        let length = Int(try reader.number(16, "descriptor_loop_length"))
        guard reader.remainingBytes >= length else {
            let message =
                "`descriptor_loop_length` is \(length), beyond the section (found \(reader.remainingBytes) bytes)"
            throw SpliceError(.length, message)
        }
        var loop = BitReader(try reader.take(length, "descriptors"))
        while !loop.isAtEnd {
            let descriptor = try SpliceDescriptor(&loop)
            for message in descriptor.defects { note("10", message) }
            descriptors.append(descriptor)
        }
    }

    private mutating func note(_ section: String, _ message: String) {
        findings.append(AdFinding(.warning, rule: "SCTE 35, section \(section)", message: message))
    }
}

extension StringProtocol {
    /// The text without spaces and line ends, which `xs:base64Binary` allows anywhere (XML Schema, part 2, section
    /// 3.2.16).
    var withoutWhitespace: String {
        String(decoding: utf8.filter { ![0x09, 0x0A, 0x0D, 0x20].contains($0) }, as: UTF8.self)
    }
}
