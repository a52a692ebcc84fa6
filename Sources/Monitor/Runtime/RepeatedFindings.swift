internal import Instrument
package import InstrumentMonitor

/// Carries the broken rules of a short run of a check into the next run.
///
/// The check of a stream on demand is a short run that is repeated. A rule that only a late round of it can find, such
/// as a playlist that changes at its reload, is not kept in the early rounds of the next run: they cannot know.
package struct RepeatedFindings: Sendable {
    /// The broken rules of the run before, in their order.
    private var carried: [CheckObservation.Broken] = []
    private var found: [CheckObservation.Broken] = []

    package init() {}

    /// Begins another run.
    /// - Parameter carries: whether the run before it was short, so that the next one finds the same within its length.
    package mutating func beginRun(carries: Bool) {
        (carried, found) = (carries ? found : [], [])
    }

    /// The observation with the rules of the run before that this run has not looked for yet.
    package mutating func complete(_ observation: CheckObservation) -> CheckObservation {
        var complete = observation
        for broken in observation.broken {
            found.removeAll { $0.rule == broken.rule }
            found.append(broken)
        }
        complete.broken += carried.filter { known in !observation.broken.contains { $0.rule == known.rule } }
        return complete
    }
}
