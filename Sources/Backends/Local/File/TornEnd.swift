internal import InstrumentCompression

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#endif

/// Finds the end of the last complete batch in a file whose writer may have crashed during a write.
///
/// The torn part was never acknowledged, so the queue delivers it again; complete lines of a torn gzip member
/// belong to it. Only the end of a file is removed, and only if the file begins like a file of this backend:
/// any other content may be valuable.
enum TornEnd {
    private static var blockSize: Int { 1 << 16 }

    static func wholeLength(
        of descriptor: Int32,
        _ path: String,
        length: Int,
        _ compression: FileConfiguration.Compression
    ) throws(FileBackendError) -> Int {
        try check(descriptor, path, compression)
        return switch compression {
        case .none: try lastLineEnd(of: descriptor, path, length: length)
        case .gzip: try lastMemberEnd(of: descriptor, path)
        }
    }

    /// Files of this backend begin with a line's first name or a gzip header; a loss of power may leave zeros.
    private static func check(
        _ descriptor: Int32,
        _ path: String,
        _ compression: FileConfiguration.Compression
    ) throws(FileBackendError) {
        let (line, gzip) = (SampleLine.beginning, Gzip.beginning)
        let (ours, other) = compression == .gzip ? (gzip, line) : (line, gzip)
        let beginning = try read(descriptor, path, at: 0, count: line.count)
        if beginning.starts(with: ours) || ours.starts(with: beginning) { return }
        if beginning.first == 0 { throw FileBackendError(.damaged, path, "its beginning is lost") }
        let packing = compression == .gzip ? "plain lines" : "gzip"
        let content = beginning.starts(with: other) ? packing : "no samples"
        throw FileBackendError(.otherFormat, path, "it contains \(content) and was left unchanged; choose another file")
    }

    /// Reads backwards: the torn part is short, the file may be long.
    private static func lastLineEnd(
        of descriptor: Int32,
        _ path: String,
        length: Int
    ) throws(FileBackendError) -> Int {
        var end = length
        while end > 0 {
            let start = max(0, end - blockSize)
            let block = try read(descriptor, path, at: start, count: end - start)
            if let newline = block.lastIndex(of: UInt8(ascii: "\n")) { return start + newline + 1 }
            if block.isEmpty { return 0 }
            end = start
        }
        return 0
    }

    private static func lastMemberEnd(of descriptor: Int32, _ path: String) throws(FileBackendError) -> Int {
        var gunzip = Gunzip()
        var offset = 0
        while true {
            let block = try read(descriptor, path, at: offset, count: blockSize)
            if block.isEmpty { return gunzip.wholeMembersEnd }
            offset += block.count
            do {
                try gunzip.unpack(block) { _ in }
            } catch {
                throw FileBackendError(.damaged, path, "it is damaged after byte \(gunzip.wholeMembersEnd)")
            }
        }
    }

    private static func read(
        _ descriptor: Int32,
        _ path: String,
        at offset: Int,
        count: Int
    ) throws(FileBackendError) -> [UInt8] {
        var block = [UInt8](repeating: 0, count: count)
        var filled = 0
        while filled < count {
            let got = block[filled...].withUnsafeMutableBytes {
                pread(descriptor, $0.baseAddress, $0.count, off_t(offset + filled))
            }
            if got == 0 { break }
            if got < 0 {
                if errno == EINTR { continue }
                throw FileBackendError(errno: errno, path, "read it")
            }
            filled += got
        }
        return Array(block.prefix(filled))
    }
}
