package import InstrumentHTTP

/// A tag of a playlist as written, with its line: for rules that need what the typed playlist leaves out.
public struct PlaylistTag: Hashable, Sendable {
    /// The tag's name without the number sign, such as `EXT-X-KEY`.
    public var name: String
    /// The text after the colon, with variables replaced; empty without a colon.
    public var value: String
    /// The line, counted from 1.
    public var line: Int

    /// The attributes of the value (RFC 8216bis section 4.2) without their quotes; the first of two with one name
    /// counts.
    public var attributes: [String: String] { attributeList.values.mapValues(\.text) }

    /// The value as an attribute list, with what is wrong with its form.
    package var attributeList: AttributeList { AttributeList(value[...]) }
}

/// A line of a playlist that says something: comments and blank lines are left out.
public enum PlaylistEntry: Hashable, Sendable {
    /// A tag.
    case tag(PlaylistTag)
    /// An address as written, with its line.
    case address(String, line: Int)
}

extension HLSPlaylist {
    /// Reads the tags and addresses of a playlist in their order.
    ///
    /// A damaged playlist gives the entries that can be read: parse the playlist to learn what is wrong with it. A
    /// variable without a definition stays as written.
    package static func entries(
        of bytes: [UInt8],
        at url: HTTPURL,
        definitions: VariableDefinitions = [:],
        limits: ManifestLimits = ManifestLimits()
    ) -> [PlaylistEntry] {
        guard bytes.count <= limits.bytes else { return [] }
        var variables = VariableTable(limits: limits)
        var lines = PlaylistLines(bytes, limits: limits)
        var entries: [PlaylistEntry] = []
        while let line = lines.next() {
            guard let tag = line.tag else {
                entries.append(.address(text(line.text, &variables, line.number), line: line.number))
                continue
            }
            let value = text(line.value, &variables, line.number)
            if tag == "#EXT-X-DEFINE" {
                // A definition that cannot be used is an error of the parser, which names the line.
                try? variables.define(
                    AttributeList(value[...]),
                    url: url,
                    imports: definitions.values,
                    line: line.number
                )
            }
            entries.append(.tag(PlaylistTag(name: String(tag.dropFirst()), value: value, line: line.number)))
        }
        return entries
    }

    private static func text(_ text: Substring, _ variables: inout VariableTable, _ line: Int) -> String {
        guard text.contains("{$") else { return String(text) }
        return (try? variables.substitute(String(text), line: line)) ?? String(text)
    }
}
