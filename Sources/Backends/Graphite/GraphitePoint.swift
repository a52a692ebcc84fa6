public import Instrument

/// A value for Graphite: a path, or a name with tags, a number and a time.
public struct GraphitePoint: Hashable, Sendable {
    /// How values of one path and one second become one value, because Graphite stores a single value for both.
    public enum Kind: Hashable, Sendable {
        /// The latest value replaces earlier ones.
        case last
        /// Values are added.
        case sum
    }

    /// A name and a value, as in `;player=mpv`.
    public struct Tag: Hashable, Sendable {
        /// The name.
        public var name: String
        /// The value.
        public var value: String

        /// Creates a tag.
        package init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The nodes of the path, without dots; characters that Graphite does not allow are replaced.
    public var path: [String]
    /// The tags; empty for the classic format. A tag with an empty name or value is not written.
    public var tags: [Tag]
    /// The number; it must be finite.
    public var value: Double
    /// Whether values of one second are added.
    public var kind: Kind
    /// The calendar time, written in whole seconds.
    public var time: WallTime

    /// Creates a point.
    package init(
        path: [String],
        tags: [Tag] = [],
        value: Double,
        kind: Kind = .last,
        time: WallTime
    ) {
        self.path = path
        self.tags = tags
        self.value = value
        self.kind = kind
        self.time = time
    }
}
