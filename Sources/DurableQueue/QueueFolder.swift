public import Instrument

/// One process's part of a durable queue's directory, seen from outside.
public struct QueueFolder: Hashable, Sendable {
    /// What a look at every record found.
    public struct Verification: Hashable, Sendable {
        /// Samples that can be read.
        public var samples = 0
        /// Bytes that belong to no sample.
        public var damagedBytes = 0
        /// Records that are whole, but of a kind that this version does not know.
        public var unknown = 0
        /// Files that were set aside at an earlier start.
        public var setAside: [String] = []

        /// Nothing is damaged.
        public var isWhole: Bool { damagedBytes == 0 && unknown == 0 && setAside.isEmpty }
    }

    /// Where it is.
    public let path: String
    /// Whether a process that is running owns it.
    public let isInUse: Bool
    /// How many segments there are, and their bytes.
    public let segmentCount: Int
    /// The segments' bytes on disk.
    public let bytes: Int

    /// The folders in a directory, the oldest first; none if there is no queue in it. Changes nothing.
    public static func folders(in directory: String) -> [QueueFolder] {
        Directory.names(in: directory).filter { $0.hasSuffix(".queue") }.map { name in
            let path = directory + "/" + name
            let segments = Directory.names(in: path).filter { $0.hasSuffix(".segment") }
            let isInUse = Directory.size(of: path + "/lock") != nil && DirectoryLock(path) == nil
            return QueueFolder(
                path: path,
                isInUse: isInUse,
                segmentCount: segments.count,
                bytes: segments.reduce(0) { $0 + (Directory.size(of: path + "/" + $1) ?? 0) }
            )
        }
    }

    /// Looks at every record. Changes nothing; of a folder in use it sees what is there at that moment.
    public func verify() throws(QueueError) -> Verification {
        var verification = Verification()
        let names = Directory.names(in: path)
        verification.setAside = names.filter { $0.contains(".damaged") }
        for name in names where name.hasSuffix(".segment") {
            guard let first = UInt64(name.prefix(16), radix: 16),
                Directory.size(of: path + "/" + name) ?? 0 >= SegmentHeader.size
            else {
                verification.damagedBytes += Directory.size(of: path + "/" + name) ?? 0
                continue
            }
            Self.verify(try Segment.existing(path + "/" + name, first: first), into: &verification)
        }
        return verification
    }

    private static func verify(_ segment: Segment, into verification: inout Verification) {
        let header = segment.header
        if header == nil { verification.damagedBytes += SegmentHeader.size }
        let sealedEnd = header?.sealed.flatMap { Int(exactly: $0.end) }
        let limit = min(sealedEnd ?? segment.capacity, segment.capacity)
        var (offset, last): (Int, UInt64?) = (SegmentHeader.size, nil)
        while let (begin, record) = segment.nextRecord(from: offset, before: limit, after: last) {
            verification.damagedBytes += begin - offset
            (offset, last) = (record.next, record.sequence)
            if (try? SampleDecoder.read(record.payload)) == nil {
                verification.unknown += 1
            } else {
                verification.samples += 1
            }
        }
        // Behind the last record of a segment that is still written to there is room, not damage.
        if sealedEnd != nil { verification.damagedBytes += max(0, limit - offset) }
    }
}
