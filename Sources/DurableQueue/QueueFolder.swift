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
    ///
    /// What has another name than the store gives, or is a link or a file, is not shown: the store never touches it.
    public static func folders(in directory: String) -> [QueueFolder] {
        paths(in: directory).map { path in
            let segments = Directory.names(in: path).filter { FolderNames.segmentNumber($0) != nil }
            return QueueFolder(
                path: path,
                isInUse: DirectoryLock.isHeld(path),
                segmentCount: segments.count,
                bytes: segments.reduce(0) { $0 + (Directory.size(of: path + "/" + $1) ?? 0) }
            )
        }
    }

    /// Where the folders are, the oldest first.
    static func paths(in directory: String) -> [String] {
        let numbers = Directory.names(in: directory).compactMap(FolderNames.folderNumber).sorted()
        return numbers.map { directory + "/" + FolderNames.folder($0) }
            .filter { Directory.status(of: $0).map(Directory.isDirectory) ?? false }
    }

    /// Looks at every record. Changes nothing; of a folder in use it sees what is there at that moment.
    public func verify() throws(QueueError) -> Verification {
        var verification = Verification()
        let names = Directory.names(in: path)
        verification.setAside = names.filter(FolderNames.isSetAside)
        for name in names {
            guard let first = FolderNames.segmentNumber(name) else { continue }
            let size = Directory.size(of: path + "/" + name)
            guard let size, size >= SegmentHeader.size else {
                // What is no file holds no samples.
                verification.damagedBytes += size ?? 1
                continue
            }
            let segment = try Segment.existing(path + "/" + name, first: first, isViewed: true)
            Self.verify(segment, into: &verification)
        }
        return verification
    }

    private static func verify(_ segment: Segment, into verification: inout Verification) {
        let header = segment.header
        if header == nil { verification.damagedBytes += SegmentHeader.size }
        let sealedEnd = header?.plausibleCount.flatMap { _ in header?.sealed }.flatMap { Int(exactly: $0.end) }
        let limit = min(sealedEnd ?? segment.capacity, segment.capacity)
        var (offset, end, whole, last): (Int, Int, Int, UInt64?) = (SegmentHeader.size, SegmentHeader.size, 0, nil)
        while let (begin, record) = segment.nextRecord(from: offset, before: limit, after: last, until: .max) {
            (offset, end, last) = (record.next, max(end, record.next), record.sequence)
            whole += record.next - begin
            // Neither a sample nor damage.
            if record.payload.first == Segment.erasedKind { continue }
            if (try? SampleDecoder.read(record.payload)) == nil {
                verification.unknown += 1
            } else {
                verification.samples += 1
            }
        }
        // Behind the last record of a segment that is still written to there is room, not damage.
        let filled = sealedEnd ?? end
        verification.damagedBytes += max(0, filled - SegmentHeader.size - whole)
    }
}
