/// Text inside the markup of HTML and XML.
package enum Markup {
    /// The text for the content of an element and for a quoted attribute: the five characters of the markup (XML 1.0,
    /// section 2.4) as references.
    ///
    /// Compares Unicode scalars, as parsers do: a combining mark behind a `<` makes one character with the `<`, and
    /// leaves it markup.
    package static func escaped(_ text: some StringProtocol) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "'": escaped += "&#39;"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
