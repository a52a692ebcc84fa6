#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// The number of an error of the operating system, as in `errno`.
package struct SystemError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The number.
    package let number: Int32

    /// Creates an error from its number.
    package init(_ number: Int32) { self.number = number }

    /// The system's text for the error, for example `Permission denied`. Safe on every thread.
    package var description: String {
        var text = [CChar](repeating: 0, count: 256)
        strerror_r(number, &text, text.count - 1)
        let bytes = text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        return bytes.isEmpty ? "error \(number)" : String(decoding: bytes, as: UTF8.self)
    }
}
