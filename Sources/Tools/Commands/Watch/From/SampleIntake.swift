internal import Instrument
internal import InstrumentBackends
internal import InstrumentMonitor
internal import InstrumentReplay

/// Makes batches of the lines that a source returns: each sample once.
struct SampleIntake: Sendable {
    /// No monitor writes a longer line.
    private static let longestLine = 1 << 20

    private var seen = SeenSamples()

    /// Decodes lines in their order; what is no sample, and what was seen before, is counted.
    mutating func batch(of lines: [[UInt8]], isCaughtUp: Bool) -> SampleBatch {
        var batch = SampleBatch(isCaughtUp: isCaughtUp)
        batch.records.reserveCapacity(lines.count)
        for line in lines {
            guard line.count <= Self.longestLine, let record = try? JSONLines.decode(line) else {
                batch.refused[.damaged, default: 0] += 1
                continue
            }
            if seen.insert(record, isOfLog: record.isOfLog) {
                batch.records.append(record)
            } else {
                batch.refused[.double, default: 0] += 1
            }
        }
        return batch
    }
}
