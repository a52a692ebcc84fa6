/// A text in one or more languages, under language tags (RFC 5646).
///
/// ```swift
/// let display: LanguageMap = ["en": "played", "de": "hat abgespielt"]
/// ```
///
/// Source: xAPI 1.0.3, Data 4.2.
public struct LanguageMap: Hashable, Sendable, ExpressibleByDictionaryLiteral {
    /// The texts by tag. One at least has to be there where a language map is required.
    public var texts: [String: String]

    /// Creates a map.
    public init(_ texts: [String: String]) { self.texts = texts }

    /// Creates a map; of two texts with one tag the last counts.
    public init(dictionaryLiteral elements: (String, String)...) {
        texts = Dictionary(elements) { _, last in last }
    }

    /// The text under that tag, spelled just so.
    public subscript(tag: String) -> String? {
        get { texts[tag] }
        set { texts[tag] = newValue }
    }
}
