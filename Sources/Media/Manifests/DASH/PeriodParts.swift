internal import Instrument

/// The periods of a rendition, some of which are files with an index to fetch. Each index is read once, also if the MPD
/// is reloaded.
package struct PeriodParts: Sendable {
    private var parts: [Rendition.Part] = []
    /// The indexes that are read, or are being read.
    private var indexes: [IndexedSegments.Place: FileIndex] = [:]

    package init() {}

    /// Takes the periods of the MPD, at the first load or a reload; forgets the indexes of other files.
    package mutating func take(_ parts: [Rendition.Part]) {
        self.parts = parts
        let places = Set(parts.compactMap(\.file?.place))
        indexes = indexes.filter { places.contains($0.key) }
    }

    /// The first file whose index is not complete, and the bytes of it to fetch next.
    package var missing: (file: IndexedSegments, range: ByteRange)? {
        for file in parts.lazy.compactMap(\.file) {
            let index = indexes[file.place] ?? FileIndex(of: file)
            if let range = index.nextRange { return (file, range) }
        }
        return nil
    }

    /// Takes the bytes that ``missing`` names.
    package mutating func take(_ bytes: [UInt8]) throws(ManifestError) {
        guard let file = missing?.file else { return }
        var index = indexes[file.place] ?? FileIndex(of: file)
        try index.take(bytes)
        indexes[file.place] = index
    }

    /// The segments of the periods before the first file whose index is missing; nil without any.
    ///
    /// - Parameters:
    ///   - isComplete: whether no period will follow.
    ///   - needsBegunPeriods: whether only a period that has not begun may be missing, because the live edge lies in
    ///     any other.
    package func segments(isComplete: Bool, needsBegunPeriods: Bool) -> SegmentIndex? {
        var known: [SegmentIndex] = []
        for part in parts {
            switch part {
            case .segments(let segments): known.append(segments)
            case .index(let file):
                guard let index = indexes[file.place], index.nextRange == nil else {
                    guard !known.isEmpty, !needsBegunPeriods || file.beginsLater else { return nil }
                    return SegmentIndex(joining: known, isComplete: false)
                }
                known.append(file.segments(of: index))
            }
        }
        return SegmentIndex(joining: known, isComplete: isComplete)
    }

    /// Whether the last period is a file, to which nothing is added.
    package var endsWithFile: Bool { parts.last?.file != nil }
}

extension Rendition.Part {
    fileprivate var file: IndexedSegments? { if case .index(let file) = self { file } else { nil } }
}
