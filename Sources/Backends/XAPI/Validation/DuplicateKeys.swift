internal import InstrumentJSON

/// Finds keys that appear more than once in an object (XAPI-00021), except inside the values of extensions, which the
/// specification leaves open.
struct DuplicateKeys {
    /// Returns the places of the duplicates. The bytes have to be JSON that ``JSONValue`` can read, which also limits
    /// their nesting.
    static func find(in bytes: [UInt8]) -> [JSONPath] {
        var finder = DuplicateKeys(rest: bytes[...])
        finder.value(at: .root)
        return finder.found
    }

    private var rest: ArraySlice<UInt8>
    private var found: [JSONPath] = []
    private var extensionDepth = 0
    /// The largest number of duplicates that are listed.
    private static let most = 1_000

    private init(rest: ArraySlice<UInt8>) { self.rest = rest }

    private mutating func value(at path: JSONPath) {
        switch next() {
        case UInt8(ascii: "{"): object(at: path)
        case UInt8(ascii: "["): array(at: path)
        case UInt8(ascii: "\""): _ = string()
        default: rest = rest.drop { !",]} \t\r\n".utf8.contains($0) }
        }
    }

    private mutating func object(at path: JSONPath) {
        var names: Set<String> = []
        rest = rest.dropFirst()
        while next() == UInt8(ascii: "\"") {
            let name = string()
            if !names.insert(name).inserted, extensionDepth < 2, found.count < Self.most { found.append(path / name) }
            _ = next()
            rest = rest.dropFirst()
            let isInside = extensionDepth > 0 || name == "extensions"
            extensionDepth += isInside ? 1 : 0
            value(at: path / name)
            extensionDepth -= isInside ? 1 : 0
            if next() == UInt8(ascii: ",") { rest = rest.dropFirst() }
        }
        rest = rest.dropFirst()
    }

    private mutating func array(at path: JSONPath) {
        rest = rest.dropFirst()
        var index = 0
        while let byte = next(), byte != UInt8(ascii: "]") {
            value(at: path[index])
            index += 1
            if next() == UInt8(ascii: ",") { rest = rest.dropFirst() }
        }
        rest = rest.dropFirst()
    }

    /// The first byte that is not white space.
    private mutating func next() -> UInt8? {
        rest = rest.drop { " \t\r\n".utf8.contains($0) }
        return rest.first
    }

    /// A string with its escapes resolved, so that `a` and `\u0061` are one.
    private mutating func string() -> String {
        let start = rest
        rest = rest.dropFirst()
        while let byte = rest.first, byte != UInt8(ascii: "\"") {
            rest = rest.dropFirst(byte == UInt8(ascii: "\\") ? 2 : 1)
        }
        rest = rest.dropFirst()
        let quoted = Array(start.prefix(start.count - rest.count))
        return (try? JSONValue(parsing: quoted))?.string ?? ""
    }
}
