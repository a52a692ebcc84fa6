internal import Dispatch
internal import Instrument

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// One connection: a thread that waits in `recv`, and lines that are written at once or not at all.
///
/// A thread and no source of Dispatch's: with one, on Linux, the end of a real mpv went unnoticed now and then, when it
/// came together with the last bytes. It passes on the bytes that it has read and waits until they are processed, so
/// that a player that floods us is slowed down and fills no memory.
final class MPVConnection: Sendable {
    private struct State {
        /// The descriptor is ours until the thread has closed it.
        var isDescriptorOpen = true
        /// The listener continues to receive.
        var isWanted = true
    }

    private let descriptor: Int32
    private let state = Lock(State())

    /// Takes the descriptor over; `onBytes` and `onEnd` are called on `queue`, and never after ``close()``.
    init(
        _ descriptor: Int32,
        on queue: DispatchQueue,
        onBytes: @escaping @Sendable ([UInt8]) -> Void,
        onEnd: @escaping @Sendable (String) -> Void
    ) {
        self.descriptor = descriptor
        let isRunning = SystemThread.start(name: "instrument.mpv", stackSize: 512 << 10) { [self] in
            let reason = readAll { bytes in queue.sync { if self.isWanted { onBytes(bytes) } } }
            state.withLock { state in
                state.isDescriptorOpen = false
                closeDescriptor(descriptor)
            }
            queue.sync { if self.takeWish() { onEnd(reason) } }
        }
        if isRunning { return }
        state.withLock { state in
            state.isDescriptorOpen = false
            closeDescriptor(descriptor)
        }
        queue.async { [self] in
            if takeWish() { onEnd("cannot create the connection's thread: the process has reached its thread limit") }
        }
    }

    /// Sends lines; one that cannot take them reads no more, and its connection is ended.
    func send(_ bytes: [UInt8]) {
        state.withLock { state in
            guard state.isDescriptorOpen, UnixSocket.write(bytes, to: descriptor) != nil else { return }
            shutdown(descriptor, Int32(SHUT_RDWR))
        }
    }

    /// Ends the connection. No callback follows.
    func close() {
        state.withLock { state in
            state.isWanted = false
            // The thread wakes up from that, and closes: the number cannot be another's by then.
            if state.isDescriptorOpen { shutdown(descriptor, Int32(SHUT_RDWR)) }
        }
    }

    private var isWanted: Bool { state.withLock { $0.isWanted } }

    private func takeWish() -> Bool {
        state.withLock { state in
            defer { state.isWanted = false }
            return state.isWanted
        }
    }

    /// Reads until the connection ends; returns why.
    private func readAll(_ body: ([UInt8]) -> Void) -> String {
        while true {
            switch UnixSocket.read(descriptor) {
            case .bytes(let bytes): body(bytes)
            case .nothingYet: continue
            case .ended(let reason): return reason
            }
        }
    }
}

/// The function, whose name the types here take.
func closeDescriptor(_ descriptor: Int32) { close(descriptor) }
