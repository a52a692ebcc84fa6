public import Instrument

/// Reads off a sample who watches what.
///
/// Replaceable in whole: `Viewings { sample in … }`. What it gives has to be the same each time for the same sample.
public struct Viewings: Sendable {
    private let read: @Sendable (Sample) -> VideoProfile.Viewing?

    /// Creates a reader of one's own; nil means that nothing is said of the sample.
    public init(_ read: @escaping @Sendable (Sample) -> VideoProfile.Viewing?) { self.read = read }

    /// Creates the usual reader: one viewer, and whatever is played.
    ///
    /// The activity is the sample's `source` without user, query and fragment, which may hold secrets; an absolute
    /// path, or a `file:` URL of this machine, becomes one `file:` IRI, however it is spelled. Without a source it is named by `title`, without that by `streamId`, below `base`; else there is
    /// none, and nothing is said.
    public init(
        viewer: Statement.Actor,
        registration: SampleID? = nil,
        completionThreshold: Double = 1,
        base: IRI = XAPIVocabulary.base
    ) {
        self.init { sample in
            MediaName.activity(of: sample.attributes, base: base).map { activity in
                VideoProfile.Viewing(
                    viewer: viewer,
                    activity: activity,
                    name: MediaName.title(of: sample.attributes).map { ["und": $0] } ?? [:],
                    registration: registration,
                    completionThreshold: completionThreshold
                )
            }
        }
    }

    /// Who watches what.
    public func callAsFunction(_ sample: Sample) -> VideoProfile.Viewing? { read(sample) }
}

/// The names of what no vocabulary has a name for.
public enum XAPIVocabulary {
    /// Where our own names stand by default. Put an address in its place that is yours and will stay.
    public static let base: IRI = "urn:x-instrument:"

    /// A verb for an action: `BufferBegin` is `…verbs/buffer-begin`.
    public static func verb(_ action: Action, base: IRI = base) -> Statement.Verb {
        let words = words(of: action.name)
        let id = IRI(stringLiteral: "\(base)verbs/\(PercentCoding.encoded(words.joined(separator: "-")))")
        return Statement.Verb(id, display: words.isEmpty ? [:] : ["en": words.joined(separator: " ")])
    }

    /// The key of an extension for an attribute: `…extensions/timeSinceStart`.
    public static func `extension`(_ name: String, base: IRI = base) -> IRI {
        IRI(stringLiteral: "\(base)extensions/\(PercentCoding.encoded(name))")
    }

    /// `BufferBegin` as `buffer`, `begin`.
    private static func words(of name: String) -> [String] {
        var words: [String] = []
        for character in name {
            if words.isEmpty || character.isUppercase { words.append("") }
            words[words.count - 1] += character.lowercased()
        }
        return words
    }
}

/// What is played, as an IRI and as a title.
enum MediaName {
    static func title(of attributes: Attributes) -> String? { attributes[.title].flatMap { $0.isEmpty ? nil : $0 } }

    static func activity(of attributes: Attributes, base: IRI) -> IRI? {
        if let source = attributes[.source], !source.isEmpty { return address(source, base) }
        if let title = title(of: attributes) { return name("titles", title, base) }
        return attributes[.streamId].map { name("streams", $0, base) }
    }

    private static func address(_ source: String, _ base: IRI) -> IRI {
        if let path = LocalFile.path(of: source) {
            return IRI(stringLiteral: "file://" + PercentCoding.encoded(path, keeping: "/"))
        }
        let end = source.firstIndex { $0 == "?" || $0 == "#" } ?? source.endIndex
        let text = withoutUser(PercentCoding.encoded(source[..<end], keeping: "/:@!$&'()*+,;=%[]"))
        return text.contains("://") ? IRI(checking: text) ?? name("sources", text, base) : name("sources", text, base)
    }

    private static func withoutUser(_ text: String) -> String {
        guard let start = text.firstRange(of: "://")?.upperBound else { return text }
        let authority = text[start...].prefix { $0 != "/" }
        guard let at = authority.lastIndex(of: "@") else { return text }
        return String(text[..<start]) + text[text.index(after: at)...]
    }

    private static func name(_ kind: String, _ text: String, _ base: IRI) -> IRI {
        IRI(stringLiteral: "\(base)\(kind)/\(PercentCoding.encoded(text))")
    }
}
