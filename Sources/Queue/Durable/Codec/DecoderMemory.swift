internal import Instrument

/// Spelled names of attributes that were read before, found by their bytes: looking a name up among all names of the
/// process takes a lock, a copy and a hash.
struct NameMemory {
    /// The first 32 bytes of a spelling, filled up with zeros.
    private struct Key: Equatable {
        var words: (UInt64, UInt64, UInt64, UInt64)
        var count: Int

        static func == (left: Key, right: Key) -> Bool {
            left.count == right.count && left.words.0 == right.words.0 && left.words.1 == right.words.1
                && left.words.2 == right.words.2 && left.words.3 == right.words.3
        }

        /// A number below 256, in which each bit of the spelling takes part.
        var place: Int {
            var hash = words.0 ^ words.1 &* 0x9E37_79B9_7F4A_7C15
            hash ^= words.2 &* 0xBF58_476D_1CE4_E5B9 ^ words.3
            hash = (hash ^ hash >> 29) &* 0x94D0_49BB_1331_11EB
            return Int(hash >> 56)
        }
    }

    private struct Entry {
        var key: Key
        var name: AttributeName
    }

    /// The number of places. A name replaces the one in its place.
    private static var size: Int { 256 }
    /// Longer names are looked up each time.
    private static var longest: Int { 32 }

    private var entries: ContiguousArray<Entry?> = []

    /// Reads a spelled name.
    mutating func read(_ reader: inout RecordReader) throws(RecordReader.Damaged) -> AttributeName {
        let bytes = try reader.textBytes()
        guard bytes.count <= Self.longest else { return AttributeName(try RecordReader.text(bytes)) }
        if entries.isEmpty { entries = ContiguousArray(repeating: nil, count: Self.size) }
        let key = Self.key(of: bytes)
        let place = key.place
        if let known = entries[place], known.key == key { return known.name }
        let name = AttributeName(try RecordReader.text(bytes))
        entries[place] = Entry(key: key, name: name)
        return name
    }

    private static func key(of bytes: UnsafeRawBufferPointer) -> Key {
        var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
        withUnsafeMutableBytes(of: &words) { $0.copyMemory(from: bytes) }
        return Key(words: words, count: bytes.count)
    }
}

/// Texts of identifiers that were read before: samples with one identifier share one text.
struct IdentifierMemory {
    private struct Entry {
        var bytes: UUIDBytes
        var text: String
    }

    /// The number of places, as many as four bits have values. An identifier replaces the one in its place.
    private static var size: Int { 16 }

    private var entries: ContiguousArray<Entry?> = []

    /// The text of an identifier.
    mutating func text(_ bytes: UUIDBytes) -> String {
        if entries.isEmpty { entries = ContiguousArray(repeating: nil, count: Self.size) }
        let hash = (bytes.high ^ bytes.low) &* 0x9E37_79B9_7F4A_7C15
        let place = Int(hash >> 60)
        if let known = entries[place], known.bytes == bytes { return known.text }
        let text = bytes.text
        entries[place] = Entry(bytes: bytes, text: text)
        return text
    }
}

/// Names of metrics that were read before, found by their bytes.
struct MetricNameMemory {
    private struct Entry {
        /// The spelling, the kind and the unit with their lengths, as the record has them.
        var bytes: [UInt8]
        var name: MetricName
    }

    /// The largest number of names that are kept.
    private static var size: Int { 16 }

    private var entries: ContiguousArray<Entry> = []

    /// Reads the spelling, the kind and the unit.
    mutating func read(_ reader: inout RecordReader) throws(RecordReader.Damaged) -> MetricName {
        var ahead = reader
        for _ in 0..<3 { _ = try ahead.textBytes() }
        let bytes = reader.bytes(before: ahead)
        for index in entries.indices where entries[index].bytes.elementsEqualBytes(bytes) {
            reader = ahead
            return entries[index].name
        }
        let spelling = try reader.text()
        guard let kind = MetricName.Kind(rawValue: try reader.text()),
            let unit = MetricName.Unit(rawValue: try reader.text())
        else { throw RecordReader.Damaged() }
        let name = MetricName(spelling, kind, unit: unit)
        if entries.count < Self.size { entries.append(Entry(bytes: Array(bytes), name: name)) }
        return name
    }
}

extension [UInt8] {
    /// Whether the bytes are the same. Unlike `elementsEqual`, compares words.
    fileprivate func elementsEqualBytes(_ other: UnsafeRawBufferPointer) -> Bool {
        guard count == other.count else { return false }
        return withUnsafeBytes { mine in
            var place = 0
            while place + 8 <= mine.count {
                let word = mine.loadUnaligned(fromByteOffset: place, as: UInt64.self)
                if word != other.loadUnaligned(fromByteOffset: place, as: UInt64.self) { return false }
                place += 8
            }
            while place < mine.count {
                if mine[place] != other[place] { return false }
                place += 1
            }
            return true
        }
    }
}
