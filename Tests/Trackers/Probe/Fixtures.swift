import Foundation
import LoopbackServers

/// Small media, made by the ffmpeg command line: one thread and bit-exact flags, so that they are always the same.
/// Kept in the temporary folder, and created again when the code that creates them changes.
enum Fixtures {
    /// Four seconds at 25 pictures per second with a tone, unless noted otherwise.
    static let mp4 = path("film.mp4", video + sound + ["-movflags", "+faststart"] + names)
    static let mp4AtEnd = path("film-moov-last.mp4", video + sound)
    /// Three seconds of empty edits in front of both tracks.
    static let lateMP4 = path("film-late.mp4", video + sound + ["-output_ts_offset", "3"])
    /// Sound with a picture of its cover.
    static let cover = path("cover.m4a", words("-c:v png -vf trim=end_frame=1 -disposition:v attached_pic") + sound)
    static let mkv = path("film.mkv", video + sound + names)
    static let ts = path("film.ts", video + sound + ["-muxdelay", "0", "-muxpreload", "0"])
    static let webm = path("film.webm", vp8 + ["-c:a", "libopus", "-b:a", "48k"])
    static let flv = path("film.flv", video + sound)
    static let avi = path("film.avi", video + sound)
    static let mp3 = path("tone.mp3", ["-vn", "-c:a", "libmp3lame", "-b:a", "64k"])
    static let mp2 = path("tone.mp2", ["-vn", "-c:a", "mp2", "-b:a", "128k"])
    static let adts = path("tone.aac", ["-vn", "-c:a", "aac", "-b:a", "64k"])
    static let flac = path("tone.flac", ["-vn", "-c:a", "flac"])
    static let ogg = path("tone.ogg", ["-vn", "-c:a", "libvorbis", "-serial_offset", "7"])
    static let wav = path("tone.wav", ["-vn", "-c:a", "pcm_s16le"])
    /// Twenty seconds, for stalls and jumps.
    static let long = path("long.mp4", video + sound + ["-movflags", "+faststart"], seconds: 20)

    /// Twelve seconds in segments of two, as a folder with `media.m3u8` in it: a transport stream, fragmented MP4, and
    /// both with the sound alone.
    static let hlsTS = segments("hls-ts", [])
    static let hlsMP4 = segments("hls-mp4", ["-hls_segment_type", "fmp4"])
    static let hlsSound = segments("hls-sound", ["-vn"])
    /// Without sound, and fragmented MP4 with the sound or the pictures alone.
    static let hlsSilent = segments("hls-silent", ["-an"])
    static let hlsSoundMP4 = segments("hls-sound-mp4", ["-vn", "-hls_segment_type", "fmp4"])
    static let hlsSilentMP4 = segments("hls-silent-mp4", ["-an", "-hls_segment_type", "fmp4"])
    /// As the first, with timestamps that begin 80,000 s (of the 95,444 that fit) later.
    static let hlsLate = segments("hls-late", ["-output_ts_offset", "80000"])
    /// As the second, with Common Encryption of the samples (`cenc`).
    static let hlsProtected = segments(
        "hls-protected",
        [
            "-hls_segment_type", "fmp4", "-hls_segment_options",
            "encryption_scheme=cenc-aes-ctr:encryption_key=000102030405060708090a0b0c0d0e0f"
                + ":encryption_kid=a7e61c373e219033c21091fa607bf3b8",
        ]
    )
    /// As the first, encrypted with the bytes 0 to 15 as key and initialization vector.
    static let hlsEncrypted = segments("hls-encrypted", ["-hls_key_info_file", keyInfo])
    private static let keyInfo: String = {
        let (key, info) = (scratch.appending(path: "key"), scratch.appending(path: "key-info"))
        try? Data(0..<16).write(to: key)
        let text = "media.key\n\(key.path)\n000102030405060708090a0b0c0d0e0f\n"
        try? Data(text.utf8).write(to: info)
        return info.path
    }()

    /// Twelve seconds in segments of two, with these further options of ffmpeg.
    static func segments(_ name: String, _ options: [String]) -> Result<String, FixtureError> {
        let output = folder.appending(path: name)
        if FileManager.default.fileExists(atPath: output.path) { return .success(output.path) }
        let draft = folder.appending(path: "\(UUID().uuidString)-\(name)")
        try? FileManager.default.createDirectory(at: draft, withIntermediateDirectories: true)
        let hls = ["-f", "hls", "-hls_time", "2", "-hls_list_size", "0", "-hls_playlist_type", "vod"]
        let made = make(
            draft.appending(path: "media.m3u8"),
            video + words("-g 50 -keyint_min 50") + sound + hls + options,
            seconds: 12
        )
        return made.map { _ in
            _ = try? FileManager.default.moveItem(at: draft, to: output)
            return output.path
        }
    }

