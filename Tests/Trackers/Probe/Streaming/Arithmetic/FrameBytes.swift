/// A frame, and the number of bytes of its segment that hold it completely.
struct FrameBytes: Hashable, Sendable {
    var isVideo: Bool
    /// The presentation times in nanoseconds of the container's timeline.
    var start: Int64
    var end: Int64
    var bytes: Int
}

/// Reads which byte completes which frame; shares no code with the probe.
///
/// For media with 25 pictures per second and AAC of 48 kHz, as the fixtures have. Nothing is checked: the bytes are the
/// fixtures' own.
enum FrameBytesReader {
    private static let picture: Int64 = 40_000_000

    static func frames(of segment: [UInt8], initialization: [UInt8]) -> [FrameBytes] {
        initialization.isEmpty ? transportStream(segment) : fragments(segment, initialization)
    }

    private static func nanoseconds(_ ticks: Int64, _ timescale: Int64) -> Int64 {
        (ticks * 1_000_000_000 + timescale / 2) / timescale
    }
}

// MARK: Transport streams (ISO/IEC 13818-1, sections 2.4.3.2 and 2.4.3.6)
extension FrameBytesReader {
    /// A packet of an elementary stream so far.
    private struct Unit {
        var payload: [UInt8] = []
        var end = 0
    }

    private static func transportStream(_ bytes: [UInt8]) -> [FrameBytes] {
        var open: [Int: Unit] = [:]
        var frames: [FrameBytes] = []
        for offset in stride(from: 0, to: bytes.count, by: 188) {
            let packet = Array(bytes[offset..<offset + 188])
            let pid = Int(packet[1] & 0x1F) << 8 | Int(packet[2])
            let hasPayload = packet[3] & 0x10 != 0
            let begin = packet[3] & 0x20 != 0 ? 5 + Int(packet[4]) : 4
            guard hasPayload, begin < 188 else { continue }
            if packet[1] & 0x40 != 0 {
                frames += open[pid].map(elementary) ?? []
                open[pid] = packet[begin...].starts(with: [0, 0, 1]) ? Unit() : nil
            }
            open[pid]?.payload += packet[begin...]
            open[pid]?.end = offset + 188
        }
        for unit in open.values { frames += elementary(unit) }
        return frames.sorted { ($0.bytes, $0.end) < ($1.bytes, $1.end) }
    }

    private static func elementary(_ unit: Unit) -> [FrameBytes] {
        let data = unit.payload
        let time = data[9..<14].map { Int64($0) }
        let ticks = (time[0] >> 1 & 7) << 30 | time[1] << 22 | (time[2] >> 1) << 15 | time[3] << 7 | time[4] >> 1
        if data[3] & 0xF0 == 0xE0 {
            let start = nanoseconds(ticks, 90_000)
            return [FrameBytes(isVideo: true, start: start, end: start + picture, bytes: unit.end)]
        }
        var frames: [FrameBytes] = []
        var place = 9 + Int(data[8])
        while place + 7 <= data.count {
            let count = Int64(frames.count)
            let times = [count, count + 1].map { nanoseconds(ticks + $0 * 1920, 90_000) }
            frames.append(FrameBytes(isVideo: false, start: times[0], end: times[1], bytes: unit.end))
            // ISO/IEC 14496-3, 1.A.2.2.1: the length of an ADTS frame.
            place += Int(data[place + 3] & 3) << 11 | Int(data[place + 4]) << 3 | Int(data[place + 5]) >> 5
        }
        return frames
    }
}

// MARK: Fragmented MP4 (ISO/IEC 14496-12)
extension FrameBytesReader {
    private struct Track {
        var isVideo = false
        var timescale: Int64 = 1
        /// Ticks that the edit list adds to decoding times, in nanoseconds.
        var shift: Int64 = 0
    }

    /// The boxes of a part of a file.
    private static func boxes(_ bytes: [UInt8], _ range: Range<Int>) -> [(type: String, content: Range<Int>)] {
        var found: [(String, Range<Int>)] = []
        var place = range.lowerBound
        while place + 8 <= range.upperBound {
            let size = Int(number(bytes, place, 4))
            found.append((String(decoding: bytes[place + 4..<place + 8], as: UTF8.self), place + 8..<place + size))
            place += size
        }
        return found
    }

