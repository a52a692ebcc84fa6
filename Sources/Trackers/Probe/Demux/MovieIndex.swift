internal import CFFmpeg

/// The reason for which an MP4 file has no index (`moov`; ISO/IEC 14496-12, 8.2.1), which libavformat calls damaged.
enum MovieIndex {
    /// The boxes with which a file may begin.
    private static let types: Set<BoxType> = [
        "ftyp", "mdat", "moov", "wide", "free", "skip", "uuid", "pnot", "styp", "sidx", "moof", "emsg", "prft",
    ]
    /// The boxes that are looked at.
    private static let mostBoxes = 64

    /// Returns the error of a file without a complete index; nil for a file with one, for other files, and where the
    /// size is unknown.
    static func error(
        of input: UnsafeMutablePointer<AVIOContext>,
        _ source: MediaSource
    ) -> ProbeError? {
        let size = avio_size(input)
        guard size > 0 else { return nil }
        var (place, hasFragments, isMovie) = (Int64(0), false, false)
        for _ in 0..<mostBoxes where place < size {
            guard let box = MovieFile.box(at: place, input), types.contains(box.type) else { break }
            isMovie = true
            guard box.end <= size else {
                let declared = "`\(box.type)` declares \(box.end - place) bytes, and \(size - place) of them are there"
                let remedy = "complete the file, or write the index at its beginning"
                return ProbeError(
                    .endedEarly,
                    .open,
                    source,
                    "the file ends before the end of its index (`moov`): \(declared); \(remedy)"
                )
            }
            if box.type == "moov" { return nil }
            hasFragments = hasFragments || box.type == "moof"
            place = box.end
        }
        guard isMovie else { return nil }
        return hasFragments
            ? ProbeError(
                .unsupportedFormat,
                .open,
                source,
                "this is a segment without its initialization section (`moov`); play the playlist or the MPD that lists it"
            )
            : ProbeError(
                .endedEarly,
                .open,
                source,
                "the file has no index (`moov`): the recording or the transfer was not finished; finish or repeat it"
            )
    }
}
