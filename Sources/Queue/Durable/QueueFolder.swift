package import Instrument

/// The folder of one process in a durable queue's directory, read from outside.
package struct QueueFolder: Hashable, Sendable {
    /// The result of a verification of all records.
    package struct Verification: Hashable, Sendable {
        /// The number of readable samples.
        package var samples = 0
        /// The number of bytes without a sample.
        package var damagedBytes = 0
        /// The number of complete records of a kind that this version does not know.
        package var unknown = 0
        /// The files that an earlier start set aside.
        package var setAside: [String] = []

        /// Whether no damage was found.
        package var isWhole: Bool { damagedBytes == 0 && unknown == 0 && setAside.isEmpty }
    }

    /// The path.
    package let path: String
    /// Whether a running process owns it.
    package let isInUse: Bool
    /// The number of segments.
    package let segmentCount: Int
    /// The segments' bytes on disk.
    package let bytes: Int

    /// Returns the folders in a directory, the oldest first; empty without a queue. Changes nothing.
    ///
    /// Omits links, files and other names, which the store never uses.
    package static func folders(in directory: String) -> [QueueFolder] {
        let paths = (try? paths(in: directory)) ?? []
        return paths.map { path in
            let segments = Directory.names(in: path).filter { FolderNames.segmentNumber($0) != nil }
            return QueueFolder(
                path: path,
                isInUse: DirectoryLock.isHeld(path),
                segmentCount: segments.count,
                bytes: segments.reduce(0) { $0 + (Directory.size(of: path + "/" + $1) ?? 0) }
            )
        }
    }

    /// The paths of the folders, the oldest first; empty without a directory.
    /// - Throws: if the directory cannot be listed: a list without its folders would look like a queue without samples.
    static func paths(in directory: String) throws(QueueError) -> [String] {
        if !Directory.exists(directory) { return [] }
        let numbers = try Directory.entries(of: directory).compactMap(FolderNames.folderNumber).sorted()
        return numbers.map { directory + "/" + FolderNames.folder($0) }
            .filter { Directory.status(of: $0).map(Directory.isDirectory) ?? false }
    }

    /// Verifies every record. Changes nothing. Reads a folder in use as it is at that instant.
    package func verify() throws(QueueError) -> Verification {
        var verification = Verification()
        let names = Directory.names(in: path)
        verification.setAside = names.filter(FolderNames.isSetAside)
        for name in names {
            guard let first = FolderNames.segmentNumber(name) else { continue }
            let size = Directory.size(of: path + "/" + name)
            guard let size, size >= SegmentHeader.size else {
                // Only regular files contain samples.
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
        // The bytes after the last record of the head are free, not damaged.
        let filled = sealedEnd ?? end
        verification.damagedBytes += max(0, filled - SegmentHeader.size - whole)
    }
}
