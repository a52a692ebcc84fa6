/// A text in one or more languages, under language tags (RFC 5646).
///
/// ```swift
/// let display: LanguageMap = ["en": "played", "de": "hat abgespielt"]
/// ```
///
/// Source: xAPI 1.0.3, Data 4.2.
public struct LanguageMap: Hashable, Sendable, ExpressibleByDictionaryLiteral {
    /// The texts by tag. A required language map must have at least one.
    package var texts: [String: String]

    /// Creates a map.
    public init(_ texts: [String: String]) { self.texts = texts }

    /// Creates a map; the last of several texts with one tag counts.
    public init(dictionaryLiteral elements: (String, String)...) {
        texts = Dictionary(elements) { _, last in last }
    }

    /// The text under a tag in exactly this spelling.
    public subscript(tag: String) -> String? {
        get { texts[tag] }
        set { texts[tag] = newValue }
    }
}
