internal import Instrument

/// The samples that a movie fragment describes (ISO/IEC 14496-12, 8.8).
struct MovieFragment {
    struct Sample {
        /// Ticks of the track, without its edit list.
        var decoded: Int64
        var composition: Int64
        var duration: Int64
        /// The offsets in the segment.
        var bytes: Range<Int>
        var isSync: Bool
    }

    /// The samples of a track of the movie.
    struct Run {
        /// The index of the track.
        var track: Int
        var samples: [Sample]
    }

    private static let mostSamples = 100_000
    private static let latestTime: UInt64 = 1 << 60

    private(set) var runs: [Run] = []
    private let header: MovieHeader
    private let start: Int
    private let initializationSize: Int
    /// The offset of the data of a track whose header has none.
    private var implicitBase: Int

    /// Reads a fragment; nil in doubt.
    ///
    /// - Parameters:
    ///   - start: the offset of the box in the segment.
    ///   - initializationSize: the bytes in front of the segment, for absolute offsets.
    init?(_ content: UnsafeRawBufferPointer, at start: Int, _ header: MovieHeader, initializationSize: Int) {
        self.header = header
        self.start = start
        self.initializationSize = initializationSize
        implicitBase = start
        let isRead = Box.all(in: content) { type, content in
            switch type {
            case "traf": read(track: content)
            case "mfhd", "pssh", "free", "skip", "uuid": true
            default: false
            }
        }
        guard isRead else { return nil }
    }

    private mutating func read(track: UnsafeRawBufferPointer) -> Bool {
        var run: Run?
        var (defaults, base, time) = (MovieHeader.SampleDefaults(), 0, Int64?.none)
        let isRead = Box.all(in: track) { type, content in
            switch type {
            case "tfhd":
                guard run == nil, let id = content.unsigned32(at: 4),
                    let index = header.tracks.firstIndex(where: { $0.id == id }),
                    !runs.contains(where: { $0.track == index }), let known = header.tracks[index].defaults,
                    let found = read(header: content, known, &base)
                else { return false }
                defaults = found
                run = Run(track: index, samples: [])
                return true
            case "tfdt":
                guard run != nil, time == nil, let version = content.first, version <= 1,
                    let value = version == 1
                        ? content.unsigned64(at: 4) : content.unsigned32(at: 4).map({ UInt64($0) }),
                    value < Self.latestTime
                else { return false }
                time = Int64(value)
                return true
            case "trun":
                guard var samples = run?.samples, var next = time else { return false }
                run?.samples = []
                guard read(samples: content, defaults, base, &next, &samples) else { return false }
                run?.samples = samples
                time = next
                return true
            default: return true
            }
        }
        guard isRead, let run else { return false }
        runs.append(run)
        return true
    }

    /// The default values of a track in this fragment, and the offset of its data.
    private func read(
        header content: UnsafeRawBufferPointer,
        _ known: MovieHeader.SampleDefaults,
        _ base: inout Int
    ) -> MovieHeader.SampleDefaults? {
        guard let flags = content.unsigned32(at: 0) else { return nil }
        var (defaults, offset) = (known, 8)
        base = flags & 0x02_0000 != 0 ? start : implicitBase
        if flags & 1 != 0 {
            guard let absolute = content.unsigned64(at: offset), absolute < 1 << 40 else { return nil }
            base = Int(absolute) - initializationSize
            offset += 8
        }
        if flags & 2 != 0 {
            guard content.unsigned32(at: offset) == 1 else { return nil }
            offset += 4
        }
        for (flag, field) in [
            (UInt32(8), \MovieHeader.SampleDefaults.duration), (0x10, \.size), (0x20, \.flags),
        ] where flags & flag != 0 {
            guard let value = content.unsigned32(at: offset) else { return nil }
            defaults[keyPath: field] = value
            offset += 4
        }
        return defaults
    }

    private mutating func read(
        samples content: UnsafeRawBufferPointer,
        _ defaults: MovieHeader.SampleDefaults,
        _ base: Int,
        _ time: inout Int64,
        _ samples: inout [Sample]
    ) -> Bool {
        // Readers differ about runs without an offset.
        guard let flags = content.unsigned32(at: 0), let count = content.unsigned32(at: 4), flags & 1 != 0,
            let relative = content.unsigned32(at: 8), count > 0, samples.count + Int(count) <= Self.mostSamples
        else { return false }
        var data = base + Int(Int32(bitPattern: relative))
        var offset = 12
        func field(_ flag: UInt32) -> UInt32?? {
            guard flags & flag != 0 else { return .some(nil) }
            defer { offset += 4 }
            return content.unsigned32(at: offset).map { .some($0) }
        }
        guard let firstFlags = field(4) else { return false }
        samples.reserveCapacity(samples.count + min(Int(count), content.count / 4))
        for index in 0..<Int(count) {
            guard let duration = field(0x100), let size = field(0x200), let own = field(0x400),
                let composition = field(0x800)
            else { return false }
            let sampleFlags = index == 0 ? firstFlags ?? own ?? defaults.flags : own ?? defaults.flags
            let length = Int(size ?? defaults.size)
            let composed = Int64(Int32(bitPattern: composition ?? 0))
            guard composed.magnitude < 1 << 30, data >= 0, length > 0, length < 1 << 30, data < 1 << 40 else {
                return false
            }
            samples.append(
                Sample(
                    decoded: time,
                    composition: composed,
                    duration: Int64(duration ?? defaults.duration),
                    bytes: data..<(data + length),
                    // Not marked as no sync sample, nor as dependent on others.
                    isSync: sampleFlags & 0x0101_0000 == 0
                )
            )
            data += length
            time += Int64(duration ?? defaults.duration)
        }
        implicitBase = data
        return true
    }
}
