internal import Instrument
internal import InstrumentTerminal

/// HTML that is safe to put into a page: the program's own markup, and escaped values between it.
///
/// Text from outside becomes HTML only through interpolation, which escapes `& < > " '` and makes controls, changes of
/// direction and other invisible characters visible, as ``TerminalText`` does. Attributes of the program's markup are
/// always quoted.
struct HTML: ExpressibleByStringInterpolation, Hashable, Sendable {
    /// The markup.
    private(set) var markup: String

    init(stringLiteral literal: String) { markup = literal }
    init(stringInterpolation interpolation: Interpolation) { markup = interpolation.markup }

    /// Markup that the program made itself. Never give it a value from outside.
    init(trusted markup: String) { self.markup = markup }

    struct Interpolation: StringInterpolationProtocol {
        fileprivate var markup = ""

        init(literalCapacity: Int, interpolationCount: Int) { markup.reserveCapacity(literalCapacity) }

        mutating func appendLiteral(_ literal: String) { markup += literal }
        mutating func appendInterpolation(_ html: HTML) { markup += html.markup }
        mutating func appendInterpolation(_ number: Int) { markup += String(number) }
        mutating func appendInterpolation(_ text: some StringProtocol) { markup += HTML.escaped(text) }
    }

    static func + (first: HTML, second: HTML) -> HTML { HTML(trusted: first.markup + second.markup) }
    static func += (first: inout HTML, second: HTML) { first.markup += second.markup }

    /// Text for the content of an element and for a quoted attribute.
    static func escaped(_ text: some StringProtocol) -> String { Markup.escaped(TerminalText(text).string) }
}

extension Sequence<HTML> {
    func joined() -> HTML { HTML(trusted: map(\.markup).joined()) }
}