    private static func box(_ path: String, _ bytes: [UInt8], _ range: Range<Int>) -> Range<Int>? {
        path.split(separator: "/").reduce(range) { range, type in
            range.flatMap { boxes(bytes, $0).first { $0.type == type }?.content }
        }
    }

    private static func number(_ bytes: [UInt8], _ place: Int, _ count: Int) -> Int64 {
        bytes[place..<place + count].reduce(0) { $0 << 8 | Int64($1) }
    }

    private static func tracks(_ bytes: [UInt8]) -> [Int64: Track] {
        guard let movie = box("moov", bytes, bytes.indices), let header = box("mvhd", bytes, movie) else { return [:] }
        let movieScale = number(bytes, header.lowerBound + 12, 4)
        var tracks: [Int64: Track] = [:]
        for (type, content) in boxes(bytes, movie) where type == "trak" {
            guard let header = box("tkhd", bytes, content), let media = box("mdia/mdhd", bytes, content),
                let handler = box("mdia/hdlr", bytes, content)
            else { continue }
            var track = Track(timescale: number(bytes, media.lowerBound + 12, 4))
            track.isVideo = bytes[handler.lowerBound + 8..<handler.lowerBound + 12].elementsEqual("vide".utf8)
            if let edits = box("edts/elst", bytes, content) {
                for index in 0..<Int(number(bytes, edits.lowerBound + 4, 4)) {
                    let place = edits.lowerBound + 8 + 12 * index
                    let start = Int64(Int32(truncatingIfNeeded: number(bytes, place + 4, 4)))
                    let isEmpty = start < 0
                    track.shift +=
                        isEmpty
                        ? nanoseconds(number(bytes, place, 4), movieScale) : -nanoseconds(start, track.timescale)
                }
            }
            tracks[number(bytes, header.lowerBound + 12, 4)] = track
        }
        return tracks
    }

    private static func fragments(_ bytes: [UInt8], _ initialization: [UInt8]) -> [FrameBytes] {
        let tracks = tracks(initialization)
        var frames: [FrameBytes] = []
        for (type, content) in boxes(bytes, bytes.indices) where type == "moof" {
            for (type, part) in boxes(bytes, content) where type == "traf" {
                frames += run(bytes, part, tracks, fragment: content.lowerBound - 8)
            }
        }
        return frames.sorted { ($0.bytes, $0.end) < ($1.bytes, $1.end) }
    }

    /// The samples of a track fragment with one run.
    private static func run(
        _ bytes: [UInt8],
        _ range: Range<Int>,
        _ tracks: [Int64: Track],
        fragment: Int
    ) -> [FrameBytes] {
        guard let header = box("tfhd", bytes, range), let decode = box("tfdt", bytes, range),
            let run = box("trun", bytes, range), let track = tracks[number(bytes, header.lowerBound + 4, 4)]
        else { return [] }
        var place = header.lowerBound + 8
        func take(_ isThere: Bool) -> Int64? {
            defer { place += isThere ? 4 : 0 }
            return isThere ? number(bytes, place, 4) : nil
        }
        let flags = number(bytes, header.lowerBound, 4)
        _ = take(flags & 0x2 != 0)
        let (duration, size) = (take(flags & 0x8 != 0), take(flags & 0x10 != 0))
        var time = number(bytes, decode.lowerBound + 4, bytes[decode.lowerBound] == 1 ? 8 : 4)
        let fields = number(bytes, run.lowerBound, 4)
        place = run.lowerBound + 8
        var end = fragment + Int(take(fields & 0x1 != 0) ?? 0)
        _ = take(fields & 0x4 != 0)
        var frames: [FrameBytes] = []
        for _ in 0..<number(bytes, run.lowerBound + 4, 4) {
            let length = take(fields & 0x100 != 0) ?? duration ?? 0
            end += Int(take(fields & 0x200 != 0) ?? size ?? 0)
            _ = take(fields & 0x400 != 0)
            let shown = time + Int64(Int32(truncatingIfNeeded: take(fields & 0x800 != 0) ?? 0))
            let times = [shown, shown + length].map { nanoseconds($0, track.timescale) + track.shift }
            frames.append(FrameBytes(isVideo: track.isVideo, start: times[0], end: times[1], bytes: end))
            time += length
        }
        return frames
    }
}
