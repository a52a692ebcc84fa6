package import Instrument

/// What an independent ear heard of a playback: the samples that a sink for sound received.
package struct SampleCounter: Hashable, Sendable {
    /// Samples a second.
    package var sampleRate: Int
    /// The samples of one channel that the sink received.
    package private(set) var count = 0
    /// The instant of the first samples.
    package private(set) var begin: MonotonicInstant?

    /// Creates a counter that has heard nothing.
    package init(sampleRate: Int = 48_000) { self.sampleRate = max(1, sampleRate) }

    /// The length of the sound that was received.
    package var duration: Duration { .seconds(Double(count) / Double(sampleRate)) }

    /// Takes samples that arrived at `instant`; a count below zero counts nothing.
    package mutating func heard(_ samples: Int, at instant: MonotonicInstant) {
        guard samples > 0 else { return }
        begin = begin ?? instant
        count = count.addingReportingOverflow(samples).overflow ? .max : count + samples
    }
}
