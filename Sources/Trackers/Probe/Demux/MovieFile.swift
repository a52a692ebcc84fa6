internal import CFFmpeg
internal import CProbeShim
internal import Instrument

/// What libavformat does not say of MP4 files.
enum MovieFile {
    /// The boxes that may follow the media (ISO/IEC 14496-12).
    private static let types: Set<BoxType> = [
        "moof", "mdat", "mfra", "styp", "sidx", "emsg", "prft", "free", "skip", "uuid", "moov", "meta", "udta",
    ]
    /// The boxes behind the last frame that are looked at.
    private static let mostBoxes = 64

    /// Whether a track with samples in `moov` has edits of no duration.
    ///
    /// Such an edit has a meaning in fragmented files (ISO/IEC 14496-12, 8.6.6.1). Elsewhere libavformat plays next to
    /// nothing of the track; ExoPlayer and QuickTime play all of it, because nobody writes a track to show none of it.
    static func hasEditsWithoutDuration(_ context: UnsafeMutablePointer<AVFormatContext>?) -> Bool {
        guard let context, isMovie(context), let streams = context.pointee.streams else { return false }
        return (0..<Int(context.pointee.nb_streams)).contains { index in
            guard let stream = streams[index]?.pointee else { return false }
            return stream.duration == 0 && stream.nb_frames > 1
        }
    }

    /// Whether no frame of an MP4 file is known; false for other formats.
    static func hasNoFrames(_ context: UnsafeMutablePointer<AVFormatContext>) -> Bool {
        guard isMovie(context), let streams = context.pointee.streams else { return isMovie(context) }
        return (0..<Int(context.pointee.nb_streams)).allSatisfy { index in
            streams[index].map { avformat_index_get_entries_count($0) == 0 } ?? true
        }
    }

    /// Whether a file whose end was reached ends inside a box, by the places of the frames and the boxes behind them;
    /// false where the size is unknown.
    static func isCutOff(
        _ context: UnsafeMutablePointer<AVFormatContext>,
        _ input: UnsafeMutablePointer<AVIOContext>
    ) -> Bool {
        guard isMovie(context), let streams = context.pointee.streams else { return false }
        let size = avio_size(input)
        guard size > 0 else { return false }
        var place: Int64 = 0
        for index in 0..<Int(context.pointee.nb_streams) {
            guard let stream = streams[index],
                let entry = avformat_index_get_entry(stream, avformat_index_get_entries_count(stream) - 1)
            else { continue }
            place = max(place, entry.pointee.pos.saturatingAdd(Int64(entry.pointee.size)))
        }
        guard place > 0 else { return false }
        for _ in 0..<mostBoxes where place < size {
            guard let box = box(at: place, input), types.contains(box.type) else { return false }
            place = box.end
        }
        return place > size
    }

    /// The type and the end of a box, which may be behind that of the file; nil for something else, such as media that
    /// no track uses, a few bytes that are no header, or a box that reaches to the end of the file.
    static func box(at place: Int64, _ input: UnsafeMutablePointer<AVIOContext>) -> (type: BoxType, end: Int64)? {
        var head = [UInt8](repeating: 0, count: 16)
        guard avio_seek(input, place, SEEK_SET) == place, avio_read(input, &head, Int32(head.count)) >= 8 else {
            return nil
        }
        return head.withUnsafeBytes { bytes in
            Box(bytes, at: 0).map { (type: $0.type, end: place.saturatingAdd(Int64($0.content.upperBound))) }
        }
    }

    /// Whether libavformat reads the input as MP4 or QuickTime.
    static func isMovie(_ context: UnsafeMutablePointer<AVFormatContext>) -> Bool {
        guard let name = context.pointee.iformat?.pointee.name else { return false }
        return String(cString: name).split(separator: ",").contains("mp4")
    }
}
