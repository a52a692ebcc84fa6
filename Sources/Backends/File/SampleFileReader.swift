public import Instrument
internal import InstrumentCompression

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#endif

/// Reads the samples in a file that a ``FileBackend`` wrote, plain or gzip, with little memory however long it is.
///
/// ```swift
/// var reader = try SampleFileReader(path: "samples.ndjson")
/// while let record = try reader.next() { … }
/// for problem in reader.problems { print(problem) }
/// ```
///
/// A file whose writer died is read to its last whole line. What cannot be read is left out and reported.
public struct SampleFileReader: ~Copyable {
    /// A line that was left out.
    public struct Problem: Hashable, Sendable, CustomStringConvertible {
        /// The line's number, from 1.
        public let line: Int
        /// Why.
        public let reason: String
        /// Both.
        public var description: String { "line \(line): \(reason)" }
    }

    /// Longer lines are left out: a file that is not ours must not use up the memory.
    private static var maxLineLength: Int { 16 << 20 }
    private static var blockSize: Int { 1 << 16 }

    /// The lines that were left out so far; at most the first 1000.
    public private(set) var problems: [Problem] = []
    private let path: String
    private let descriptor: Int32
    private var gunzip: Gunzip?
    private var isSniffed = false
    /// Bytes that were unpacked and not split into lines yet, from `start` on.
    private var pending: [UInt8] = []
    private var start = 0
    private var searched = 0
    private var line = 0
    private var isSkipping = false
    private var isAtEnd = false

    /// Opens a file.
    public init(path: String) throws(FileBackendError) {
        self.path = path
        descriptor = open(path, O_RDONLY | O_CLOEXEC)
        if descriptor < 0 { throw FileBackendError(errno: errno, path, "open it for reading") }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// The next sample that can be read; nil at the end.
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
        if pending.count - start > Self.maxLineLength, !isSkipping {
            line += 1
            report("longer than \(Self.maxLineLength) bytes")
            line -= 1
            isSkipping = true
        }
        if isSkipping { start = pending.count }
        pending.removeFirst(start)
        (start, searched) = (0, pending.count)
    }

    private mutating func readBlock() throws(FileBackendError) {
        var block = [UInt8](repeating: 0, count: Self.blockSize)
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
        try unpack(block)
    }

    private mutating func unpack(_ block: [UInt8]) throws(FileBackendError) {
        if gunzip == nil { return pending.append(contentsOf: block) }
        if isAtEnd {
            if gunzip?.isTorn == true { report("the end of the file is torn") }
            return
        }
        var unpacked: [UInt8] = []
        do {
            try gunzip?.unpack(block) { unpacked.append(contentsOf: $0) }
        } catch {
            report("the compressed data is damaged from here on")
            isAtEnd = true
        }
        pending.append(contentsOf: unpacked)
    }

    private mutating func report(_ reason: String) {
        if problems.count < 1000 { problems.append(Problem(line: line, reason: reason)) }
    }
}
