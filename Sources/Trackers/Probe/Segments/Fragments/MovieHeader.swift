internal import Instrument

/// The tracks of a fragmented file, from its initialization section (ISO/IEC 14496-12, 8.2 and 8.8).
struct MovieHeader: Hashable, Sendable {
    struct Track: Hashable, Sendable {
        var id: UInt32 = 0
        var kind = PlaybackModel.Track.video
        /// Ticks a second.
        var timescale: Int64 = 0
        /// The sample entry; nil in doubt.
        var entry: SampleEntry?
        /// The ticks by which an edit list lets media start earlier (of `timescale`) or later (of the movie's).
        var mediaStart: Int64 = 0
        var emptyEdit: Int64 = 0
        var defaults: SampleDefaults?
    }

    /// The default values of the samples of a track.
    struct SampleDefaults: Hashable, Sendable {
        var duration: UInt32 = 0
        var size: UInt32 = 0
        var flags: UInt32 = 0
    }

    private(set) var tracks: [Track] = []
    /// Ticks a second of edits.
    private var timescale: Int64 = 0

    /// Whether samples of a track are encrypted.
    var isEncrypted: Bool { tracks.contains { $0.entry?.isEncrypted == true } }

    /// Reads an initialization section; nil in doubt.
    init?(_ bytes: UnsafeRawBufferPointer) {
        var header = Self()
        var hasMovie = false
        let isRead = Box.all(in: bytes) { type, content in
            switch type {
            case "ftyp", "styp", "free", "skip", "sidx", "uuid", "emsg": return true
            case "moov" where !hasMovie:
                hasMovie = true
                return header.read(movie: content)
            default: return false
            }
        }
        guard isRead, hasMovie, header.isComplete else { return nil }
        self = header
    }

    private init() {}

    private var isComplete: Bool {
        // libavformat takes the first track with samples: with two of a kind, the order would matter.
        !tracks.isEmpty && Set(tracks.map(\.kind)).count == tracks.count && Set(tracks.map(\.id)).count == tracks.count
            && tracks.allSatisfy { $0.timescale > 0 && $0.entry != nil && $0.defaults != nil }
            && (timescale > 0 || tracks.allSatisfy { $0.emptyEdit == 0 })
    }

    /// The ticks that are subtracted from the times of a track's samples, rounded like libavformat.
    func offset(of track: Track) -> Int64 {
        guard track.emptyEdit > 0, timescale > 0 else { return track.mediaStart }
        let product = track.emptyEdit.multipliedReportingOverflow(by: track.timescale)
        guard !product.overflow else { return track.mediaStart }
        return track.mediaStart.saturatingSubtract(product.partialValue.saturatingAdd(timescale / 2) / timescale)
    }

    private mutating func read(movie: UnsafeRawBufferPointer) -> Bool {
        var defaults: [UInt32: SampleDefaults] = [:]
        let isRead = Box.all(in: movie) { type, content in
            switch type {
            case "mvhd":
                guard let version = content.first, version <= 1,
                    let timescale = content.unsigned32(at: version == 1 ? 20 : 12)
                else { return false }
                self.timescale = Int64(timescale)
                return true
            case "trak":
                guard tracks.count < 4, let track = Track(content) else { return false }
                tracks.append(track)
                return true
            case "mvex":
                return Box.all(in: content) { type, content in
                    guard type == "trex" else { return true }
                    guard let id = content.unsigned32(at: 4), let duration = content.unsigned32(at: 12),
                        let size = content.unsigned32(at: 16), let flags = content.unsigned32(at: 20),
                        defaults[id] == nil, defaults.count < 16
                    else { return false }
                    defaults[id] = SampleDefaults(duration: duration, size: size, flags: flags)
                    return true
                }
            default: return true
            }
        }
        for index in tracks.indices { tracks[index].defaults = defaults[tracks[index].id] }
        return isRead
    }
}

extension MovieHeader.Track {
    fileprivate init?(_ track: UnsafeRawBufferPointer) {
        self.init()
        let isRead = Box.all(in: track) { type, content in
            switch type {
            case "tkhd":
                guard let version = content.first, version <= 1,
                    let id = content.unsigned32(at: version == 1 ? 20 : 12)
                else { return false }
                self.id = id
                return true
            case "edts": return Box.all(in: content) { type, content in type == "elst" ? read(edits: content) : true }
            case "mdia": return Box.all(in: content) { type, content in read(mediaBox: type, content) }
            default: return true
            }
        }
        guard isRead else { return nil }
    }

    /// An edit that shifts the media, after an empty one; nothing else.
    private mutating func read(edits: UnsafeRawBufferPointer) -> Bool {
        guard let version = edits.first, version <= 1, let count = edits.unsigned32(at: 4), count <= 2 else {
            return false
        }
        let size = version == 1 ? 20 : 12
        for index in 0..<Int(count) {
            let offset = 8 + index * size
            var duration, time: Int64
            if version == 1 {
                guard let first = edits.unsigned64(at: offset), let second = edits.unsigned64(at: offset + 8) else {
                    return false
                }
                (duration, time) = (Int64(bitPattern: first), Int64(bitPattern: second))
            } else {
                guard let first = edits.unsigned32(at: offset), let second = edits.unsigned32(at: offset + 4) else {
                    return false
                }
                (duration, time) = (Int64(first), Int64(Int32(bitPattern: second)))
            }
            guard edits.unsigned32(at: offset + size - 4) == 0x10000 else { return false }
            if time == -1, index == 0 {
                guard 0...(1 << 40) ~= duration else { return false }
                emptyEdit = duration
            } else {
                guard 0...(1 << 50) ~= time, index == (emptyEdit > 0 ? 1 : 0) else { return false }
                mediaStart = time
            }
        }
        return true
    }

    private mutating func read(mediaBox type: BoxType, _ content: UnsafeRawBufferPointer) -> Bool {
        switch type {
        case "mdhd":
            guard let version = content.first, version <= 1,
                let timescale = content.unsigned32(at: version == 1 ? 20 : 12)
            else { return false }
            self.timescale = Int64(timescale)
            return true
        case "hdlr":
            guard let handler = content.unsigned32(at: 8) else { return false }
            switch BoxType(rawValue: handler) {
            case "vide": kind = .video
            case "soun": kind = .audio
            default: return false
            }
            return true
        case "minf":
            return Box.all(in: content) { type, content in
                type == "stbl" ? Box.all(in: content) { type, content in read(tableBox: type, content) } : true
            }
        default: return true
        }
    }

    private mutating func read(tableBox type: BoxType, _ content: UnsafeRawBufferPointer) -> Bool {
        switch type {
        case "stsd":
            entry = SampleEntry(content)
            return entry != nil
        // All samples must be in fragments.
        case "stsz", "stz2": return content.unsigned32(at: 8) == 0
        case "stts", "stco", "co64", "stsc", "ctts": return content.unsigned32(at: 4) == 0
        default: return true
        }
    }
}
