public import Instrument
internal import InstrumentCompression

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#endif

/// Reads the samples in a file that a ``FileBackend`` wrote, plain or gzip, with little memory for any length.
///
/// ```swift
/// var reader = try SampleFileReader(path: "samples.ndjson")
/// while let record = try reader.next() { … }
/// for problem in reader.problems { print(problem) }
/// ```
///
/// A file whose writer crashed is read to its last complete line. Lines that cannot be read are skipped and
/// reported; after a damaged gzip member, reading continues with the next one. A sample that was written twice,
/// because of a crash between the write and the acknowledgement, is returned twice, with the same sequence
/// number.
///
/// Names of attributes and actions stay in memory: a foreign file with many different names costs that memory.
public struct SampleFileReader: ~Copyable {
    /// A line that was skipped.
    public struct Problem: Hashable, Sendable, CustomStringConvertible {
        /// The line's number, from 1.
        public let line: Int
        /// The reason.
        public let reason: String
        /// The line number and the reason.
        public var description: String { "line \(line): \(reason)" }
    }

    private static var blockSize: Int { 1 << 16 }
    /// The number of bytes to decompress at once; hostile ones become a thousand times as many.
    private static var packedBlockSize: Int { 1 << 12 }

    /// The lines that were skipped so far; at most the first 1,000.
    public private(set) var problems: [Problem] = []
    private let path: String
    private let maxLineLength: Int
    private let descriptor: Int32
    private var gunzip: Gunzip?
    /// The search for the next member after a damaged one; nil otherwise.
    private var search: MemberSearch?
    private var isSniffed = false
    /// Decompressed bytes that are not split into lines yet, from `start` on.
    private var pending: [UInt8] = []
    private var start = 0
    private var searched = 0
    private var line = 0
    private var isSkipping = false
    private var isAtEnd = false

    /// Opens a file.
    ///
    /// - Parameters:
    ///   - path: a file that a ``FileBackend`` wrote; its first bytes tell the compression.
    ///   - maxLineLength: the longest line in bytes; longer ones are skipped, so that a foreign file cannot exhaust memory.
    public init(path: String, maxLineLength: Int = 16 << 20) throws(FileBackendError) {
        self.path = path
        self.maxLineLength = max(1, maxLineLength)
        descriptor = open(path, O_RDONLY | O_CLOEXEC)
        if descriptor < 0 { throw FileBackendError(errno: errno, path, "open it for reading") }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Returns the next readable sample; nil at the end.
    public mutating func next() throws(FileBackendError) -> SampleRecord? {
        while let text = try nextLine() {
            do {
                return try SampleLine.read(text)
            } catch {
                report(error.description)
            }
        }
        return nil
    }

    private mutating func nextLine() throws(FileBackendError) -> [UInt8]? {
        while true {
            if let newline = pending[searched...].firstIndex(of: UInt8(ascii: "\n")) {
                let text = Array(pending[start..<newline])
                (start, searched) = (newline + 1, newline + 1)
                line += 1
                if isSkipping {
                    isSkipping = false
                } else if text.count > maxLineLength {
                    report("longer than \(maxLineLength) bytes")
                } else if !text.isEmpty {
                    return text
                }
                continue
            }
            searched = pending.count
            if isAtEnd { return finish() }
            dropWhatIsRead()
            try readBlock()
        }
    }

    private mutating func finish() -> [UInt8]? {
        if start < pending.count {
            line += 1
            report("the last line is torn")
        }
        (start, searched) = (pending.count, pending.count)
        return nil
    }

    private mutating func dropWhatIsRead() {
        if pending.count - start > maxLineLength, !isSkipping {
            line += 1
            report("longer than \(maxLineLength) bytes")
            line -= 1
            isSkipping = true
        }
        if isSkipping { start = pending.count }
        pending.removeFirst(start)
        (start, searched) = (0, pending.count)
    }

    private mutating func readBlock() throws(FileBackendError) {
        let isPlain = isSniffed && gunzip == nil
        var block = [UInt8](repeating: 0, count: isPlain ? Self.blockSize : Self.packedBlockSize)
        var count = -1
        repeat {
            count = block.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
        } while count < 0
            && errno == EINTR
        if count < 0 { throw FileBackendError(errno: errno, path, "read it") }
        block.removeLast(block.count - count)
        if !isSniffed {
            isSniffed = true
            if block.starts(with: [0x1F, 0x8B]) { gunzip = Gunzip() }
        }
        isAtEnd = count == 0
        unpack(block)
    }

    private mutating func unpack(_ block: [UInt8]) {
        if gunzip == nil { return pending.append(contentsOf: block) }
        if isAtEnd {
            if search == nil, gunzip?.isTorn == true { report("the end of the file is torn") }
            return
        }
        var packed = block
        while !packed.isEmpty {
            if search != nil {
                guard let found = search?.find(in: packed) else { return }
                (packed, search) = (found, nil)
                gunzip = Gunzip()
            }
            var unpacked: [UInt8] = []
            do {
                try gunzip?.unpack(packed) { unpacked.append(contentsOf: $0) }
                packed = []
            } catch {
                // At least one byte fewer each time, so the loop ends.
                packed = packed.suffix(min(gunzip?.unread ?? 0, packed.count - 1))
                search = MemberSearch()
            }
            pending.append(contentsOf: unpacked)
            if search != nil { endDamagedMember() }
        }
    }

    /// A line that the damaged member began does not continue in the next member.
    private mutating func endDamagedMember() {
        report("the compressed data is damaged; reading continues with the next complete batch")
        if let last = pending.last, last != UInt8(ascii: "\n") { pending.append(UInt8(ascii: "\n")) }
    }

    private mutating func report(_ reason: String) {
        if problems.count < 1000 { problems.append(Problem(line: line, reason: reason)) }
    }
}
