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
