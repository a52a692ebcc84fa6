internal import Dispatch
internal import Instrument
internal import InstrumentSockets
internal import InstrumentText

/// One connection to a server, opened when needed and kept.
///
/// Its system calls run on a separate dispatch queue, because looking up a name and writing may wait.
final class GraphiteConnection: Sendable {
    private let address: HostPort
    private let timeout: Duration
    private let queue = DispatchQueue(label: "instrument.graphite")
    /// Used on ``queue`` alone.
    private let socket = Lock<TCPSocket?>(nil)

    init(_ address: HostPort, timeout: Duration) {
        self.address = address
        self.timeout = timeout
    }

    deinit { socket.withLock { $0.take() }?.close() }

    /// Writes all bytes, over the connection that stands or a new one, and returns once the server's machine has
    /// confirmed them.
    func send(_ bytes: [UInt8]) async throws(SocketError) {
        let isCancelled = Lock(false)
        let result: Result<Void, SocketError> = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                queue.async { [self] in
                    continuation.resume(returning: write(bytes) { isCancelled.withLock { $0 } })
                }
            }
        } onCancel: {
            isCancelled.withLock { $0 = true }
        }
        try result.get()
    }

    /// Closes the connection after the running write.
    func close() async {
        await withCheckedContinuation { continuation in
            queue.async { [self] in
                socket.withLock { $0.take() }?.close()
                continuation.resume()
            }
        }
    }

    private func write(_ bytes: [UInt8], _ isCancelled: @escaping () -> Bool) -> Result<Void, SocketError> {
        if isCancelled() { return .failure(.cancelled) }
        let result = connected(isCancelled).flatMap { socket in
            let patience = Patience(timeout, isCancelled)
            return socket.write(bytes, patience).flatMap { socket.waitUntilConfirmed(patience) }.map { socket }
        }
        switch result {
        case .success: return .success(())
        case .failure(let error):
            // Whatever was written, the rest of a line must not follow on the same connection.
            socket.withLock { $0.take() }?.close()
            return .failure(error)
        }
    }

    private func connected(_ isCancelled: @escaping () -> Bool) -> Result<TCPSocket, SocketError> {
        if let socket = socket.withLock({ $0 }) {
            if socket.isOpen { return .success(socket) }
            self.socket.withLock { $0.take() }?.close()
        }
        let opened = TCPSocket.connect(to: address, Patience(timeout, isCancelled))
        if case .success(let socket) = opened { self.socket.withLock { $0 = socket } }
        return opened
    }
}
