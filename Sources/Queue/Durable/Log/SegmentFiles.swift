internal import Instrument

/// The files of a log's segments in a directory: finds, opens, names and measures them.
enum SegmentFiles {
    /// Renames a spare that contains samples, and returns the sequence number of its first sample and its name. Deletes
    /// an empty spare. A spare that cannot be renamed keeps its name; its samples are nevertheless read in their order.
    ///
    /// - Throws: if the spare cannot be read; then it stays. `QueueError.Code.lacksResources` if the process
    ///   temporarily lacks a resource.
    static func nameSpare(
        in directory: String,
        _ report: (String) -> Void
    ) throws(QueueError) -> (first: UInt64, name: String)? {
        let path = directory + "/" + FolderNames.spare
        guard let spare = try openOrDiscard(path, first: 0, report) else { return nil }
        guard let (_, record) = spare.nextRecord(from: SegmentHeader.size, before: spare.capacity, after: nil) else {
            discard(spare, report)
            return nil
        }
        let first = spare.header?.first ?? record.sequence
        let named = directory + "/" + FolderNames.segment(first)
        if Directory.size(of: named) != nil {
            report("\(path) begins with the same sample as \(named)")
            Directory.setAside(path)
            return nil
        }
        do throws(QueueError) { try spare.move(to: named) } catch {
            report("\(error); the store retries it")
            return (first, FolderNames.spare)
        }
        return (first, FolderNames.segment(first))
    }

    /// Opens a file; nil if it cannot contain samples.
    static func openOrDiscard(
        _ path: String,
        first: UInt64,
        _ report: (String) -> Void
    ) throws(QueueError) -> Segment? {
        switch try Segment.opened(path, first: first) {
        case .segment(let segment): return segment
        case .missing: return nil
        case .empty:
            // A crash during its creation leaves an empty file.
            Directory.delete(path)
            return nil
        case .tooShort:
            report("\(path) is shorter than a segment's header; it was set aside")
            Directory.setAside(path)
            return nil
        }
    }

    /// Deletes a segment that was never written. Sets a damaged segment without records aside.
    static func discard(_ segment: Segment, _ report: (String) -> Void) {
        if segment.isBlank { return segment.delete() }
        report("\(segment.path) holds no readable sample; it was set aside")
        Directory.setAside(segment.path)
    }

    /// The content of a segment, from its header or from its records.
    static func extent(of segment: Segment) -> (end: Int, endSequence: UInt64, isSealed: Bool) {
        guard let header = segment.header, let count = header.plausibleCount, let sealed = header.sealed else {
            let (end, endSequence) = scan(segment)
            return (end, endSequence, false)
        }
        if sealed.end <= UInt64(segment.capacity) { return (Int(sealed.end), segment.first + count, true) }
        // The file was truncated: the sequence numbers of its samples are not used again.
        let (end, endSequence) = scan(segment)
        return (end, max(endSequence, segment.first + count), false)
    }

    /// Finds the end of an unsealed segment. Skips damage.
    private static func scan(_ segment: Segment) -> (end: Int, endSequence: UInt64) {
        var (offset, end, last): (Int, Int, UInt64?) = (SegmentHeader.size, SegmentHeader.size, nil)
        let limit = segment.capacity
        while let (_, record) = segment.nextRecord(from: offset, before: limit, after: last, until: .max) {
            // A page may be in the place of another page.
            (offset, end, last) = (record.next, max(end, record.next), record.sequence)
        }
        segment.forgetIndex()
        return (min(end, segment.capacity), last.map { $0 + 1 } ?? segment.first)
    }

    /// The log number in the headers of a directory's segments; nil if no header is readable.
    static func logNumber(in directory: String) -> UInt64? {
        let names = Directory.names(in: directory)
        for path in numbers(names, in: directory).map({ directory + "/" + FolderNames.segment($0) }) + [
            directory + "/" + FolderNames.spare
        ] {
            // The next segment, or the bookkeeping, has the same number.
            if case .segment(let segment)? = try? Segment.opened(path, first: 0, isViewed: true),
                let header = segment.header
            {
                return header.log
            }
        }
        return nil
    }

    static func numbers(_ names: [String], in directory: String) -> [UInt64] {
        // Only regular files are segments. Others are set aside when their name is needed.
        names.compactMap { name in
            guard let number = FolderNames.segmentNumber(name) else { return nil }
            let status = Directory.status(of: directory + "/" + name)
            return status.map(Directory.isFile) ?? true ? number : nil
        }.sorted()
    }
}
