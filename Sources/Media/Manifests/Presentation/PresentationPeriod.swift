/// A period of an MPD (ISO/IEC 23009-1, section 5.3.2). Times are nanoseconds on the presentation timeline.
package struct PresentationPeriod: Hashable, Sendable {
    /// `id`; nil if absent.
    package var id: String?
    /// The start.
    package var start: Int64
    /// The end; nil for the last period of a live presentation.
    package var end: Int64?
    /// `AssetIdentifier`: scheme and value, which the periods of one asset share; nil if absent.
    package var asset: String?
    /// The host of the period's `BaseURL`; nil for a period without an absolute address.
    package var host: String?
}
