#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#endif

/// The calls that fail on a full or broken disk; tests replace them.
struct FileCalls: Sendable {
    /// Writes like `write(2)`.
    var write: @Sendable (_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int = systemWrite
    /// Makes written bytes survive a loss of power, like `fsync(2)`.
    var synchronize: @Sendable (_ descriptor: Int32) -> Int32 = systemSynchronize
}

@Sendable private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    #if canImport(Darwin)
    Darwin.write(descriptor, bytes.baseAddress, bytes.count)
    #else
    Glibc.write(descriptor, bytes.baseAddress, bytes.count)
    #endif
}

@Sendable private func systemSynchronize(_ descriptor: Int32) -> Int32 {
    #if canImport(Darwin)
    // Darwin's fsync leaves the bytes in the drive's cache; some file systems cannot flush that cache.
    if fcntl(descriptor, F_FULLFSYNC) == 0 { return 0 }
    #endif
    return fsync(descriptor)
}
