internal import ArgumentParser
internal import Instrument
internal import InstrumentFiles

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// Creates or replaces a file with a text. Exits with code 2 if the file cannot be written.
package func writeFile(_ text: String, to path: String) throws { try writeFile(Array(text.utf8), to: path) }

/// Writes a whole file; one that exists is replaced.
package func writeFile(_ bytes: [UInt8], to path: String) throws {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
    guard descriptor >= 0 else {
        throw ValidationError("cannot write \(path): \(SystemError(errno))")
    }
    var cause = SystemFile.writeAll(bytes, to: descriptor)
    if close(descriptor) != 0, cause == 0 { cause = errno }
    if cause != 0 { throw ValidationError("cannot write \(path): \(SystemError(cause))") }
}
