package import Instrument

/// Why a sample of another monitor is not used.
package enum SampleRefusal: String, Hashable, Sendable, CaseIterable {
    /// The bytes are no sample.
    case damaged
    /// The sample was read before: sources deliver at least once.
    case double
    /// The sample is older than what is known of its session, or older than a day.
    case late
    /// The sample's time is more than an hour ahead of this machine's clock.
    case future
    /// The sample names no stream: a player of an app wrote it, and no monitor.
    case unnamed
    /// The stream, the location or the address is none that a monitor could have.
    case invalid
    /// Another session of the same stream in the same place is watched: two monitors have the same location.
    case rival
    /// There are more streams or places than the monitor watches.
    case excess
}

/// What a source of samples returned at once.
package struct SampleBatch: Sendable {
    /// The samples, those of a session in their order.
    package var records: [SampleRecord]
    /// The numbers of samples that were refused before they got here.
    package var refused: [SampleRefusal: Int]
    /// Whether the source had nothing newer.
    package var isCaughtUp: Bool

    package init(records: [SampleRecord] = [], refused: [SampleRefusal: Int] = [:], isCaughtUp: Bool = false) {
        (self.records, self.refused, self.isCaughtUp) = (records, refused, isCaughtUp)
    }
}
