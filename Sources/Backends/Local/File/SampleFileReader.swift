public import Instrument
internal import InstrumentCompression
internal import InstrumentJSON

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
/// A byte order mark of UTF-8 before a line is left out. A line may have several objects, and commas or record
/// separators (RFC 7464) around them. A JSON array of samples, and an export of ClickHouse in the formats `JSON`,
/// `JSONCompact` and `JSONCompactEachRowWithNames`, are read sample by sample.
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

    /// The largest number of problems that are kept.
    private static var mostProblems: Int { 1000 }

    /// The lines that were skipped so far; at most the first 1,000.
    public private(set) var problems: [Problem] = []
    /// The number of problems so far, also of those that ``problems`` no longer takes.
    public private(set) var problemCount = 0
    /// The number of bytes that were read from the file so far, compressed as they are.
    package private(set) var byteCount = 0
    /// Receives every problem in place of ``problems``, as soon as it is found.
    private let onProblem: ((Problem) -> Void)?
    private let path: String
    private let maxLineLength: Int
    private let descriptor: Int32
    /// Whether a complete sample at the end of the file is returned although no line feed follows.
    private let acceptsOpenEnd: Bool
    private var parser = SampleLineParser()
    private var gunzip: Gunzip?
    /// The search for the next member after a damaged one; nil otherwise.
    private var search: MemberSearch?
    private var isSniffed = false
    /// Whether the form of the text is known: lines, or values over several lines.
    private var isBegun = false
    private var values: SampleSplitter?
    private var rows = SampleRows()
    /// The other samples of a line with several objects, the last one first.
    private var others: [SampleRecord] = []
    /// Decompressed bytes that are not split into lines yet, from `start` on.
    private var pending: [UInt8] = []
    /// The memory for a block, kept from block to block.
    private var block: [UInt8] = []
    private var start = 0
    private var searched = 0
    private var line = 0
    private var isSkipping = false
    private var isAtEnd = false
    private var isOpenEnd = false

    /// Opens a file.
    ///
    /// - Parameters:
    ///   - path: a file that a ``FileBackend`` wrote; its first bytes tell the compression.
    ///   - maxLineLength: the longest line in bytes; longer ones are skipped, so that a foreign file cannot exhaust
    ///     memory.
    public init(path: String, maxLineLength: Int = 16 << 20) throws(FileBackendError) {
        try self.init(
            descriptor: open(path, O_RDONLY | O_CLOEXEC),
            name: path,
            maxLineLength: maxLineLength,
            acceptsOpenEnd: false,
            onProblem: nil
        )
    }

    /// Reads from a descriptor, which the reader closes; a negative descriptor gives the error of the call that
    /// returned it.
    ///
    /// - Parameters:
    ///   - descriptor: a file, a pipe or a terminal.
    ///   - name: the name for errors.
    ///   - maxLineLength: the longest line in bytes; longer ones are skipped.
    ///   - acceptsOpenEnd: whether a complete sample in the last line counts although no line feed follows it.
    ///   - onProblem: receives every problem, however many there are, as soon as it is found; nil keeps the first ones.
    package init(
        descriptor: Int32,
        name: String,
        maxLineLength: Int,
        acceptsOpenEnd: Bool,
        onProblem: ((Problem) -> Void)?
    ) throws(FileBackendError) {
        path = name
        self.maxLineLength = max(1, maxLineLength)
        self.acceptsOpenEnd = acceptsOpenEnd
        self.onProblem = onProblem
        self.descriptor = descriptor
        if descriptor < 0 { throw FileBackendError(errno: errno, name, "open it for reading") }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Returns the next readable sample; nil at the end.
    public mutating func next() throws(FileBackendError) -> SampleRecord? {
        if let record = others.popLast() { return record }
        while let text = try nextLine() {
            // The parser reads the lines of a file backend in place; any other line is read, or refused with a reason,
            // as JSON.
            let parsed = pending.withUnsafeBufferPointer { pending in
                parser.read(UnsafeBufferPointer(rebasing: pending[text]))
            }
            if let parsed { return parsed }
            if values == nil, pending[text].isBlank { continue }
            let bytes = Array(pending[text].droppingMark)
            do {
                guard let values, bytes.first == UInt8(ascii: "[") else {
                    others = try SampleLine.readAll(bytes).reversed()
                    return others.popLast()
                }
                if let record = try rows.read(bytes, documentColumns: values.columns) { return record }
            } catch {
                let isTorn = isOpenEnd && values == nil && (try? JSONValue(parsing: bytes)) == nil
                report(isTorn ? "the last line is torn" : error.description)
            }
        }
        return nil
    }

    /// The place of the next line in `pending`, which stays valid until the next call; nil at the end.
    private mutating func nextLine() throws(FileBackendError) -> Range<Int>? {
        if !isBegun { try begin() }
        if values != nil { return try nextValue() }
        while true {
            if let newline = Self.newline(in: pending, from: searched) {
                let text = start..<newline
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

    /// Recognises the form of the text by its first bytes.
    private mutating func begin() throws(FileBackendError) {
        while pending.count < SampleSplitter.headSize, !isAtEnd { try readBlock() }
        isBegun = true
        switch SampleSplitter.Form(pending) {
        case .lines: break
        case .values(let splitter): values = splitter
        case .unreadable(let reason):
            line = 1
            report(reason)
            while !isAtEnd {
                pending.removeAll(keepingCapacity: true)
                try readBlock()
            }
            pending.removeAll()
        }
    }

    /// The place of the next sample in a text of values, which stays valid until the next call; nil at the end.
    private mutating func nextValue() throws(FileBackendError) -> Range<Int>? {
        while true {
            let found = values?.next(in: pending, limit: maxLineLength)
            line = values?.line ?? line
            switch found {
            case .value(let range): return range
            case .problem(let reason): report(reason)
            case .more(let kept):
                if isAtEnd {
                    if values?.isOpen == true { report("the last value is torn") }
                    values?.finish()
                    pending.removeAll()
                    return nil
                }
                pending.removeFirst(kept)
                try readBlock()
            case nil: return nil
            }
        }
    }

    private static func newline(in bytes: [UInt8], from start: Int) -> Int? {
        bytes.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress, start < bytes.count else { return nil }
            return memchr(base + start, 0x0A, bytes.count - start).map { UnsafeRawPointer($0) - base }
        }
    }

    /// The last line, if no line feed ends it and it may count.
    private mutating func finish() -> Range<Int>? {
        let text = start..<pending.count
        (start, searched) = (pending.count, pending.count)
        if text.isEmpty || isSkipping { return nil }
        if pending[text].isBlank { return nil }
        line += 1
        isOpenEnd = true
        if acceptsOpenEnd, text.count <= maxLineLength { return text }
        report("the last line is torn")
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
        let size = isPlain ? Self.blockSize : Self.packedBlockSize
        if block.count != size { block = [UInt8](repeating: 0, count: size) }
        var count = -1
        repeat {
            count = block.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
        } while count < 0
            && errno == EINTR
        if count < 0 { throw FileBackendError(errno: errno, path, "read it") }
        byteCount += count
        if !isSniffed {
            isSniffed = true
            if block[..<count].starts(with: [0x1F, 0x8B]) { gunzip = Gunzip() }
        }
        isAtEnd = count == 0
        if gunzip == nil { pending.append(contentsOf: block[..<count]) } else { unpack(Array(block[..<count])) }
    }

    private mutating func unpack(_ block: [UInt8]) {
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
        problemCount += 1
        if let onProblem { return onProblem(Problem(line: line, reason: reason)) }
        if problems.count < Self.mostProblems { problems.append(Problem(line: line, reason: reason)) }
    }
}

extension ArraySlice<UInt8> {
    /// The bytes without a byte order mark of UTF-8 before them: joined files have marks between their lines.
    fileprivate var droppingMark: ArraySlice<UInt8> { starts(with: [0xEF, 0xBB, 0xBF]) ? dropFirst(3) : self }

    /// Whether the line has nothing but white space, perhaps behind a byte order mark.
    fileprivate var isBlank: Bool { droppingMark.allSatisfy { " \t\r".utf8.contains($0) } }
}
