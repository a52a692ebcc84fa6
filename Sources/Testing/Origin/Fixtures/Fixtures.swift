internal import NIOCore

/// Small deterministic media: a test picture in three variants with the number of each frame in it as black and white
/// cells, a tone in two languages, cut into segments of two seconds.
///
/// ffmpeg generates them once, in a folder; the same ffmpeg gives the same bytes each time. The origin generates all
/// playlists and manifests from these few files, which it holds in memory (10 MB for 24 seconds).
public struct Fixtures: Sendable {
    /// A video variant with a bitrate.
    package struct Variant: Hashable, Sendable {
        /// The name in paths: `v0`, `v1`, `v2`.
        package let name: String
        /// In pixels.
        package let width: Int
        /// In pixels.
        package let height: Int
        /// The bitrate of the transport stream with sound, bit/s: each segment is padded to exactly
        /// `transportSegmentLength` bytes.
        package let bitrate: Int
        /// The size of two seconds of transport stream: by the bitrate, rounded up to whole packets of 188 bytes.
        package var transportSegmentLength: Int { (bitrate * Fixtures.segmentSeconds / 8 + 187) / 188 * 188 }
        /// The bitrate of the video alone, bit/s.
        let videoBitrate: Int
    }

    /// The variants, the smallest first: 400, 1,050 and 2,500 kbit/s.
    package static let variants = [
        Variant(name: "v0", width: 320, height: 180, bitrate: 400_000, videoBitrate: 270_000),
        Variant(name: "v1", width: 640, height: 360, bitrate: 1_050_000, videoBitrate: 880_000),
        Variant(name: "v2", width: 854, height: 480, bitrate: 2_500_000, videoBitrate: 2_220_000),
    ]

    /// The languages of the sound: their names in paths and playlists (RFC 5646), in MP4 files (ISO 639-2) and for
    /// people, and the tone in hertz.
    static let languages = [
        (name: "en", code: "eng", title: "English", tone: 440), (name: "fr", code: "fra", title: "Français", tone: 660),
    ]

    static var segmentSeconds: Int { 2 }

    /// The duration of the media in seconds: a multiple of 24, so that whole frames of sound, whole segments of two
    /// seconds and whole segments of six seconds fill it, and loops have no seam.
    public let seconds: Int
    /// The folder of the files.
    public let directory: String

    let transport: [ByteBuffer]
    let video: [FragmentedFile]
    let audio: [FragmentedFile]
    let encrypted: [Body]
    let movie: ByteBuffer
    /// The variants and languages in parts.
    let lowLatencyTracks: [LowLatencyTrack]

    /// The number of segments of two seconds.
    package var segmentCount: Int { seconds / Self.segmentSeconds }

    /// The key of the encrypted segments, and their initialization vector.
    static let key: [UInt8] = Array("instrument tests".utf8)
    static let initializationVector: [UInt8] = Array(0..<16)

    /// Loads the files that ``make(in:seconds:ffmpeg:progress:)`` has generated.
    /// - Throws: ``OriginError`` if the files are not as expected.
    init(loading directory: String, seconds: Int) throws(OriginError) {
        self.directory = directory
        self.seconds = seconds
        func contents(_ name: String) throws(OriginError) -> ByteBuffer {
            if let bytes = OpenFile(path: directory + "/" + name)?.contents() { return bytes }
            throw OriginError(
                .cannotMakeFixtures,
                "The fixture \(name) is missing. Delete its folder; the next start creates it."
            )
        }
        func fragmented(_ name: String) throws(OriginError) -> FragmentedFile {
            if let file = FragmentedFile(try contents(name)), !file.fragments.isEmpty { return file }
            throw OriginError(
                .cannotMakeFixtures,
                "The fixture \(name) is damaged. Delete its folder; the next start creates it."
            )
        }
        var transport: [ByteBuffer] = []
        var video: [FragmentedFile] = []
        var audio: [FragmentedFile] = []
        for variant in Self.variants {
            transport.append(try contents(variant.name + ".ts"))
            video.append(try fragmented(variant.name + ".mp4"))
        }
        for language in Self.languages { audio.append(try fragmented(language.name + ".mp4")) }
        var parts: [LowLatencyTrack] = []
        for name in Self.variants.map(\.name) + Self.languages.map(\.name) {
            guard let track = LowLatencyTrack(name, try fragmented(name + "-parts.mp4")) else {
                throw OriginError(
                    .cannotMakeFixtures,
                    "The fixture \(name)-parts.mp4 is damaged. Delete its folder; the next start creates it."
                )
            }
            parts.append(track)
        }
        lowLatencyTracks = parts
        var encrypted: [Body] = []
        for number in 0..<(seconds / Self.segmentSeconds) {
            encrypted.append(.buffer(try contents("aes-\(number).ts")))
        }
        (self.transport, self.video, self.audio, self.encrypted) = (transport, video, audio, encrypted)
        movie = try contents("movie.mp4")
    }
}

extension Fixtures {
    /// Returns the track with that name; nil if this packaging has no such track.
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
