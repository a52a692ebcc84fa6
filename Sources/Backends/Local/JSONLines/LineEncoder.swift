package import Instrument
internal import InstrumentJSON
package import InstrumentText

/// Writes the samples of a backend as lines, and keeps the order of their attributes from batch to batch.
package final class LineEncoder: Sendable {
    private let order = Lock(AttributeOrder())

    package init() {}

    /// The records as lines, in their order.
    package func lines(of records: ArraySlice<SampleRecord>) -> EncodedLines {
        var order = order.withLock { $0 }
        var writer = JSONWriter(capacity: records.count * 1024, order: order)
        var ends: [Int] = []
        ends.reserveCapacity(records.count)
        for record in records {
            SampleLine.write(record, to: &writer)
            ends.append(writer.count)
        }
        let bytes = writer.finish(keeping: &order)
        self.order.withLock { [order] in $0 = order }
        return EncodedLines(bytes: bytes, ends: ends)
    }
}

/// Lines in one piece of memory, each ended by a line feed.
package struct EncodedLines: ~Copyable, Sendable {
    /// All lines.
    package let bytes: ByteWriter
    /// Where each line ends, behind its line feed.
    fileprivate let ends: [Int]

    fileprivate init(bytes: consuming ByteWriter, ends: [Int]) {
        self.bytes = bytes
        self.ends = ends
    }

    /// All lines, without a copy.
    package consuming func finish() -> ByteWriter { bytes }

    /// The place of a line in ``bytes``, without its line feed.
    package func line(at index: Int) -> Range<Int> { (index == 0 ? 0 : ends[index - 1])..<ends[index] - 1 }
}
