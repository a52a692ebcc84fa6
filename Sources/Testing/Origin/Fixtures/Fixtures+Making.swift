internal import Instrument
internal import InstrumentFiles
internal import InstrumentFrameCode

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

extension Fixtures {
    /// Generates the fixtures in a folder, or loads existing fixtures.
    ///
    /// Takes about three seconds of processor time for 24 seconds of media. Several processes may do so at once in
    /// one folder. Blocks a separate thread, not the caller's.
    /// - Parameters:
    ///   - cache: the folder; created if it does not exist.
    ///   - seconds: the duration of the media; rounded up to a multiple of 24, at most 480.
    ///   - ffmpeg: the program.
    ///   - progress: receives the name of each step as it begins.
    /// - Throws: ``OriginError`` if ffmpeg is missing or fails, with its output.
    public static func make(
        in cache: String,
        seconds: Int = 24,
        ffmpeg: String = "ffmpeg",
        progress: (@Sendable (String) -> Void)? = nil
    ) async throws(OriginError) -> Fixtures {
        let rounded = (min(max(seconds, 1), 480) + 23) / 24 * 24
        // The name contains the version of the recipe.
        let folder = "\(cache)/instrument-fixtures-\(FixtureMaker.recipe)-\(rounded)s"
        if access(folder, F_OK) != 0 {
            let maker = FixtureMaker(seconds: rounded, ffmpeg: ffmpeg, progress: progress ?? { _ in })
            let result: Result<Void, OriginError> = await withCheckedContinuation { continuation in
                let isRunning = SystemThread.start {
                    continuation.resume(returning: Result { () throws(OriginError) in try maker.makeOnce(folder) })
                }
                if isRunning { return }
                let words = "Cannot create the thread that makes fixtures: the process has reached its thread limit."
                continuation.resume(returning: .failure(OriginError(.cannotMakeFixtures, words)))
            }
            try result.get()
        }
        return try Fixtures(loading: folder, seconds: rounded)
    }
}

/// Generates the files of the fixtures with ffmpeg.
struct FixtureMaker: Sendable {
    /// The version of the recipe, so that files of an older recipe are not reused.
    static var recipe: Int { 4 }

    /// The duration after which a part ends with the next frame, for low latency.
    private static let partMilliseconds = 500

    var seconds: Int
    var ffmpeg: String
    var progress: @Sendable (String) -> Void

    /// The turn to generate files: one thread at a time in this process.
    private static let turn = Lock(())

    /// Generates the files, unless another thread of this process has generated them meanwhile.
    func makeOnce(_ folder: String) throws(OriginError) {
        try Self.turn.withLock { _ throws(OriginError) in
            if access(folder, F_OK) != 0 { try make(into: folder) }
        }
    }

    /// Generates all files beside `folder` and renames once, so that no process finds an incomplete folder.
    func make(into folder: String) throws(OriginError) {
        let work = "\(folder).\(RandomSource().identifier())"
        defer {
            clean(work) { _ in true }
            rmdir(work)
        }
        do throws(FileError) { try Folder.create(work) } catch {
            throw OriginError(.cannotMakeFixtures, "Cannot make the folder for fixtures: \(error)")
        }
        try encode(in: work)
        for variant in Fixtures.variants { try package(variant, in: work) }
        for language in Fixtures.languages {
            let options = ["-bsf:a", "aac_adtstoasc", "-metadata:s:a:0", "language=\(language.code)"]
            try fragment("e-\(language.name).aac", as: "\(language.name).mp4", options, in: work)
            let name = "\(language.name)-parts.mp4"
            try fragment("e-\(language.name).aac", as: name, options, milliseconds: Self.partMilliseconds, in: work)
        }
        progress("encrypted segments, progressive film")
        try encrypt(in: work)
        try run(
            ["-i", "e-v1.mp4", "-i", "e-en.aac", "-c", "copy", "-bsf:a", "aac_adtstoasc"] + Self.exact
                + ["-movflags", "+faststart", "movie.mp4"],
            in: work
        )
        // Intermediate files.
        clean(work) { name in ["e-", "t-", "t."].contains { name.hasPrefix($0) } }
        // Another process may have been faster; its files are the same.
        if rename(work, folder) != 0, access(folder, F_OK) != 0 {
            throw OriginError(.cannotMakeFixtures, "Cannot keep the fixtures in \(folder): \(SystemError(errno))")
        }
    }

