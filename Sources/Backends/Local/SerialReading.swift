internal import Dispatch
internal import Instrument

/// Messages that a reader of a message system returns at once.
package struct ReadMessages: Sendable {
    /// The payloads, in their order; with partitions, those of each partition.
    package var values: [[UInt8]] = []
    /// Whether there was nothing newer.
    package var isAtEnd = false

    /// Creates a list without a message.
    package init() {}
}

/// Runs the reads of a message system, which block, one at a time on a serial dispatch queue.
///
/// `State` is what the reads work with, such as a connection and where the next one begins. Only they change it.
package final class SerialReading<State>: Sendable {
    /// Unchecked: every access is in a block of the serial dispatch queue.
    private final class Confined: @unchecked Sendable {
        var state: State
        init(_ state: State) { self.state = state }
    }

    private let queue: DispatchQueue
    private let confined: Confined

    /// Creates the dispatch queue; a read makes the connection.
    package init(label: String, _ state: State) {
        (queue, confined) = (DispatchQueue(label: label), Confined(state))
    }

    /// Runs a read after the reads before.
    ///
    /// - Parameter body: the read, which asks now and then whether the task was cancelled.
    /// - Throws: what `body` throws.
    package func read<Value: Sendable, Failure: Error>(
        _ body: @escaping @Sendable (inout State, _ isCancelled: @escaping () -> Bool) throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let isCancelled = Lock(false)
        let result: Result<Value, Failure> = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                queue.async { [confined] in
                    let result = Result { () throws(Failure) in
                        try body(&confined.state) { isCancelled.withLock { $0 } }
                    }
                    continuation.resume(returning: result)
                }
            }
        } onCancel: {
            isCancelled.withLock { $0 = true }
        }
        return try result.get()
    }

    /// Changes the state after the reads before.
    package func change(_ body: @escaping @Sendable (inout State) -> Void) async {
        await withCheckedContinuation { continuation in
            queue.async { [confined] in
                body(&confined.state)
                continuation.resume()
            }
        }
    }
}
