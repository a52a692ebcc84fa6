/// The bytes of a response that have arrived, or a part of them: small ones in an array, large ones in pages.
struct FetchedBytes: Sendable {
    fileprivate enum Storage: Sendable {
        case array([UInt8])
        case pages(PageBlock)
    }

    private let storage: Storage
    private let range: Range<Int>

    fileprivate init(_ storage: Storage, _ range: Range<Int>) { (self.storage, self.range) = (storage, range) }

    init(_ bytes: [UInt8]) { self.init(.array(bytes), bytes.indices) }

    var count: Int { range.count }
    var isEmpty: Bool { range.isEmpty }

    /// The bytes as an array; a copy, unless they are all bytes of one.
    var array: [UInt8] {
        if case .array(let bytes) = storage, range == bytes.indices { return bytes }
        return withUnsafeBytes { [UInt8]($0) }
    }

    /// The bytes of a range, which counts from the first of these; nil if they are not all there.
    func part(_ part: Range<Int>) -> FetchedBytes? {
        guard part.lowerBound >= 0, part.upperBound <= count else { return nil }
        let start = range.lowerBound + part.lowerBound
        return FetchedBytes(storage, start..<(start + part.count))
    }

    func withUnsafeBytes<Value, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        switch storage {
        case .pages(let block):
            // The pages stay while their bytes are in use.
            defer { withExtendedLifetime(block) {} }
            return try body(UnsafeRawBufferPointer(start: block.start + range.lowerBound, count: range.count))
        case .array(let bytes):
            let range = range
            let value = bytes.withUnsafeBytes { all in
                Result { () throws(Failure) in try body(UnsafeRawBufferPointer(rebasing: all[range])) }
            }
            return try value.get()
        }
    }
}

/// Bytes that are appended as they arrive.
struct GrowingBytes: ~Copyable {
    /// Bodies from this size on have pages.
    private static let leastInPages = 64 << 10

    private var storage = FetchedBytes.Storage.array([])
    private(set) var count = 0

    init() {}

    /// The bytes so far. They stay as they are, also while others are appended.
    var fetched: FetchedBytes { FetchedBytes(storage, 0..<count) }

    /// Makes room for this number of bytes in all.
    mutating func reserve(_ capacity: Int) {
        if !hasPages(for: capacity) { change { $0.reserveCapacity(capacity) } }
    }

    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        guard let address = bytes.baseAddress, bytes.count > 0 else { return }
        let needed = count + bytes.count
        if hasPages(for: needed), case .pages(let block) = storage {
            (block.start + count).copyMemory(from: address, byteCount: bytes.count)
        } else {
            change { $0.append(contentsOf: bytes) }
        }
        count = needed
    }

    /// Whether there are pages for this number of bytes, if need be larger ones than before; false for a small number,
    /// and if the system has no memory.
    private mutating func hasPages(for capacity: Int) -> Bool {
        if case .pages(let block) = storage, block.capacity >= capacity { return true }
        guard capacity >= Self.leastInPages, let block = PageMemory.shared.block(of: capacity) else { return false }
        fetched.withUnsafeBytes { UnsafeMutableRawBufferPointer(start: block.start, count: count).copyMemory(from: $0) }
        storage = .pages(block)
        return true
    }

    /// Changes the bytes as an array, which moves only if others hold it.
    private mutating func change(_ body: (inout [UInt8]) -> Void) {
        var bytes = fetched.array
        storage = .array([])
        body(&bytes)
        storage = .array(bytes)
    }
}
