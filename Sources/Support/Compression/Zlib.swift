internal import CZlib

/// The zlib format (RFC 1950), as PNG has it.
package enum Zlib {
    /// Unpacks a whole stream of exactly `count` bytes; nil if it is damaged, torn, longer or shorter. The memory is
    /// that of `count` bytes, however well the stream was packed.
    package static func unpack(_ bytes: [UInt8], count: Int) -> [UInt8]? {
        guard count > 0, let capacity = UInt32(exactly: count), let length = UInt32(exactly: bytes.count) else {
            return nil
        }
        // zlib remembers the address of its stream, which therefore must not move.
        let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
        stream.initialize(to: z_stream())
        defer { stream.deallocate() }
        guard zlib_begin_inflate(stream) == Z_OK else { return nil }
        defer { inflateEnd(stream) }
        var input = bytes
        var output = [UInt8](repeating: 0, count: count)
        let result = input.withUnsafeMutableBufferPointer { input in
            output.withUnsafeMutableBufferPointer { output in
                (stream.pointee.next_in, stream.pointee.avail_in) = (input.baseAddress, length)
                (stream.pointee.next_out, stream.pointee.avail_out) = (output.baseAddress, capacity)
                return inflate(stream, Z_FINISH)
            }
        }
        return result == Z_STREAM_END && stream.pointee.avail_out == 0 ? output : nil
    }
}
