#if os(Linux)
internal import CSignalShim
internal import Instrument

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// The app's lifecycle by POSIX signals: `SIGTERM`, `SIGINT` and `SIGHUP` end the process, `SIGTSTP` stops it,
/// `SIGCONT` continues it.
///
/// The app installs the handlers once, before it reports that it is ready: once ``install(_:)`` returns, no signal is
/// missed. A handler that was installed before continues to work: it is called first, in the signal's context, and
/// the app then decides whether it ends. Without an earlier handler, the signal ends or stops the process once the
/// observer has returned, with the signal's exit status. The same signal for a second time ends the process
/// immediately.
///
/// Limits: a handler that the app installs later with `signal` or `sigaction` replaces this one. A handler that calls
/// `_exit` leaves no time for a flush. An app that receives signals by `sigwait` or `signalfd` must not install this.
/// A signal that is ignored at the installation (as under `nohup`) stays ignored. Under a supervisor in the process,
/// such as swift-service-lifecycle, use `InstrumentService` of the library InstrumentServiceLifecycle instead.
public final class SignalLifecycle: LifecycleSource {
    private struct State {
        var observer: (@Sendable (LifecycleNotice) -> Void)?
        /// The notices before the first observer.
        var waiting: [LifecycleNotice] = []
    }

    /// The reason why signals cannot be observed.
    public struct Failure: Error, Hashable, Sendable, CustomStringConvertible {
        /// The failure and the remedy.
        public let description: String
    }

    /// The signals that are observed by default.
    public static let allSignals: [Int32] = [SIGTERM, SIGINT, SIGHUP, SIGTSTP, SIGCONT]

    private static let maxWaitingCount = 64
    private static let shared = Lock<SignalLifecycle?>(nil)
    private let state = Lock(State())

    /// Installs the handlers; a second call returns the same object and adds signals.
    ///
    /// - Parameter signals: numbers of ``allSignals``.
    /// - Throws: ``Failure`` if the system refuses.
    public static func install(_ signals: [Int32] = allSignals) throws(Failure) -> SignalLifecycle {
        try shared.withLock { (shared: inout SignalLifecycle?) throws(Failure) in
            let lifecycle: SignalLifecycle
            if let known = shared { lifecycle = known } else { lifecycle = try SignalLifecycle() }
            shared = lifecycle
            for number in signals where allSignals.contains(number) && signal_shim_watch(number) < 0 {
                throw Failure(description: "signal \(number) cannot be watched: error \(errno)")
            }
            return lifecycle
        }
    }

    private init() throws(Failure) {
        let descriptor = signal_shim_open()
        if descriptor < 0 {
            throw Failure(description: "no pipe for signals: error \(errno); close what is not needed")
        }
        // A dedicated thread: a flush may block it, and it runs while all of the app's threads are blocked.
        let isRunning = SystemThread.start(name: "instr.signals") { [self] in
            Self.unblock(Self.allSignals)
            var number: UInt8 = 0
            while true {
                let count = read(descriptor, &number, 1)
                if count == 1 { take(Int32(number)) } else if count == 0 || errno != EINTR { return }
            }
        }
        if isRunning { return }
        throw Failure(description: "cannot create the thread for signals: the process has reached its thread limit")
    }

    /// Reports to `observer`, beginning with `active` and with the notices before.
    public func report(to observer: (@Sendable (LifecycleNotice) -> Void)?) {
        let waiting = state.withLock { state in
            state.observer = observer
            guard observer != nil else { return [LifecycleNotice]() }
            defer { state.waiting = [] }
            return [LifecycleNotice(.active)] + state.waiting
        }
        for notice in waiting { observer?(notice) }
    }

    private func take(_ number: Int32) {
        let phases = Self.phases[number] ?? []
        for phase in phases {
            var attributes = Attributes()
            attributes[.signal] = Self.names[number]
            send(LifecycleNotice(phase, attributes: attributes))
        }
        // The app's handler has been called, and decides.
        guard signal_shim_had_default(number) != 0 else { return }
        switch phases.last {
        case .terminating: Self.endProcess(by: number)
        case .background: kill(getpid(), SIGSTOP)
        default: break
        }
    }

    private func send(_ notice: LifecycleNotice) {
        let observer = state.withLock { state in
            if state.observer == nil, state.waiting.count < Self.maxWaitingCount { state.waiting.append(notice) }
            return state.observer
        }
        observer?(notice)
    }

    /// Ends the process by the signal, so that the parent process sees the reason.
    private static func endProcess(by number: Int32) {
        signal(number, SIG_DFL)
        unblock([number])
        kill(getpid(), number)
    }

    /// A process may start with blocked signals, as children of Dispatch's threads do; one thread must accept them.
    private static func unblock(_ numbers: [Int32]) {
        var set = sigset_t()
        sigemptyset(&set)
        for number in numbers { sigaddset(&set, number) }
        pthread_sigmask(SIG_UNBLOCK, &set, nil)
    }

    private static let phases: [Int32: [LifecyclePhase]] = [
        SIGTERM: [.terminating], SIGINT: [.terminating], SIGHUP: [.terminating],
        SIGTSTP: [.inactive, .background], SIGCONT: [.foreground, .active],
    ]

    private static let names: [Int32: String] = [
        SIGTERM: "SIGTERM", SIGINT: "SIGINT", SIGHUP: "SIGHUP", SIGTSTP: "SIGTSTP", SIGCONT: "SIGCONT",
    ]
}
#endif
