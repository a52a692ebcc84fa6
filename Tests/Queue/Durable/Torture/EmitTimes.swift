import QueueChildPlan

/// The durations of emits in a period.
struct EmitTimes {
    private let before: [Int]

    /// Begins to measure.
    init(_ notes: ChildNotes) {
        before = notes.histogram
        notes.resetLongest()
    }

    /// Prints the durations of emits since the beginning, beside the documented ones.
    func describe(_ notes: ChildNotes) -> String {
        let histogram = zip(notes.histogram, before).map { $0 - $1 }
        let (longest, waits) = notes.longest
        let p999 = ChildNotes.percentile(0.999, of: histogram)
        return """
            \(histogram.reduce(0, +)) emits, p50 \(Self.text(ChildNotes.percentile(0.5, of: histogram))), \
            p99.9 \(Self.text(p999)) (\(p999 < 50_000 ? "within" : "over") 50 µs), longest \(Self.text(longest)) \
            (\(longest < 10_000_000 ? "within" : "over") 10 ms, \(waits == 0 ? "preempted" : "waited")), \
            \(notes.refusedCount) refused
            """
    }

    private static func text(_ nanoseconds: Int) -> String {
        nanoseconds < 10_000_000 ? "\(Double(nanoseconds / 100) / 10) µs" : "\(nanoseconds / 1_000_000) ms"
    }
}
