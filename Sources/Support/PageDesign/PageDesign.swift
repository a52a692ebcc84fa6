package import Instrument
internal import InstrumentText

/// The design that the pages of the programs share: the monitor's dashboard and its month, and the report.
package enum PageDesign {
    /// The tokens, `tokens.css`: colours and fonts as custom properties, for light and dark.
    ///
    /// Colours of text have a contrast of at least 4.5 to the backgrounds that they stand on, colours of areas at
    /// least 3 (WCAG 2.2, success criteria 1.4.3 and 1.4.11).
    package static let tokens = String(decoding: PackageResources.tokens_css, as: UTF8.self)

    /// The style of a page that is read from top to bottom, and printed: the tokens and `document.css`.
    package static let document = tokens + String(decoding: PackageResources.document_css, as: UTF8.self)

    /// A text with at most this number of characters, and `…` in place of the rest.
    package static func cut(_ text: String, to count: Int) -> String {
        let scalars = text.unicodeScalars
        return scalars.count <= count ? text : String(String.UnicodeScalarView(scalars.prefix(max(1, count - 1)))) + "…"
    }

    /// `2026-11-22 13:05 UTC`.
    package static func minutes(_ time: WallTime) -> String {
        time.rfc3339.prefix(16).replacing("T", with: " ") + " UTC"
    }
}
