package import Dispatch
internal import Instrument

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// One connection over a stream socket: a thread that waits in `recv`, and bytes that are written in order.
///
/// A thread and no source of Dispatch's: with one, on Linux, the end of a real mpv went unnoticed now and then, when it
/// came together with the last bytes. It passes on the bytes that it has read and waits until they are processed, so
/// that a peer that floods us is slowed down and fills no memory. A peer that reads too little is disconnected.
package final class StreamConnection: Sendable {
    private struct State {
        /// The descriptor is ours until the thread has closed it.
        var isDescriptorOpen = true
        /// The listener continues to receive.
        var isWanted = true
        /// The bytes that the socket has not taken yet.
        var unsent: [UInt8] = []
        /// How many of ``unsent`` it has taken.
        var sentCount = 0
        var isWriting = false
    }

    /// How long one wait for a slow peer takes, in milliseconds; then the connection is looked at again.
    private static let slice: Int32 = 50

    private let descriptor: Int32
    private let maxUnsentCount: Int
    private let state = Lock(State())

    /// Takes the descriptor over; `onBytes` and `onEnd` are called on `queue`, and never after ``close()``.
    ///
    /// - Parameters:
    ///   - name: of the thread, at most 15 bytes.
    ///   - maxUnsentCount: how many bytes wait for a peer that reads slowly. By default none: what such peers have to
    ///     take is far less than a socket holds, and one whose socket is full reads no more.
    package init(
        _ descriptor: Int32,
        name: String,
        on queue: DispatchQueue,
        maxUnsentCount: Int = 0,
        onBytes: @escaping @Sendable ([UInt8]) -> Void,
        onEnd: @escaping @Sendable (String) -> Void
    ) {
        self.descriptor = descriptor
        self.maxUnsentCount = maxUnsentCount
        let isRunning = SystemThread.start(name: name, stackSize: 512 << 10) { [self] in
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

    /// Sends bytes after all that were sent before; a peer that does not take them is disconnected.
    package func send(_ bytes: [UInt8]) {
        let mustWrite = state.withLock { state in
            guard state.isDescriptorOpen else { return false }
            state.unsent += bytes
            if state.isWriting { return false }
            write(&state)
            state.isWriting = state.sentCount < state.unsent.count
            return state.isWriting
        }
        if mustWrite { DispatchQueue.global().async { [self] in writeRest() } }
    }

    /// Writes what the socket takes at once. Ends the connection if that is too little.
    private func write(_ state: inout State) {
        switch UnixSocket.write(state.unsent[state.sentCount...], to: descriptor) {
        case .success(let count): state.sentCount += count
        case .failure: return giveUp(&state)
        }
        if state.sentCount * 2 >= state.unsent.count {
            state.unsent.removeFirst(state.sentCount)
            state.sentCount = 0
        }
        if state.unsent.count - state.sentCount > maxUnsentCount { giveUp(&state) }
    }

    private func giveUp(_ state: inout State) {
        (state.unsent, state.sentCount) = ([], 0)
        shutdown(descriptor, Int32(SHUT_RDWR))
    }

    private func writeRest() {
        while true {
            let isLeft = state.withLock { state in
                if state.isDescriptorOpen { write(&state) } else { (state.unsent, state.sentCount) = ([], 0) }
                state.isWriting = state.sentCount < state.unsent.count
                return state.isWriting
            }
            guard isLeft else { return }
            // The number may be another's by the time of the wait, which only looks.
            UnixSocket.waitUntilWritable(descriptor, milliseconds: Self.slice)
        }
    }

    /// Ends the connection. No callback follows.
    package func close() {
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
package func closeDescriptor(_ descriptor: Int32) { close(descriptor) }
