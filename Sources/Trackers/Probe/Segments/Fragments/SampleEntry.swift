/// How the samples of a track are coded (ISO/IEC 14496-12, 8.5.2; 14496-15 for the lengths of NAL units).
struct SampleEntry: Hashable, Sendable {
    /// The coding, if samples have to be looked at; nil for AAC, whose samples libavformat takes as they are.
    private(set) var coding: ElementaryCoding?
    /// The bytes of the length in front of each NAL unit.
    private(set) var lengthSize = 0
    private(set) var isEncrypted = false

    /// Reads a table of sample entries; nil in doubt, or if there is more than one.
    init?(_ table: UnsafeRawBufferPointer) {
        guard table.unsigned32(at: 4) == 1, let box = Box(table, at: 8), box.content.upperBound == table.count else {
            return nil
        }
        let entry = UnsafeRawBufferPointer(rebasing: table[box.content])
        var type = box.type
        if type == "encv" || type == "enca" {
            isEncrypted = true
            guard let original = Self.originalFormat(entry, headerSize: Self.headerSize(isVideo: type == "encv", entry))
            else { return nil }
            type = original
        }
        guard read(entry, of: type) else { return nil }
    }

    private static func headerSize(isVideo: Bool, _ entry: UnsafeRawBufferPointer) -> Int? {
        if isVideo { return 78 }
        // Of QuickTime, with further fields.
        return entry.unsigned32(at: 8).map { $0 >> 16 } == 0 ? 28 : nil
    }

    private static func boxes(
        _ entry: UnsafeRawBufferPointer,
        headerSize: Int?,
        _ body: (BoxType, UnsafeRawBufferPointer) -> Bool
    ) -> Bool {
        guard let headerSize, headerSize <= entry.count else { return false }
        return Box.all(in: UnsafeRawBufferPointer(rebasing: entry[headerSize...]), body)
    }

    private static func originalFormat(_ entry: UnsafeRawBufferPointer, headerSize: Int?) -> BoxType? {
        var found: BoxType?
        let isRead = boxes(entry, headerSize: headerSize) { type, content in
            guard type == "sinf" else { return true }
            return Box.all(in: content) { type, content in
                if type == "frma" { found = content.unsigned32(at: 0).map { BoxType(rawValue: $0) } }
                return true
            }
        }
        return isRead ? found : nil
    }

    private mutating func read(_ entry: UnsafeRawBufferPointer, of type: BoxType) -> Bool {
        switch type {
        case "avc1", "avc3":
            coding = .h264
            return readLengthSize(entry, in: "avcC", at: 4)
        case "hvc1", "hev1":
            coding = .h265
            return readLengthSize(entry, in: "hvcC", at: 21)
        case "ac-3": coding = .ac3
        case "ec-3": coding = .enhancedAC3
        case "mp4a": return readObjectType(entry)
        default: return false
        }
        return true
    }

    private mutating func readLengthSize(_ entry: UnsafeRawBufferPointer, in type: BoxType, at offset: Int) -> Bool {
        var size = 0
        let isRead = Self.boxes(entry, headerSize: Self.headerSize(isVideo: true, entry)) { found, content in
            if found == type, offset < content.count { size = Int(content[offset] & 3) + 1 }
            return true
        }
        lengthSize = size
        return isRead && size > 0 && size != 3
    }

    /// The object type of the decoder's configuration (ISO/IEC 14496-1, 7.2.6).
    private mutating func readObjectType(_ entry: UnsafeRawBufferPointer) -> Bool {
        var objectType: UInt8?
        let isRead = Self.boxes(entry, headerSize: Self.headerSize(isVideo: false, entry)) { type, content in
            guard type == "esds" else { return true }
            objectType = Self.objectType(content)
            return objectType != nil
        }
        switch objectType {
        case 0x40, 0x67: break
        case 0x69, 0x6B: coding = .mpegAudio
        default: return false
        }
        return isRead
    }

    private static func objectType(_ content: UnsafeRawBufferPointer) -> UInt8? {
        var offset = 4
        func enter(_ tag: UInt8) -> Bool {
            guard offset < content.count, content[offset] == tag else { return false }
            offset += 1
            // The length has up to four bytes; all but the last one have the highest bit set.
            for _ in 0..<4 where offset < content.count {
                offset += 1
                if content[offset - 1] & 0x80 == 0 { return true }
            }
            return false
        }
        guard enter(3), offset + 2 < content.count, content[offset + 2] == 0 else { return nil }
        offset += 3
        guard enter(4), offset < content.count else { return nil }
        return content[offset]
    }
}
