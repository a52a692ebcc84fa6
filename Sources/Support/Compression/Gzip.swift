internal import CZlib

/// Gzip (RFC 1952) through zlib.
package enum Gzip {
    /// The first bytes of a member: the magic number and the compression method.
    package static let beginning: [UInt8] = [0x1F, 0x8B, 0x08]

    /// One complete member; nil only if there is no memory.
    package static func compress(_ bytes: [UInt8]) -> [UInt8]? {
        // zlib remembers the address of its stream, which therefore must not move.
        let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
        stream.initialize(to: z_stream())
        defer { stream.deallocate() }
        guard zlib_begin_gzip(stream, Z_DEFAULT_COMPRESSION) == Z_OK else { return nil }
        defer { deflateEnd(stream) }
        let bound = Int(deflateBound(stream, UInt(bytes.count)))
        var result = Z_BUF_ERROR
        let output = [UInt8](unsafeUninitializedCapacity: bound) { output, count in
            bytes.withUnsafeBufferPointer { input in
                // zlib only reads its input.
                stream.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
                stream.pointee.avail_in = UInt32(clamping: input.count)
                stream.pointee.next_out = output.baseAddress
                stream.pointee.avail_out = UInt32(clamping: output.count)
                result = deflate(stream, Z_FINISH)
                // zlib has written what it counts.
                count = output.count - Int(stream.pointee.avail_out)
            }
        }
        return result == Z_STREAM_END ? output : nil
    }
}

/// Unpacks gzip members one after another, from input that comes in pieces.
package struct Gunzip: ~Copyable {
    package enum Failure: Error { case damaged }

    private let stream: UnsafeMutablePointer<z_stream>
    private var isInMember = false
    /// The number of input bytes of complete members so far.
    package private(set) var wholeMembersEnd = 0
    private var taken = 0
    /// The number of bytes of the last piece that were not read, because they follow damage.
    package private(set) var unread = 0

    package init() {
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        _ = zlib_begin_gunzip(stream)
    }

    deinit {
        inflateEnd(stream)
        stream.deinitialize(count: 1)
        stream.deallocate()
    }

    /// Whether the input so far ends inside a member.
    package var isTorn: Bool { isInMember }

    /// Unpacks a piece of input; `output` is called with pieces of at most 64 KiB, however well they were packed.
    package mutating func unpack(_ input: [UInt8], into output: (ArraySlice<UInt8>) -> Void) throws(Failure) {
        var input = input
        var isDamaged = false
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        input.withUnsafeMutableBufferPointer { input in
            stream.pointee.next_in = input.baseAddress
            stream.pointee.avail_in = UInt32(clamping: input.count)
            while !isDamaged {
                if stream.pointee.avail_in == 0, !hasPendingOutput(buffer.count) { break }
                let before = stream.pointee.avail_in
                let result = buffer.withUnsafeMutableBufferPointer { buffer in
                    stream.pointee.next_out = buffer.baseAddress
                    stream.pointee.avail_out = UInt32(clamping: buffer.count)
                    return inflate(stream, Z_NO_FLUSH)
                }
                taken += Int(before - stream.pointee.avail_in)
                let produced = buffer.count - Int(stream.pointee.avail_out)
                lastProduced = produced
                if produced > 0 { output(buffer[..<produced]) }
                switch result {
                case Z_OK: isInMember = true
                case Z_STREAM_END:
                    isInMember = false
                    wholeMembersEnd = taken
                    lastProduced = 0
                    inflateReset(stream)
                case Z_BUF_ERROR:
                    isInMember = isInMember || taken > wholeMembersEnd
                    return
                default: isDamaged = true
                }
            }
            unread = Int(stream.pointee.avail_in)
        }
        if isDamaged { throw .damaged }
    }

    private var lastProduced = 0
    /// A full output buffer means that zlib may hold back more.
    private func hasPendingOutput(_ capacity: Int) -> Bool { lastProduced == capacity }
}
