internal import ArgumentParser

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// Creates or replaces a file with a text. Exits with code 2 if the file cannot be written.
package func writeFile(_ text: String, to path: String) throws {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
    guard descriptor >= 0 else {
        throw ValidationError("cannot write \(path): \(String(cString: strerror(errno)))")
    }
    let isWritten = writeAll(Array(text.utf8), to: descriptor)
    let number = errno
    if close(descriptor) != 0 || !isWritten {
        throw ValidationError("cannot write \(path): \(String(cString: strerror(isWritten ? errno : number)))")
    }
}
