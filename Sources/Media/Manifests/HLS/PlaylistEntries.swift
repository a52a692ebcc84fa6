internal import Instrument
package import InstrumentHTTP

/// The tags and addresses of a playlist in their order, as a playlist of a day has hundreds of thousands of them.
///
/// Keeps the text of the playlist and the places in it; an element is made when it is read, which costs time in
/// proportion to its length.
public struct PlaylistEntries: RandomAccessCollection, Sendable {
    /// What copies have in common, and what none changes.
    private let storage: Storage

    /// Reads the tags and addresses of a playlist.
    ///
    /// A damaged playlist gives the entries that can be read: parse the playlist to learn what is wrong with it. A
    /// variable without a definition stays as written.
    /// - Parameters:
    ///   - bytes: the whole playlist; one that is longer than the limit has no entries.
    ///   - url: the address after redirects.
    ///   - definitions: the variables of the multivariant playlist that a media playlist may import.
    ///   - limits: the limits of its size.
    package init(
        reading bytes: [UInt8],
        at url: HTTPURL,
        definitions: VariableDefinitions = [:],
        limits: ManifestLimits = ManifestLimits()
    ) {
        var reader = EntryReader(bytes, url, definitions.values, limits)
        reader.read()
        storage = Storage(
            bytes: bytes,
            rows: reader.rows,
            names: reader.names.texts,
            replacements: reader.replacements
        )
    }

    /// 0.
    public var startIndex: Int { 0 }
    /// The number of tags and addresses.
    public var endIndex: Int { storage.rows.count }

    /// The tag or address at a position.
    public subscript(position: Int) -> PlaylistEntry {
        name(of: position) == nil
            ? .address(text(of: position), line: line(of: position)) : .tag(tag(at: position))
    }

    /// Returns the tags of a name, in their order.
    package func tags(_ name: String) -> [PlaylistTag] { Array(tags { $0 == name }) }

    /// The tags whose names pass the test, each made when it is read. The test is called once for each name.
    package func tags(where isWanted: (String) -> Bool) -> some Sequence<PlaylistTag> {
        let wanted = [false] + storage.names.dropFirst().map(isWanted)
        return indices.lazy.filter { wanted[Int(storage.rows[$0].name)] }.map(tag(at:))
    }

    /// The text of the playlist.
    package var bytes: [UInt8] { storage.bytes }

    /// Returns the name of the tag at a position; nil for an address.
    package func name(of position: Int) -> String? {
        let name = storage.rows[position].name
        return name == Row.address ? nil : storage.names[Int(name)]
    }

    /// Returns the address at a position, or the value of a tag.
    package func text(of position: Int) -> String {
        if let text = storage.replacements[position] { return text }
        let row = storage.rows[position]
        return String(decoding: storage.bytes[Int(row.start)..<Int(row.end)], as: UTF8.self).streamSafe
    }

    /// Returns the line of an entry, counted from 1.
    package func line(of position: Int) -> Int { Int(storage.rows[position].line) }

    private func tag(at position: Int) -> PlaylistTag {
        let row = storage.rows[position]
        return PlaylistTag(name: storage.names[Int(row.name)], value: text(of: position), line: Int(row.line))
    }

    private final class Storage: Sendable {
        let bytes: [UInt8]
        let rows: [Row]
        /// The names of tags; the first one stands for addresses.
        let names: [String]
        /// The texts in which variables are replaced.
        let replacements: [Int: String]

        init(bytes: [UInt8], rows: [Row], names: [String], replacements: [Int: String]) {
            (self.bytes, self.rows, self.names, self.replacements) = (bytes, rows, names, replacements)
        }
    }

    /// The place of a value or of an address in the text.
    fileprivate struct Row: Sendable {
        static let address: UInt32 = 0

        var start: UInt32
        var end: UInt32
        var line: UInt32
        var name: UInt32
    }
}

/// Finds the entries of a playlist.
private struct EntryReader {
    private let url: HTTPURL
    private let imports: [String: String]
    private var lines: PlaylistLines
    private var variables: VariableTable
    private(set) var rows: [PlaylistEntries.Row] = []
    private(set) var names = NameTable()
    private(set) var replacements: [Int: String] = [:]

    init(_ bytes: [UInt8], _ url: HTTPURL, _ imports: [String: String], _ limits: ManifestLimits) {
        // Places have 32 bits.
        let isReadable = bytes.count <= Swift.min(limits.bytes, Int(UInt32.max))
        lines = PlaylistLines(isReadable ? bytes : [], limits: limits)
        variables = VariableTable(limits: limits)
        (self.url, self.imports) = (url, imports)
    }

    mutating func read() {
        while let line = lines.nextBytes() {
            guard line.first == UInt8(ascii: "#") else {
                append(line, name: PlaylistEntries.Row.address)
                continue
            }
            let colon = line.firstIndex(of: UInt8(ascii: ":")) ?? line.endIndex
            let name = line[..<colon].dropFirst()
            let value = line[colon...].dropFirst().drop { $0 == 0x20 || $0 == 0x09 }
            append(value, name: names.number(of: name))
            if name.elementsEqual("EXT-X-DEFINE".utf8) { define(value) }
        }
    }

    private mutating func append(_ text: ArraySlice<UInt8>, name: UInt32) {
        if let replaced = replaced(text) { replacements[rows.count] = replaced }
        rows.append(
            PlaylistEntries.Row(
                start: UInt32(text.startIndex),
                end: UInt32(text.endIndex),
                line: UInt32(lines.number),
                name: name
            )
        )
    }

    /// The text with its variables replaced; nil for a text that stays as written.
    private mutating func replaced(_ bytes: ArraySlice<UInt8>) -> String? {
        guard bytes.contains(UInt8(ascii: "{")) else { return nil }
        let text = String(decoding: bytes, as: UTF8.self).streamSafe
        guard text.contains("{$") else { return nil }
        return try? variables.substitute(text, line: lines.number)
    }

    /// A definition that cannot be used is an error of the parser, which names the line.
    private mutating func define(_ bytes: ArraySlice<UInt8>) {
        let text = replacements[rows.count - 1] ?? String(decoding: bytes, as: UTF8.self).streamSafe
        try? variables.define(AttributeList(text[...]), url: url, imports: imports, line: lines.number)
    }
}

/// The names of tags, each once.
private struct NameTable {
    /// More names than this are those of no tag that anybody knows, and count as one.
    private static let mostNames = 1_000
    /// The number of the names beyond the limit.
    private static let other: UInt32 = 1

    /// The text of addresses, of the names beyond the limit, and of all other names.
    private(set) var texts = ["", "EXT"]
    private var numbers: [[UInt8]: UInt32] = [:]
    /// Names that were asked for lately: the tags of segments repeat each other.
    private var recent: [(name: [UInt8], number: UInt32)] = []

    mutating func number(of name: ArraySlice<UInt8>) -> UInt32 {
        if let known = recent.first(where: { $0.name[...] == name }) { return known.number }
        let key = Array(name)
        let number = numbers[key] ?? add(key)
        if recent.count < 4 { recent.append((key, number)) } else { recent[Int(number) % 4] = (key, number) }
        return number
    }

    private mutating func add(_ name: [UInt8]) -> UInt32 {
        guard texts.count <= Self.mostNames else { return Self.other }
        texts.append(String(decoding: name, as: UTF8.self).streamSafe)
        let number = UInt32(texts.count - 1)
        numbers[name] = number
        return number
    }
}
