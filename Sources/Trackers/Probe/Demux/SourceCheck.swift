internal import CFFmpeg

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#endif

/// Detects sources for which libav reports unclear errors: directories, empty files, playlists.
enum SourceCheck {
    /// The number of inspected bytes at the start.
    private static var sniffed: Int { 512 }

    static func check(_ source: MediaSource) throws(ProbeError) {
        guard case .file(let path) = source.location else { return }
        // C would end the path at a zero byte.
        if path.utf8.contains(0) { throw ProbeError(.notFound, .open, source, "there is no such file; check the path") }
        var status = stat()
        guard stat(path, &status) == 0 else {
            if errno == EACCES {
                throw ProbeError(.unreadable, .open, source, "it may not be read; check its permissions")
            }
            throw ProbeError(
                .notFound,
                .open,
                source,
                "there is no such file; check the path, or put http:// or https:// in front of an address"
            )
        }
        switch status.st_mode & S_IFMT {
        case S_IFDIR: throw ProbeError(.isDirectory, .open, source, "this is a directory; name a file in it")
        case S_IFREG: break
        default: throw ProbeError(.unreadable, .open, source, "this is no regular file")
        }
        if status.st_size == 0 { throw ProbeError(.empty, .open, source, "the file is empty") }
    }

    /// Inspects the first bytes, which stay readable.
    static func checkBeginning(
        of input: UnsafeMutablePointer<AVIOContext>?,
        _ source: MediaSource,
        _ interrupt: Interrupt
    ) throws(ProbeError) {
        var bytes = [UInt8](repeating: 0, count: sniffed)
        let count = Int(avio_read_partial(input, &bytes, Int32(sniffed)))
        if count == 0 || count == Int(ffmpeg_error_eof) {
            throw ProbeError(.empty, .open, source, "there is nothing in it")
        }
        if count < 0 { throw LibavFailure(Int32(count), interrupt).error(.open, source) }
        // The position is inside the buffer, so that no byte is fetched twice.
        avio_seek(input, 0, SEEK_SET)
        let beginning = String(decoding: bytes.prefix(count).drop { $0 < 0x21 || $0 > 0x7E }, as: UTF8.self)
        if beginning.hasPrefix("#EXTM3U") {
            throw ProbeError(.playlist, .open, source, playlist("an HLS playlist"))
        }
        if beginning.contains("<MPD") {
            throw ProbeError(.playlist, .open, source, playlist("a DASH manifest"))
        }
    }

    /// For files only: a playlist over HTTP is played as a stream.
    private static func playlist(_ kind: String) -> String {
        "this is \(kind), which is played from an http or https address, not from a file; serve its folder over HTTP"
    }
}
