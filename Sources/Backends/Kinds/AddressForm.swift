/// The form of a backend's address: the text behind the colon of `--backend NAME:ADDRESS`, and the value in a
/// configuration of `watch`.
public struct AddressForm: Hashable, Sendable {
    package enum Content: Hashable, Sendable { case nothing, path, url, text }

    package let content: Content
    /// The forms for the help, such as `HOST[:PORT]`.
    package let forms: [String]
    /// The expected text, for the end of a sentence that begins with "must be".
    package let expectation: String

    /// No address.
    package static let none = AddressForm(content: .nothing, forms: [], expectation: "empty")

    /// The path of a file.
    public static let path = AddressForm(content: .path, forms: ["PATH"], expectation: "the path of a file")

    /// An http or https URL.
    ///
    /// - Parameter expectation: what the URL must have, for messages: "a URL with `?db=NAME`".
    public static func url(_ expectation: String = "an http or https URL") -> AddressForm {
        AddressForm(content: .url, forms: ["URL"], expectation: expectation)
    }

    /// A text that is no URL.
    ///
    /// - Parameters:
    ///   - forms: the forms for the help, such as `HOST[:PORT]`.
    ///   - expectation: the expected text, for messages: "`HOST[:PORT]` such as `example.org:2003`".
    public static func text(_ forms: String..., expecting expectation: String) -> AddressForm {
        AddressForm(content: .text, forms: forms, expectation: expectation)
    }
}
