internal import Instrument
internal import InstrumentManifests

/// Counts the samples with subtitles in fragmented MP4 (ISO/IEC 14496-30): WebVTT (`wvtt`) and TTML (`stpp`).
struct SubtitleFragments {
    private enum Coding: Hashable { case webVTT, timedText, encrypted, unknown }

    private static let mostSamples = 100_000

    private var content = SubtitleContent()
    private var coding = Coding.unknown
    private var defaultSize: Int?
    private var defaultDuration: Int64?
    /// Ticks of a second; nil if unknown.
    private var timescale: Int64?
    /// The time of the next sample in ticks; nil if unknown.
    private var time: Int64?
    /// The time of the segment in nanoseconds; nil if unknown.
    private let range: Range<Int64>?
    private var sampleCount = 0
    private var hasFragment = false
    /// The bytes that samples may have together: a hostile file could name the same bytes many times.
    private var budget: Int
    private let hasReadableSamples: Bool

    static func read(
        _ bytes: [UInt8],
        initialization: [UInt8],
        hasReadableSamples: Bool,
        range: Range<Int64>? = nil
    ) -> SubtitleContent {
        var reader = SubtitleFragments(bytes.count, hasReadableSamples, range)
        initialization.withUnsafeBytes { reader.readAll($0) }
        bytes.withUnsafeBytes { reader.readAll($0) }
        if !reader.hasFragment { reader.content.note("the segment must have a movie fragment (`moof`)") }
        return reader.content
    }

    private init(_ budget: Int, _ hasReadableSamples: Bool, _ range: Range<Int64>?) {
        (self.budget, self.hasReadableSamples, self.range) = (budget, hasReadableSamples, range)
    }

    private mutating func readAll(_ bytes: UnsafeRawBufferPointer) {
        var offset = 0
        while offset < bytes.count {
            guard let box = Box(bytes, at: offset), box.content.upperBound <= bytes.count else {
                return content.note("a box of the segment is damaged or incomplete")
            }
            let inside = UnsafeRawBufferPointer(rebasing: bytes[box.content])
            switch box.type {
            case "moov": read(movie: inside)
            case "moof":
                hasFragment = true
                if !read(fragment: inside, at: offset, in: bytes) {
                    return content.note("a movie fragment of the segment is damaged")
                }
            default: break
            }
            offset = box.content.upperBound
        }
    }
}

// MARK: The track
extension SubtitleFragments {
    private mutating func read(movie: UnsafeRawBufferPointer) {
        let isRead = Box.all(in: movie) { type, inside in
            switch type {
            case "trak":
                readTimescale(of: inside)
                return find(["mdia", "minf", "stbl", "stsd"], in: inside)
            case "mvex":
                return Box.all(in: inside) { type, inside in
                    guard type == "trex" else { return true }
                    defaultDuration = inside.unsigned32(at: 12).map { Int64($0) }
                    defaultSize = inside.unsigned32(at: 16).map { Int($0) }
                    return true
                }
            default: return true
            }
        }
        if !isRead { content.note("the initialization section is damaged") }
    }

    private mutating func readTimescale(of track: UnsafeRawBufferPointer) {
        _ = Box.all(in: track) { type, media in
            guard type == "mdia" else { return true }
            return Box.all(in: media) { type, header in
                guard type == "mdhd", let version = header.first else { return true }
                timescale = header.unsigned32(at: version == 1 ? 20 : 12).flatMap { $0 > 0 ? Int64($0) : nil }
                return true
            }
        }
    }

    private mutating func find(_ path: ArraySlice<BoxType>, in bytes: UnsafeRawBufferPointer) -> Bool {
        guard let next = path.first else {
            // The number of sample entries, and the first one.
            switch Box(bytes, at: 8)?.type {
            case "wvtt": coding = .webVTT
            case "stpp": coding = .timedText
            case "enct": coding = .encrypted
            default: content.note("the track must be of subtitles (`wvtt` or `stpp`)")
            }
            return true
        }
        return Box.all(in: bytes) { type, inside in type == next ? find(path.dropFirst(), in: inside) : true }
    }
}