    private static let exact = [
        "-fflags", "+bitexact", "-flags:v", "+bitexact", "-flags:a", "+bitexact", "-map_metadata", "-1",
    ]

    private func encode(in work: String) throws(OriginError) {
        try write(FrameCode.video(frames: seconds * 25), to: "\(work)/t-code.raw")
        for variant in Fixtures.variants {
            progress("\(variant.width) × \(variant.height), \(variant.bitrate / 1_000) kbit/s")
            let rate = "\(variant.videoBitrate)"
            // Constant bitrate down to a fifth of a second, a keyframe every two seconds and at no other place; no
            // messages (SEI).
            let options = "nal-hrd=cbr:force-cfr=1:scenecut=0:keyint=50:min-keyint=50:threads=1:sliced-threads=0"
            try run(
                [
                    "-f", "lavfi", "-i",
                    "testsrc2=size=\(variant.width)x\(variant.height):rate=25:duration=\(seconds)",
                    "-f", "rawvideo", "-pix_fmt", "gray", "-s", "\(FrameCode.columns)x\(FrameCode.rows)", "-r", "25",
                    "-i", "t-code.raw", "-filter_complex", codeFilter(variant), "-map", "[v]",
                ]
                    + ["-c:v", "libx264", "-preset", "ultrafast", "-tune", "zerolatency", "-profile:v", "main"]
                    + ["-pix_fmt", "yuv420p", "-threads", "1", "-x264-params", options]
                    + ["-bsf:v", "filter_units=remove_types=6"]
                    + ["-b:v", rate, "-maxrate", rate, "-minrate", rate, "-bufsize", "\(variant.videoBitrate / 5)"]
                    + Self.exact + ["e-\(variant.name).mp4"],
                in: work
            )
        }
        for language in Fixtures.languages {
            progress("sound, \(language.title)")
            try run(
                ["-f", "lavfi", "-i", "sine=frequency=\(language.tone):sample_rate=48000:duration=\(seconds + 1)"]
                    // 375 frames of 1,024 samples are eight seconds; slightly more sound, so that the last frame is
                    // complete.
                    + ["-c:a", "aac", "-b:a", "64k", "-ac", "2", "-frames:a", "\(seconds * 375 / 8)"]
                    // A stream of frames: an MP4 file would shorten the first and the last frame.
                    + Self.exact + ["-f", "adts", "e-\(language.name).aac"],
                in: work
            )
        }
    }

    /// Draws the number of each frame over the top of the test picture.
    private func codeFilter(_ variant: Fixtures.Variant) -> String {
        let height = Int(Double(variant.height) * FrameCode.height / 2 + 0.5) * 2
        let scale = "scale=\(variant.width):\(height):flags=neighbor:in_range=tv:out_range=tv"
        return "[1:v]\(scale),format=yuv420p[code];[0:v][code]overlay=0:0:shortest=1,format=yuv420p[v]"
    }

    private func package(_ variant: Fixtures.Variant, in work: String) throws(OriginError) {
        try fragment("e-\(variant.name).mp4", as: "\(variant.name).mp4", in: work)
        let parts = "\(variant.name)-parts.mp4"
        try fragment("e-\(variant.name).mp4", as: parts, milliseconds: Self.partMilliseconds, in: work)
        try run(
            ["-i", "e-\(variant.name).mp4", "-i", "e-en.aac", "-c", "copy"] + Self.exact
                + ["-f", "hls", "-hls_time", "\(Fixtures.segmentSeconds)", "-hls_list_size", "0"]
                + ["-hls_segment_filename", "t-%d.ts", "t.m3u8"],
            in: work
        )
        var whole: [UInt8] = []
        for number in 0..<(seconds / Fixtures.segmentSeconds) {
            guard let segment = try? SmallFile.read("\(work)/t-\(number).ts", atMost: .max) else {
                throw OriginError(
                    .cannotMakeFixtures,
                    "ffmpeg wrote no segment \(number) of \(variant.name). Try another version of ffmpeg."
                )
            }
            whole += try padded(segment, to: variant.transportSegmentLength)
        }
        try write(whole, to: "\(work)/\(variant.name).ts")
    }

