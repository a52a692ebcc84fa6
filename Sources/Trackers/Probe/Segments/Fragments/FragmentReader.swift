internal import Instrument

/// Reads the times of fragmented MP4 (ISO/IEC 14496-12) from the descriptions of its fragments, without libavformat,
/// while the bytes arrive.
///
/// The reader is in doubt as soon as it meets anything that libavformat might read in another way.
struct FragmentReader: Sendable {
    private struct Track: Sendable {
        var frames: [SegmentFrame] = []
        /// Samples that are described, but have not arrived.
        var pending: ArraySlice<PendingSample> = []
        var parameterSets: [UInt8] = []
        var hasKeyframe = false
        /// The largest negative offset between decoding and presentation, in ticks, and the last decoding time.
        var shift: Int64 = 0
        var hasSamples = false
        var last = Int64.min
        var frameCount = 0
        /// The number of samples that are described, and their durations.
        var described = 0
        var durations: Int64 = 0
        /// The end of the sample furthest back in the segment so far.
        var end = 0
    }

    private struct PendingSample: Sendable {
        var times: SegmentFrame.Times?
        var duration: Int64
        var bytes: Range<Int>
        var isSync: Bool
    }

    private static let latestTime: Int64 = 1 << 60
    /// Of a track in a segment.
    private static let mostSamples = 200_000
    /// Seconds. libavformat does not keep the length of samples that last for minutes.
    private static let longestSample: Int64 = 10

    let header: MovieHeader
    private let initialization: [UInt8]
    private(set) var isInDoubt = false
    private var position = 0
    private var fragmentCount = 0
    private var hasIndex = false
    private var tracks: [Track]

    /// Nil if the initialization section is in doubt.
    init?(initialization: [UInt8]) {
        guard let header = initialization.withUnsafeBytes({ MovieHeader($0) }) else { return nil }
        self.init(header, initialization)
    }

    init(_ header: MovieHeader, _ initialization: [UInt8]) {
        self.header = header
        self.initialization = initialization
        tracks = header.tracks.map { _ in Track() }
    }

    /// The fields of the segment that must be known from an earlier one; nil before every track has a frame.
    var signature: SegmentSignature? {
        guard tracks.allSatisfy({ $0.frameCount > 0 }) else { return nil }
        return SegmentSignature(parts: arrivedParts)
    }

    /// The parts of the signature, empty for a track without a frame.
    var arrivedParts: [[UInt8]] { [initialization] + tracks.map(\.parameterSets) }

    /// Whether libavformat, which counts in 32 bits, can express the frame rate without rounding.
    var hasExactRate: Bool {
        guard let (frames, ticks) = rate else { return true }
        var (divisor, rest) = (frames, ticks)
        while rest != 0 { (divisor, rest) = (rest, divisor % rest) }
        return frames / divisor <= Int64(Int32.max) && ticks / divisor <= Int64(Int32.max)
    }

    /// The pictures per second of the fragments so far; nil without pictures.
    var framesPerSecond: Double? { rate.map { Double($0.frames) / Double($0.ticks) } }

    /// The number of pictures in a number of ticks, both multiplied by the ticks of a second.
    private var rate: (frames: Int64, ticks: Int64)? {
        guard let index = header.tracks.firstIndex(where: { $0.kind == .video }), tracks[index].durations > 0 else {
            return nil
        }
        return (
            Int64(tracks[index].described).saturatingMultiply(header.tracks[index].timescale), tracks[index].durations
        )
    }

    /// The frames of a track that have arrived since the last call.
    mutating func takeFrames(of index: Int) -> [SegmentFrame] {
        defer { tracks[index].frames = [] }
        return tracks[index].frames
    }

    /// Reads what has arrived since the last call.
    ///
    /// - Parameters:
    ///   - bytes: the segment from its beginning.
    ///   - isWhole: whether no further bytes will arrive.
    mutating func read(_ bytes: UnsafeRawBufferPointer, isWhole: Bool) {
        while !isInDoubt, position < bytes.count {
            guard let box = Box(bytes, at: position) else {
                // A header that is not there completely may still arrive.
                isInDoubt = isWhole || position + 16 <= bytes.count
                break
            }
            if box.type != "mdat", box.content.upperBound > bytes.count { break }
            isInDoubt = !take(box, bytes)
            position = box.content.upperBound
        }
        for index in tracks.indices where !isInDoubt { isInDoubt = !arrive(index, bytes) }
        guard isWhole, !isInDoubt else { return }
        isInDoubt = position != bytes.count || tracks.contains { !$0.pending.isEmpty }
    }

    private mutating func take(_ box: Box, _ bytes: UnsafeRawBufferPointer) -> Bool {
        switch box.type {
        case "mdat": return fragmentCount > 0
        case "sidx":
            hasIndex = true
            return Self.isPlain(index: UnsafeRawBufferPointer(rebasing: bytes[box.content]))
        case "styp", "emsg", "prft", "free", "skip", "ssix": return true
        case "moof":
            fragmentCount += 1
            let content = UnsafeRawBufferPointer(rebasing: bytes[box.content])
            let size = initialization.count
            guard let fragment = MovieFragment(content, at: position, header, initializationSize: size) else {
                return false
            }
            return fragment.runs.allSatisfy { isEven($0) && take($0) }
        default: return false
        }
    }

