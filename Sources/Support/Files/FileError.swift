internal import Instrument

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// A call to the file system that failed.
package struct FileError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The intended action, with the path: `write /a/b`.
    package let action: String
    /// The number of the error, as in `errno`.
    package let number: Int32

    /// Creates an error from an action and the number of the error.
    package init(_ action: String, number: Int32) { (self.action, self.number) = (action, number) }

    /// Whether nothing stands at the path, or the device behind it has gone.
    package var isMissing: Bool { [ENOENT, ENOTDIR, ENODEV].contains(number) }

    /// Whether the file is larger than the reader accepts.
    package var isTooLarge: Bool { number == EFBIG }

    /// The action and the system's words for the error.
    package var description: String { "cannot \(action): \(SystemError(number))" }
}
