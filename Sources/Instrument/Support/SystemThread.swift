#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// Threads of the system for work that blocks: a read that waits, a socket, a signal.
///
/// Dispatch has some 250 threads for everything and Swift's pool has one for each processor; blocking work would take
/// those away from others.
package enum SystemThread {
    private final class Body: Sendable {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    /// Runs `body` on a new thread, which ends with `body`; false if the process has reached its thread limit.
    ///
    /// - Parameters:
    ///   - name: what tools show, at most 15 bytes.
    ///   - stackSize: in bytes. Only pages that are touched cost memory.
    ///   - takesSignals: without it, the thread blocks all signals but those of a crash, because the others are the
    ///     app's.
    package static func start(
        name: String? = nil,
        stackSize: Int = 2 << 20,
        takesSignals: Bool = true,
        _ body: @escaping @Sendable () -> Void
    ) -> Bool {
        let context = Unmanaged.passRetained(
            Body {
                if let name { setName(name) }
                body()
            }
        )
        let isRunning =
            takesSignals
            ? create(stackSize, context.toOpaque())
            : withBlockedSignals { create(stackSize, context.toOpaque()) }
        if !isRunning { context.release() }
        return isRunning
    }

    /// Hands `body` to a function of C that starts a thread, and returns what that function returns: whether the thread
    /// runs. The thread calls the function that it is given once, with the context that it is given.
    package static func hand(
        _ body: @escaping @Sendable () -> Void,
        to start: (@escaping @convention(c) (UnsafeMutableRawPointer?) -> Void, UnsafeMutableRawPointer) -> Bool
    ) -> Bool {
        let context = Unmanaged.passRetained(Body(body))
        let isRunning = start({ SystemThread.run($0) }, context.toOpaque())
        if !isRunning { context.release() }
        return isRunning
    }

    private static func run(_ context: UnsafeMutableRawPointer?) {
        guard let context else { return }
        Unmanaged<Body>.fromOpaque(context).takeRetainedValue().run()
    }

    private static func create(_ stackSize: Int, _ context: UnsafeMutableRawPointer) -> Bool {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setstacksize(&attributes, stackSize)
        #if canImport(Glibc)
        var thread = pthread_t()
        #else
        var thread: pthread_t?
        #endif
        let status = pthread_create(
            &thread,
            &attributes,
            { context in
                SystemThread.run(context)
                return nil
            },
            context
        )
        guard status == 0 else { return false }
        #if canImport(Glibc)
        pthread_detach(thread)
        #else
        if let thread { pthread_detach(thread) }
        #endif
        return true
    }

    /// A new thread inherits the mask of the thread that creates it.
    private static func withBlockedSignals(_ create: () -> Bool) -> Bool {
        var (blocked, before) = (sigset_t(), sigset_t())
        sigfillset(&blocked)
        for crash in [SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP] { sigdelset(&blocked, crash) }
        pthread_sigmask(SIG_SETMASK, &blocked, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        return create()
    }

    private static func setName(_ name: String) {
        #if canImport(Darwin)
        pthread_setname_np(name)
        #else
        // As the C library's function does, which Swift does not see.
        let file = open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
        guard file >= 0 else { return }
        _ = write(file, name, name.utf8.count)
        close(file)
        #endif
    }
}
