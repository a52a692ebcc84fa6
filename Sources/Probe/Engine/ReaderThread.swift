internal import CProbeShim

/// A dedicated thread for a blocking reader. Dispatch has about 250 threads for the whole process; with all of them
/// blocked the next probe would wait until another one ends.
enum ReaderThread {
    private final class Body: Sendable {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    /// Runs `body` on a new thread, which ends with it; false if the system has none left.
    static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
        let context = Unmanaged.passRetained(Body(body))
        let isRunning = probe_thread_start(
            { context in
                guard let context else { return }
                Unmanaged<Body>.fromOpaque(context).takeRetainedValue().run()
            },
            context.toOpaque()
        )
        if !isRunning { context.release() }
        return isRunning
    }
}
