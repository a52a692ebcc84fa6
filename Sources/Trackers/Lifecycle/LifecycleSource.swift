public import Instrument

/// Tells what happens to the app: signals on Linux, notifications on Apple platforms, a script in tests.
public protocol LifecycleSource: AnyObject, Sendable {
    /// Reports to `observer` from now on, in place of the one before; nil reports to nobody. When it returns, nothing that happens from
    /// then on is missed.
    ///
    /// The observer is called on a thread of the source's own, which may be blocked: where the system waits for
    /// an answer (before it stops or ends the process), the source gives it when the observer returns.
    func report(to observer: (@Sendable (LifecycleNotice) -> Void)?)
}

/// Something that happened to the app.
public struct LifecycleNotice: Sendable {
    /// What happened.
    public var phase: LifecyclePhase
    /// When, if the source knows better than "now".
    public var instant: MonotonicInstant?
    /// What else is known, for example the signal's name.
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
    /// The app is used.
    public static let appActive = Action("AppActive")
    /// The app is not used for the moment.
    public static let appInactive = Action("AppInactive")
    /// The app came back to where people see it.
    public static let appForeground = Action("AppForeground")
    /// The app is about to be stopped or hidden.
    public static let appBackground = Action("AppBackground")
    /// The app is about to end.
    public static let appTerminating = Action("AppTerminating")
    /// Memory is short.
    public static let memoryPressure = Action("MemoryPressure")
    /// The machine slept, and is awake again.
    public static let systemResumed = Action("SystemResumed")
}

extension AttributeKey where Value == String {
    /// The signal that the process received, for example `SIGTERM`.
    public static var signal: Self { "signal" }
}

extension AttributeKey where Value == Duration {
    /// How long the machine slept. Whole milliseconds on the wire.
    public static var sleepTime: Self { "sleepTime" }
}

extension PrivacyCatalogue {
    /// What a lifecycle tracker collects beside the vocabulary.
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