    /// Whether an index (`sidx`) has nothing at which libavformat stops: media only, close behind it.
    private static func isPlain(index: UnsafeRawBufferPointer) -> Bool {
        guard let version = index.first, version <= 1, let timescale = index.unsigned32(at: 8),
            1...UInt32(Int32.max) ~= timescale
        else {
            return false
        }
        var (offset, time, distance) = (20, UInt64(0), UInt64(0))
        if version == 1 {
            guard let first = index.unsigned64(at: 12), let second = index.unsigned64(at: 20) else { return false }
            (offset, time, distance) = (28, first, second)
        } else {
            guard let first = index.unsigned32(at: 12), let second = index.unsigned32(at: 16) else { return false }
            (time, distance) = (UInt64(first), UInt64(second))
        }
        guard time < 1 << 50, distance < 1 << 12, let count = index.unsigned32(at: offset), count < 1 << 16,
            index.count == offset + 4 + 12 * Int(count)
        else { return false }
        return stride(from: offset + 4, to: index.count, by: 12).allSatisfy { index[$0] & 0x80 == 0 }
    }

    /// Whether the reading does not depend on when a later fragment is looked at: with an index, libavformat looks at
    /// it only when it gets there, otherwise before all frames.
    private func isEven(_ run: MovieFragment.Run) -> Bool {
        guard hasIndex, fragmentCount > 1, header.tracks[run.track].kind == .video else { return true }
        let track = tracks[run.track]
        return run.samples.allSatisfy { $0.composition >= 0 && $0.duration * Int64(track.described) == track.durations }
    }

    private mutating func take(_ run: MovieFragment.Run) -> Bool {
        let (track, offset) = (header.tracks[run.track], header.offset(of: header.tracks[run.track]))
        // An edit list may shift by any number, and a few bytes may describe any number of samples.
        guard offset.magnitude < Self.latestTime,
            tracks[run.track].described + run.samples.count <= Self.mostSamples
        else { return false }
        // A shift that grows later would move the frames before.
        let shift = max(tracks[run.track].shift, run.samples.map { -$0.composition }.max() ?? 0)
        guard shift == tracks[run.track].shift || !tracks[run.track].hasSamples else { return false }
        tracks[run.track].shift = shift
        tracks[run.track].hasSamples = true
        var pending = tracks[run.track].pending
        tracks[run.track].pending = []
        if pending.isEmpty { pending = [] }
        for sample in run.samples {
            guard sample.decoded >= tracks[run.track].last, sample.decoded < Self.latestTime,
                sample.duration <= Self.longestSample * track.timescale
            else { return false }
            tracks[run.track].last = sample.decoded
            tracks[run.track].described += 1
            tracks[run.track].durations = tracks[run.track].durations.saturatingAdd(sample.duration)
            let decoded = sample.decoded - offset
            let times: SegmentFrame.Times? =
                if let first = decoded.roundedNanoseconds(timescale: track.timescale),
                    let second = (decoded + shift + sample.composition).roundedNanoseconds(timescale: track.timescale)
                {
                    SegmentFrame.Times(decoded: first, shown: second)
                } else {
                    nil
                }
            guard let times else { return false }
            let duration = sample.duration.roundedNanoseconds(timescale: track.timescale) ?? 0
            pending.append(
                PendingSample(times: times, duration: duration, bytes: sample.bytes, isSync: sample.isSync)
            )
        }
        tracks[run.track].pending = pending
        return true
    }

    /// Takes the samples of a track that have arrived; false in doubt.
    private mutating func arrive(_ index: Int, _ bytes: UnsafeRawBufferPointer) -> Bool {
        while let sample = tracks[index].pending.first, sample.bytes.upperBound <= bytes.count {
            tracks[index].pending.removeFirst()
            let data = UnsafeRawBufferPointer(rebasing: bytes[sample.bytes])
            guard let isKeyframe = isKeyframe(sample, data, index) else { return false }
            tracks[index].end = max(tracks[index].end, sample.bytes.upperBound)
            tracks[index].hasKeyframe = tracks[index].hasKeyframe || isKeyframe
            tracks[index].frameCount += 1
            let frame = SegmentFrame(
                times: sample.times,
                isKeyframe: isKeyframe,
                offset: tracks[index].end,
                duration: sample.duration
            )
            tracks[index].frames.append(frame)
        }
        return true
    }

    /// Whether a sample is a keyframe; nil in doubt.
    private mutating func isKeyframe(_ sample: PendingSample, _ data: UnsafeRawBufferPointer, _ index: Int) -> Bool? {
        let track = header.tracks[index]
        let isMarked = track.kind == .audio || sample.isSync
        guard let entry = track.entry, let coding = entry.coding, !entry.isEncrypted else { return isMarked }
        switch coding {
        case .aac: return isMarked
        case .ac3, .enhancedAC3, .mpegAudio:
            guard let header = AudioFrameHeader(data, coding), header.size == data.count else { return nil }
            let constant = withUnsafeBytes(of: header.constant.bigEndian) { [UInt8]($0) }
            guard tracks[index].parameterSets.isEmpty || tracks[index].parameterSets == constant else { return nil }
            tracks[index].parameterSets = constant
            return isMarked
        case .h264, .h265:
            let hasKeyframe = tracks[index].hasKeyframe
            // libavformat looks into every sample of H.264, and its size of H.265 is from the first keyframe.
            if coding == .h265, hasKeyframe { return isMarked }
            guard
                let unit = AccessUnit.read(
                    data,
                    coding,
                    lengthSize: entry.lengthSize,
                    isMarked: isMarked || hasKeyframe
                )
            else { return nil }
            let isKeyframe = coding == .h264 ? isMarked || unit.isKeyframe : isMarked
            if isKeyframe, !hasKeyframe {
                tracks[index].parameterSets = unit.parameterSets
            } else if !unit.parameterSets.isEmpty, unit.parameterSets != tracks[index].parameterSets {
                return nil
            }
            return isKeyframe
        }
    }
}
