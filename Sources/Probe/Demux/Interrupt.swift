internal import CFFmpeg
internal import CProbeShim

/// Aborts libav's blocking calls from any thread, or lets them run into a deadline.
///
/// `@unchecked Sendable`: the C object is made of atomics only and lives as long as this one.
final class Interrupt: @unchecked Sendable {
    private let interrupt: OpaquePointer?

    init() { interrupt = probe_interrupt_create() }

    deinit { probe_interrupt_free(interrupt) }

    var callback: AVIOInterruptCB { probe_interrupt_callback(interrupt) }
    var isAborted: Bool { probe_interrupt_is_aborted(interrupt) }
    var didTimeOut: Bool { probe_interrupt_timed_out(interrupt) }

    /// Whether a call was ended, whatever it returned.
    var hasEndedCall: Bool { isAborted || didTimeOut }

    func abort() { probe_interrupt_abort(interrupt) }

    /// The calls that follow give up after `timeout`, taken together.
    func allow(_ timeout: Duration) {
        let (seconds, attoseconds) = timeout.components
        probe_interrupt_set_timeout(interrupt, max(1, seconds * 1_000_000_000 + attoseconds / 1_000_000_000))
    }
}
