/// The design that the pages of the programs share: the monitor's dashboard and the report.
package enum PageDesign {
    /// The tokens, `tokens.css`: colours and fonts as custom properties, for light and dark.
    ///
    /// Colours of text have a contrast of at least 4.5 to the backgrounds that they stand on, colours of areas at
    /// least 3 (WCAG 2.2, success criteria 1.4.3 and 1.4.11).
    package static let tokens = String(decoding: PackageResources.tokens_css, as: UTF8.self)
}
