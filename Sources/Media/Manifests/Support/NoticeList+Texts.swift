internal import InstrumentText

extension NoticeList {
    /// Notes codec strings that name no known codec.
    mutating func add(unknownCodecsOf codecs: [String], line: Int?) {
        for codec in codecs where !CodecList.isKnown(codec) {
            add(.unknownCodec, "`\(codec.excerpt())`", line: line)
        }
    }

    /// Notes what RFC 8216bis section 4.1 forbids about the bytes of a playlist.
    mutating func add(encodingOf bytes: [UInt8]) {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { add(.byteOrderMark, line: 1) }
        guard String(validating: bytes, as: UTF8.self) == nil else { return }
        let lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false)
        let place = lines.firstIndex { String(validating: $0, as: UTF8.self) == nil }
        add(.invalidUTF8, line: place.map { $0 + 1 })
    }
}