    /// Two seconds as fragmented MP4, unless the options say otherwise.
    static func fragmented(_ name: String, _ options: String) -> Result<String, FixtureError> {
        let fragments = words("-pix_fmt yuv420p -movflags +frag_keyframe+empty_moov+delay_moov+default_base_moof")
        return path("fragmented-\(name).mp4", fragments + words(options), seconds: 2)
    }

    private static let video = words("-c:v libx264 -preset ultrafast -g 25 -bf 0 -b:v 150k -pix_fmt yuv420p")
    private static let vp8 = words("-c:v libvpx -deadline realtime -cpu-used 8 -g 25 -b:v 150k")
    private static let sound = ["-c:a", "aac", "-b:a", "64k"]
    private static let names = ["-metadata", "title=A film", "-metadata:s:a:0", "language=eng"]

    private static func words(_ text: String) -> [String] { text.split(separator: " ").map(String.init) }

    static let folder = URL(filePath: MediaCache.folder(of: "probe-1"))

    /// A folder for the files of one run, deleted at its end.
    private static let scratch: URL = {
        let folder = FileManager.default.temporaryDirectory.appending(path: "instrument-probe-\(UUID().uuidString)")
        try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        atexit { try? FileManager.default.removeItem(at: Fixtures.scratch) }
        return folder
    }()

    /// A new file with the given bytes.
    static func file(_ bytes: Data, _ name: String = UUID().uuidString) throws -> String {
        let url = scratch.appending(path: name)
        try bytes.write(to: url, options: .atomic)
        return url.path
    }

    static func data(_ path: String) throws -> Data { try Data(contentsOf: URL(filePath: path)) }

    private static func path(_ name: String, _ arguments: [String], seconds: Int = 4) -> Result<String, FixtureError> {
        let output = folder.appending(path: name)
        if FileManager.default.fileExists(atPath: output.path) { return .success(output.path) }
        let draft = folder.appending(path: "\(UUID().uuidString)-\(name)")
        return make(draft, arguments, seconds: seconds).map { _ in
            _ = try? FileManager.default.moveItem(at: draft, to: output)
            return output.path
        }
    }

    private static func make(_ draft: URL, _ arguments: [String], seconds: Int) -> Result<Void, FixtureError> {
        let inputs = [
            "-f", "lavfi", "-i", "testsrc2=size=320x180:rate=25:duration=\(seconds)",
            "-f", "lavfi", "-i", "sine=frequency=440:sample_rate=48000:duration=\(seconds)",
        ]
        let exact = ["-threads", "1", "-fflags", "+bitexact", "-flags:v", "+bitexact", "-flags:a", "+bitexact"]
        let options = ["-nostdin", "-loglevel", "error", "-y"]
        do {
            try run("/usr/bin/env", ["ffmpeg"] + options + inputs + arguments + exact + [draft.path])
            return .success(())
        } catch let error as FixtureError {
            return .failure(error)
        } catch {
            return .failure(FixtureError(message: "\(draft.lastPathComponent): \(error)"))
        }
    }

    /// The report of ffprobe, an independent reader over the same library: milliseconds from the start until the last
    /// packet's end, and the declared duration.
    static func extent(of path: String) throws -> (end: Int, duration: Int) {
        let entries = "packet=pts_time,dts_time,duration_time:format=start_time,duration"
        let said = try run(
            "/usr/bin/env",
            ["ffprobe", "-v", "error", "-show_entries", entries, "-of", "compact", path]
        )
        var (end, start, duration) = (0.0, 0.0, 0.0)
        for line in said.split(separator: "\n") {
            var values: [Substring: Double] = [:]
            for field in line.split(separator: "|").dropFirst() {
                let parts = field.split(separator: "=")
                if parts.count == 2 { values[parts[0]] = Double(parts[1]) }
            }
            if line.hasPrefix("packet") {
                end = max(end, (values["pts_time"] ?? values["dts_time"] ?? 0) + (values["duration_time"] ?? 0))
            }
            if line.hasPrefix("format") { (start, duration) = (values["start_time"] ?? 0, values["duration"] ?? 0) }
        }
        return (Int(((end - start) * 1000).rounded()), Int((duration * 1000).rounded()))
    }

    @discardableResult
    private static func run(_ program: String, _ arguments: [String]) throws -> String {
        let process = Process()
        let errors = Pipe.forChild()
        let output = Pipe.forChild()
        process.standardOutput = output
        process.executableURL = URL(filePath: program)
        process.arguments = arguments
        process.standardError = errors
        try process.start()
        let result = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        let said = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        if process.terminationStatus != 0 {
            throw FixtureError(message: "ffmpeg could not make a fixture; is the encoder there? \(said)")
        }
        return result
    }
}

struct FixtureError: Error { let message: String }
