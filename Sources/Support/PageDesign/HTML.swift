internal import Instrument
internal import InstrumentTerminal

/// HTML that is safe to put into a page: the program's own markup, and escaped values between it.
///
/// Text from outside becomes HTML only through interpolation, which escapes `& < > " '` and makes controls, changes of
/// direction and other invisible characters visible, as ``TerminalText`` does. Attributes of the program's markup are
/// always quoted.
package struct HTML: ExpressibleByStringInterpolation, Hashable, Sendable {
    /// The markup.
    package private(set) var markup: String

    package init(stringLiteral literal: String) { markup = literal }
    package init(stringInterpolation interpolation: Interpolation) { markup = interpolation.markup }

    /// Markup that the program made itself. Never give it a value from outside.
    package init(trusted markup: String) { self.markup = markup }

    package struct Interpolation: StringInterpolationProtocol {
        fileprivate var markup = ""

        package init(literalCapacity: Int, interpolationCount: Int) { markup.reserveCapacity(literalCapacity) }

        package mutating func appendLiteral(_ literal: String) { markup += literal }
        package mutating func appendInterpolation(_ html: HTML) { markup += html.markup }
        package mutating func appendInterpolation(_ number: Int) { markup += String(number) }
        package mutating func appendInterpolation(_ text: some StringProtocol) { markup += HTML.escaped(text) }
    }

    package static func + (first: HTML, second: HTML) -> HTML { HTML(trusted: first.markup + second.markup) }
    package static func += (first: inout HTML, second: HTML) { first.markup += second.markup }

    /// Text for the content of an element and for a quoted attribute.
    package static func escaped(_ text: some StringProtocol) -> String { Markup.escaped(TerminalText(text).string) }
}

extension Sequence<HTML> {
    package func joined() -> HTML { HTML(trusted: map(\.markup).joined()) }
}
