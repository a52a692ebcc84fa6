internal import InstrumentFiles

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
    var synchronize: @Sendable (_ descriptor: Int32) -> Int32 = { SystemFile.synchronize($0) }
}

@Sendable private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    write(descriptor, bytes.baseAddress, bytes.count)
}
