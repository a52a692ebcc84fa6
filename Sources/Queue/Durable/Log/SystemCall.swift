internal import Instrument

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// Retries of system calls whose failure may be momentary: a lack of descriptors or memory, or a signal.
///
/// A segment whose file cannot be opened, mapped or renamed loses its place in the order of segments, and a status that
/// cannot be read makes a file look as if it were missing. The retries follow at once: nothing waits.
enum SystemCall {
    /// The number of attempts, the first one included.
    static let attempts = 3

    /// Returns the first result that is not nil, or the error of the last attempt.
    ///
    /// - Parameters:
    ///   - finalErrors: errors that a further attempt would repeat.
    ///   - call: one attempt; nil if the call has failed and set `errno`.
    static func retrying<Value>(unless finalErrors: [Int32] = [], _ call: () -> Value?) -> Result<Value, SystemError> {
        var error = SystemError(0)
        for _ in 0..<attempts {
            if let value = call() { return .success(value) }
            error = SystemError(errno)
            if finalErrors.contains(error.number) { break }
        }
        return .failure(error)
    }
}
