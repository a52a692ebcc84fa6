/// A variant or a sound in one packaging: segments that can be looped.
struct Track: Sendable {
    /// How segments are packed.
    enum Packaging: String, Sendable, CaseIterable {
        /// Transport stream of picture and sound, two seconds.
        case transport = "ts"
        /// The same, six seconds.
        case longTransport = "ts6"
        /// Fragmented MP4, picture and sound apart, two seconds.
        case fragmented = "fmp4"

        var isTransport: Bool { self != .fragmented }
        /// The nominal length of a segment, in seconds.
        var seconds: Int { self == .longTransport ? 6 : 2 }
    }

    /// As it is called in paths.
    var name: String
    /// How many segments there are before it starts again.
    var count: Int
    /// The names' ending.
    var ending: String
    /// How long each lasts, in seconds.
    var durations: [Double]
    /// How many bytes each has.
    var sizes: [Int]
    /// Where the initialization segment is, if it has one.
    var initialization: String?
    /// The segment of that number, counted on through the loops.
    var body: @Sendable (Int) -> Body?
}

extension Fixtures {
    /// The track of that name; nil if this packaging has no such track.
    func track(_ name: String, _ packaging: Track.Packaging) -> Track? {
        if packaging == .fragmented {
            return fragmentedFile(name).map { Self.track(name, of: $0) }
        }
        guard let index = Self.variants.firstIndex(where: { $0.name == name }) else { return nil }
        let length = Self.variants[index].transportSegmentLength * packaging.seconds / Self.segmentSeconds
        let count = seconds / packaging.seconds
        let whole = Body.buffer(transport[index])
        return Track(
            name: name,
            count: count,
            ending: "ts",
            durations: Array(repeating: Double(packaging.seconds), count: count),
            sizes: Array(repeating: length, count: count)
        ) { number in
            number < 0 ? nil : whole.part((number % count * length)..<(number % count * length + length))
        }
    }

    /// The fragmented file of a variant or a language.
    func fragmentedFile(_ name: String) -> FragmentedFile? {
        if let index = Self.variants.firstIndex(where: { $0.name == name }) { return video[index] }
        return Self.languages.firstIndex { $0.name == name }.map { audio[$0] }
    }

    private static func track(_ name: String, of file: FragmentedFile) -> Track {
        let count = file.fragments.count
        return Track(
            name: name,
            count: count,
            ending: "m4s",
            durations: file.fragments.map { Double($0.duration) / Double(file.timescale) },
            sizes: file.fragments.map(\.range.count),
            initialization: "\(name)/init.mp4"
        ) { number in
            number < 0 ? nil : file.body(of: number % count, round: number / count)
        }
    }
}

extension Track {
    /// The largest bitrate of a segment, in bits a second (RFC 8216, section 4.3.4.2: `BANDWIDTH`).
    var peakBitrate: Int {
        zip(sizes, durations).map { $1 > 0 ? Int((Double($0 * 8) / $1).rounded(.up)) : 0 }.max() ?? 0
    }

    /// The bitrate of all together, in bits a second.
    var averageBitrate: Int {
        let time = durations.reduce(0, +)
        return time > 0 ? Int((Double(sizes.reduce(0, +) * 8) / time).rounded()) : 0
    }
}
