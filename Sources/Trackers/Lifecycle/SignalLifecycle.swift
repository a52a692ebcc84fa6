#if os(Linux)
internal import CSignalShim
internal import Foundation
internal import Glibc
internal import Instrument

/// The app's life as POSIX signals tell it: `SIGTERM`, `SIGINT` and `SIGHUP` end it, `SIGTSTP` stops it, `SIGCONT` continues it.
///
/// Installing is up to the app, once, before it says that it is ready: when ``install(_:)`` returns, no signal is missed. A handler that
/// was installed before continues to work: it is called first of all, in the signal's own context, and the app then
/// decides itself whether it ends. Without an earlier handler, the process is ended or stopped as the signal wants once the observer
/// has returned: its exit status is the signal's. The same signal for a second time ends it at once.
///
/// Limits: a handler that the app installs later with `signal` or `sigaction` takes the signal from us. A handler that calls `_exit`
/// leaves no time for a flush. An app that takes signals by `sigwait` or `signalfd` must not install this. A signal that is ignored when we come (as under `nohup`) stays ignored. Under a
/// supervisor of the process's own, such as swift-service-lifecycle, do not install this; `InstrumentService` of the library
/// InstrumentServiceLifecycle stands in for it.
public final class SignalLifecycle: LifecycleSource {
    private struct State {
        var observer: (@Sendable (LifecycleNotice) -> Void)?
        /// What came before anybody listened.
        var waiting: [LifecycleNotice] = []
    }

    /// Why signals cannot be watched.
    public struct Failure: Error, Hashable, Sendable, CustomStringConvertible {
        /// What failed, and what to do.
        public let description: String
    }

    /// The signals that are watched unless said otherwise.
    public static let allSignals: [Int32] = [SIGTERM, SIGINT, SIGHUP, SIGTSTP, SIGCONT]

    private static let maxWaitingCount = 64
    private static let shared = Lock<SignalLifecycle?>(nil)
    private let state = Lock(State())

    /// Begins to watch; a second call returns the same object and adds signals.
    ///
    /// - Parameter signals: numbers out of ``allSignals``.
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
        // A dedicated thread: a flush may block it, and it runs although all of the app's threads are blocked.
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

    /// Reports to `observer`, beginning with `active` and with what came before.
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
        // The app's own handler has been called, and decides.
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

    /// Ends the process as the signal would have, so that whoever waits for it sees why.
    private static func endProcess(by number: Int32) {
        signal(number, SIG_DFL)
        unblock([number])
        kill(getpid(), number)
    }

    /// A process may have been started with signals blocked, as children of threads of Dispatch's are: one thread has to take them.
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
