import Instrument
import Testing

/// Records which parts of a multiplexer were called, in order.
struct ComponentJournal: Sendable {
    let lines = Lock<[String]>([])

    /// Records a call of the component with that name.
    func note(_ name: String, _ call: String) { lines.withLock { $0.append("\(name) \(call)") } }

    /// Requires that ready, the removal of tracker 7 and the end reached the components `a` and `b`, in this order.
    func expectWholeLife(sourceLocation: SourceLocation = #_sourceLocation) {
        let expected = ["a ready", "b ready", "a forget 7", "b forget 7", "a end", "b end"]
        #expect(lines.withLock { $0 } == expected, sourceLocation: sourceLocation)
    }
}

extension Timestamp {
    /// The start of both clocks.
    static let zero = Timestamp(instant: MonotonicInstant(nanoseconds: 0), wallTime: WallTime(milliseconds: 0))
}
