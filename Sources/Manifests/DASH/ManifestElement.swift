/// An element of an MPD.
struct ManifestElement: Hashable, Sendable {
    /// The name without the prefix that the root has.
    var name: String
    var attributes: [String: String]
    var children: [ManifestElement] = []
    var text = ""
    var line: Int

    func all(_ name: String) -> [ManifestElement] { children.filter { $0.name == name } }
    func first(_ name: String) -> ManifestElement? { children.first { $0.name == name } }
    subscript(attribute: String) -> String? { attributes[attribute] }

    func integer(_ attribute: String) -> Int64? { attributes[attribute].flatMap { DecimalText.integer($0) } }
    func duration(_ attribute: String) -> Int64? {
        attributes[attribute].flatMap { CalendarText.nanoseconds(duration: $0) }
    }

    /// `FIRST-LAST`, both in.
    func byteRange(_ attribute: String) -> ByteRange? {
        let parts = (attributes[attribute] ?? "").split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, let first = DecimalText.integer(parts[0]) else { return nil }
        if parts[1].isEmpty { return ByteRange(offset: first, length: nil) }
        guard let last = DecimalText.integer(parts[1]), last >= first else { return nil }
        return ByteRange(offset: first, length: last.saturatingSubtract(first).saturatingAdd(1))
    }
}
