public import Instrument

/// A source of the app's lifecycle phases: signals on Linux, notifications on Apple platforms, a script in tests.
public protocol LifecycleSource: AnyObject, Sendable {
    /// Reports to `observer` from now on, instead of the previous observer; nil ends the reports. Once this method
    /// returns, no later phase is missed.
    ///
    /// The source calls the observer on a separate thread, which may be blocked: where the system waits (before it
    /// stops or ends the process), the source lets it continue when the observer returns.
    func report(to observer: (@Sendable (LifecycleNotice) -> Void)?)
}

/// A report of a lifecycle phase.
public struct LifecycleNotice: Sendable {
    /// The phase.
    public var phase: LifecyclePhase
    /// The instant, if the source knows it; nil means now.
    public var instant: MonotonicInstant?
    /// Further attributes, for example the signal's name.
    public var attributes: Attributes

    /// Creates a notice.
    public init(
        _ phase: LifecyclePhase,
        at instant: MonotonicInstant? = nil,
        attributes: Attributes = Attributes()
    ) {
        (self.phase, self.instant, self.attributes) = (phase, instant, attributes)
    }
}

extension Action {
    /// The app is active.
    public static let appActive = Action("AppActive")
    /// The app is temporarily inactive.
    public static let appInactive = Action("AppInactive")
    /// The app became visible.
    public static let appForeground = Action("AppForeground")
    /// The app is about to be stopped or hidden.
    public static let appBackground = Action("AppBackground")
    /// The app is about to end.
    public static let appTerminating = Action("AppTerminating")
    /// Memory pressure.
    public static let memoryPressure = Action("MemoryPressure")
    /// The machine resumed from sleep.
    public static let systemResumed = Action("SystemResumed")
}

extension AttributeKey where Value == String {
    /// The signal that the process received, for example `SIGTERM`.
    public static var signal: Self { "signal" }
}

extension AttributeKey where Value == Duration {
    /// The duration of the machine's sleep. Whole milliseconds on the wire.
    public static var sleepTime: Self { "sleepTime" }
}

extension PrivacyCatalogue {
    /// The fields that a lifecycle tracker collects in addition to the vocabulary.
    public static let lifecycle: PrivacyCatalogue = [
        FieldDeclaration(.signal, "The signal that the process received", .otherDiagnosticData),
        FieldDeclaration(.sleepTime, "How long the machine slept", .otherDiagnosticData),
    ]
}

extension LifecyclePhase {
    /// The action that reports the notice.
    public var action: Action {
        switch self {
        case .active: .appActive
        case .inactive: .appInactive
        case .foreground: .appForeground
        case .background: .appBackground
        case .terminating: .appTerminating
        case .memoryPressure: .memoryPressure
        case .resumed: .systemResumed
        }
    }
}