// MARK: Samples
extension SubtitleFragments {
    private mutating func read(fragment: UnsafeRawBufferPointer, at start: Int, in bytes: UnsafeRawBufferPointer)
        -> Bool
    {
        var data = start
        return Box.all(in: fragment) { type, inside in
            guard type == "traf" else { return true }
            var (size, duration, base) = (defaultSize, defaultDuration, start)
            time = nil
            return Box.all(in: inside) { type, inside in
                switch type {
                case "tfhd": return read(header: inside, &size, &duration)
                case "tfdt":
                    time = Self.decodeTime(inside)
                    return true
                case "trun": return read(run: inside, size, duration, base, &data, in: bytes)
                default: return true
                }
            }
        }
    }

    private static func decodeTime(_ box: UnsafeRawBufferPointer) -> Int64? {
        guard let high = box.unsigned32(at: 4) else { return nil }
        if box.first != 1 { return Int64(high) }
        return box.unsigned32(at: 8).flatMap { Int64(exactly: UInt64(high) << 32 | UInt64($0)) }
    }

    private func read(header: UnsafeRawBufferPointer, _ size: inout Int?, _ duration: inout Int64?) -> Bool {
        guard let flags = header.unsigned32(at: 0) else { return false }
        var offset = 8
        // An absolute offset counts from the start of the file, which is not known here: the fragment's start counts.
        if flags & 1 != 0 { offset += 8 }
        if flags & 2 != 0 { offset += 4 }
        if flags & 8 != 0 {
            guard let value = header.unsigned32(at: offset) else { return false }
            duration = Int64(value)
            offset += 4
        }
        if flags & 0x10 != 0 {
            guard let value = header.unsigned32(at: offset) else { return false }
            size = Int(value)
        }
        return true
    }

    private mutating func read(
        run: UnsafeRawBufferPointer,
        _ size: Int?,
        _ duration: Int64?,
        _ base: Int,
        _ data: inout Int,
        in bytes: UnsafeRawBufferPointer
    ) -> Bool {
        guard let flags = run.unsigned32(at: 0), let count = run.unsigned32(at: 4) else { return false }
        var offset = 8
        if flags & 1 != 0 {
            guard let relative = run.unsigned32(at: offset) else { return false }
            data = base + Int(Int32(bitPattern: relative))
            offset += 4
        }
        if flags & 4 != 0 { offset += 4 }
        let fields = [UInt32(0x100), 0x200, 0x400, 0x800].filter { flags & $0 != 0 }
        let (place, hasDurations) = (fields.firstIndex(of: 0x200), flags & 0x100 != 0)
        sampleCount += Int(count)
        guard sampleCount <= Self.mostSamples else { return false }
        for _ in 0..<Int(count) {
            var length = size
            if let place { length = run.unsigned32(at: offset + 4 * place).map { Int($0) } }
            let ticks = hasDurations ? run.unsigned32(at: offset).map { Int64($0) } : duration
            offset += 4 * fields.count
            guard let length, length <= budget, data >= 0, data <= bytes.count - length else { return false }
            budget -= length
            let start = nanoseconds(time)
            time = time.flatMap { now in ticks.map { now.saturatingAdd($0) } }
            let sample = UnsafeRawBufferPointer(rebasing: bytes[data..<(data + length)])
            read(sample: sample, from: start, to: nanoseconds(time))
            data += length
        }
        return true
    }

    private func nanoseconds(_ ticks: Int64?) -> Int64? {
        ticks.flatMap { ticks in timescale.map { ticks.nanoseconds(timescale: $0) } }
    }

    /// Counts a cue that is shown for the time of its sample.
    private mutating func addCue(_ start: Int64?, _ end: Int64?) {
        content.cueCount += 1
        if let start, let end { content.note(cueFrom: start, to: end, in: range) }
    }

    private mutating func read(sample: UnsafeRawBufferPointer, from start: Int64?, to end: Int64?) {
        if sample.isEmpty { return }
        switch hasReadableSamples ? coding : .encrypted {
        case .encrypted, .unknown: addCue(start, end)
        case .webVTT:
            var hasCue = false
            let isRead = Box.all(in: sample) { type, _ in
                if type == "vttc" { hasCue = true }
                return true
            }
            if hasCue { addCue(start, end) }
            if !isRead { content.note("a sample with WebVTT is damaged") }
        case .timedText:
            // The times of a document are those of its track, whatever the time of its sample.
            let document = TimedTextReader.read(Array(sample), range: range)
            if document.cueCount > 0 { content.cueCount += 1 }
            content.add(outsideOf: document)
            if let defect = document.defect { content.note(defect) }
        }
    }
}