    /// Returns a segment with null packets up to `length` bytes.
    private func padded(_ segment: [UInt8], to length: Int) throws(OriginError) -> [UInt8] {
        let packet = TransportStream.packetLength
        guard segment.count <= length, segment.count % packet == 0, length % packet == 0 else {
            let found = "\(segment.count) of \(length) bytes"
            throw OriginError(
                .cannotMakeFixtures,
                "This ffmpeg does not keep the bitrate (\(found)). Try another version."
            )
        }
        return TransportStream.padded(segment, to: length)
    }

    private func fragment(
        _ source: String,
        as name: String,
        _ options: [String] = [],
        milliseconds: Int = Fixtures.segmentSeconds * 1_000,
        in work: String
    ) throws(OriginError) {
        try run(
            ["-i", source, "-c", "copy"] + options + Self.exact
                + ["-movflags", "+frag_keyframe+empty_moov+delay_moov+default_base_moof+global_sidx"]
                + ["-frag_duration", "\(milliseconds * 1_000)", "-f", "mp4", name],
            in: work
        )
    }

    private func encrypt(in work: String) throws(OriginError) {
        try write(Fixtures.key, to: "\(work)/t.key")
        let vector = Fixtures.initializationVector.hexadecimal(uppercase: false)
        try write([UInt8]("key\nt.key\n\(vector)\n".utf8), to: "\(work)/t.keyinfo")
        try run(
            ["-i", "e-v0.mp4", "-i", "e-en.aac", "-c", "copy"] + Self.exact
                + ["-f", "hls", "-hls_time", "\(Fixtures.segmentSeconds)", "-hls_list_size", "0"]
                + ["-hls_key_info_file", "t.keyinfo", "-hls_segment_filename", "aes-%d.ts", "t.m3u8"],
            in: work
        )
    }

    /// Deletes the files in a folder that have such a name.
    private func clean(_ work: String, where isDeleted: (String) -> Bool) {
        for name in (try? Folder.names(in: work)) ?? [] where isDeleted(name) { unlink("\(work)/\(name)") }
    }

    private func write(_ bytes: [UInt8], to path: String) throws(OriginError) {
        do throws(FileError) { try SmallFile.write(bytes, to: path) } catch {
            throw OriginError(.cannotMakeFixtures, "Cannot write the fixtures: \(error)")
        }
    }

    private func run(_ arguments: [String], in work: String) throws(OriginError) {
        let errors = "\(work)/t.errors"
        var program = ProgramLaunch(ffmpeg, arguments: ["-nostdin", "-v", "error", "-y"] + arguments)
        program.directory = work
        program.sources[1] = .file("/dev/null", O_WRONLY)
        program.sources[2] = .file(errors, O_WRONLY | O_CREAT | O_TRUNC)
        let child: pid_t
        do throws(SystemError) { child = try program.start() } catch {
            let hint = error.number == ENOENT ? " Install ffmpeg (with libx264)." : ""
            throw OriginError(.cannotMakeFixtures, "Cannot start \(ffmpeg): \(error).\(hint)")
        }
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0, errno == EINTR {}
        if status == 0 { return }
        let output = (try? SmallFile.prefix(of: errors, count: 500)) ?? []
        let text = String(decoding: output, as: UTF8.self)
        throw OriginError(.cannotMakeFixtures, "ffmpeg failed: \(text)")
    }
}
