public import Instrument
internal import InstrumentJSON

/// Reads viewer and video from a sample.
///
/// To replace it: `Viewings { sample in … }`. The result must be the same each time for the same sample.
public struct Viewings: Sendable {
    private let read: @Sendable (Sample) -> VideoProfile.Viewing?

    /// Creates a custom reader; a sample for which it returns nil has no statements.
    public init(_ read: @escaping @Sendable (Sample) -> VideoProfile.Viewing?) { self.read = read }

    /// Creates the usual reader, for one viewer and any media.
    ///
    /// The activity is the sample's `source` without user, query and fragment, which may contain secrets; an
    /// absolute path or a `file:` URL of this machine becomes one `file:` IRI in any spelling. Without a
    /// source, the activity is named after `title`, otherwise after `streamId`, below `base`; a sample without
    /// all of them has no statements.
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

    /// Returns viewer and video; nil if the sample has no statements.
    public func callAsFunction(_ sample: Sample) -> VideoProfile.Viewing? { read(sample) }
}

/// Names for things that no vocabulary covers.
public enum XAPIVocabulary {
    /// The default base of such names. Replace it with a permanent address of your own.
    public static let base: IRI = "urn:x-instrument:"

    /// Returns the verb for an action: `…verbs/buffer-begin` for `BufferBegin`.
    public static func verb(_ action: Action, base: IRI = base) -> Statement.Verb {
        let words = words(of: action.name)
        let id = IRI(stringLiteral: "\(base)verbs/\(PercentCoding.encoded(words.joined(separator: "-")))")
        return Statement.Verb(id, display: words.isEmpty ? [:] : ["en": words.joined(separator: " ")])
    }

    /// Returns the key of an extension for an attribute: `…extensions/timeSinceStart`.
    public static func `extension`(_ name: String, base: IRI = base) -> IRI {
        IRI(stringLiteral: "\(base)extensions/\(PercentCoding.encoded(name))")
    }

    /// Stream, labels and location of a monitor as extensions.
    static func monitorExtensions(_ attributes: Attributes, base: IRI = base) -> Extensions {
        var extensions: Extensions = [:]
        for name in AttributeName.ofMonitor {
            if let value = attributes[name] { extensions[`extension`(name.spelling, base: base)] = JSONValue(value) }
        }
        return extensions
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

/// The media of a sample, as an IRI and as a title.
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
