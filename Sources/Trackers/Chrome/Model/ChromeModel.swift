internal import Instrument
internal import InstrumentJSON

/// Translates the messages of a Chromium into the signals of its media elements: a value without connection and clock.
///
/// Everything that a page can cause is bounded: sessions, documents, elements, questions, texts. What is beyond a
/// bound is not followed, and reported once.
struct ChromeModel: Sendable {
    /// An effect that the session applies, in order.
    enum Effect: Sendable {
        case send(DevToolsCommand, number: Int)
        /// An element has its first signal.
        case opened(ElementID)
        case signal(ElementID, PlayerSignal)
        /// The element is no more there.
        case closed(ElementID)
        case report(ChromeDiagnostic)
        case tab(ChromeTab, ChromeTab.Event)
        /// A request of a tab for media has ended.
        case requested(ChromeTab, ChromeTab.Request)
        /// Calls ``wake(_:at:)`` after a while.
        case wake(Wake, after: Duration)
    }

    /// What happens after a while.
    enum Wake: Hashable, Sendable {
        /// Looks for elements that the observer has not seen.
        case search(session: String)
        /// Asks the page's player.
        case ask(ElementID)
    }

    /// A media element: its session, its document's context, and its number there.
    struct ElementID: Hashable, Sendable {
        var session: String
        var context: Int
        var number: Int
    }

    static let maxSessions = 256
    static let maxContexts = 256
    static let maxElements = 256
    static let maxQuestions = 2_048
    static let maxHeld = 256
    static let maxReportLength = 16_384
    /// The interval at which a page's player is asked: the error of bit rate and latency.
    static let playerInterval = Duration.seconds(5)
    /// How long the observer may take to report an element for which the browser has made a player.
    static let searchDelay = Duration.milliseconds(500)
    static let maxSearches = 20
    /// Nodes of one search that are looked at.
    static let maxFound = 64
    static let clockSamples = 3
    static let clockInterval = Duration.seconds(20)

    let names: Names
    let reportsRequests: Bool
    /// Whether nobody else answers the dialogs of pages.
    let answersDialogs: Bool
    var targets: [String: Target] = [:]
    var elements: [ElementID: Element] = [:]
    var questions: [Int: Question] = [:]
    var openings = Openings()
    var effects: [Effect] = []
    private var lastNumber = 0
    private var reported: Set<ChromeDiagnostic.Kind> = []

    init(names: Names, reportsRequests: Bool = false, answersDialogs: Bool = false) {
        (self.names, self.reportsRequests, self.answersDialogs) = (names, reportsRequests, answersDialogs)
    }

    // MARK: - Inputs

    /// A connection stands.
    mutating func connected() -> [Effect] {
        attach(in: nil)
        return takeEffects()
    }

    /// Opens a page in a new tab, after ``connected()``.
    mutating func open(_ page: PageToOpen) -> [Effect] {
        openings.lastNumber += 1
        let number = openings.lastNumber
        openings.wanted[number] = page
        if let tab = page.tab { openProfile(for: number, tab) } else { createTab(number) }
        return takeEffects()
    }

    /// Takes a message that was received at `now`.
    mutating func handle(_ message: DevToolsMessage, at now: MonotonicInstant) -> [Effect] {
        switch message {
        case .answer(let number, let result, let failure):
            if let question = questions.removeValue(forKey: number) { answered(question, result, failure, at: now) }
        case .event(let event): handle(event, at: now)
        }
        return takeEffects()
    }

    /// Time has come for something.
    mutating func wake(_ wake: Wake, at now: MonotonicInstant) -> [Effect] {
        switch wake {
        case .search(let session): search(in: session)
        case .ask(let element): askPlayer(of: element)
        }
        return takeEffects()
    }

    /// The connection ended.
    mutating func disconnected(_ words: String, at now: MonotonicInstant) -> [Effect] {
        let lost = Set(targets.filter { $0.value.tab != nil }.keys)
        loseTabs(words)
        for session in targets.keys.sorted() {
            close(session) { lost.contains(session) ? $0.detached(at: now) : $0.gone(words, at: now) }
        }
        return takeEffects()
    }

    /// The tracker watches no more.
    mutating func detached(at now: MonotonicInstant) -> [Effect] {
        for session in targets.keys.sorted() { close(session) { $0.detached(at: now) } }
        return takeEffects()
    }

    /// The playbacks end with the browser, which this process ends.
    mutating func stopped(at now: MonotonicInstant) -> [Effect] {
        for session in targets.keys.sorted() { close(session) { $0.left(at: now) } }
        for tab in openings.tabs.keys.sorted(by: { $0.number < $1.number }) { effects.append(.tab(tab, .closed)) }
        openings = Openings()
        return takeEffects()
    }

    private mutating func handle(_ event: DevToolsEvent, at now: MonotonicInstant) {
        let parameters = event.parameters
        switch event.method {
        case "Target.attachedToTarget": attached(parameters)
        case "Target.detachedFromTarget":
            if let session = parameters["sessionId"]?.text(100) { close(session) { $0.left(at: now) } }
        case "Target.targetCrashed":
            let target = parameters["targetId"]?.text(100)
            for (session, entry) in targets where entry.identifier == target { crashed(session, at: now) }
        case "Fetch.requestPaused": if let session = event.session { requestPaused(parameters, in: session) }
        default:
            guard let session = event.session, targets[session] != nil else { return }
            handle(event, in: session, at: now)
        }
    }

    private mutating func handle(_ event: DevToolsEvent, in session: String, at now: MonotonicInstant) {
        let parameters = event.parameters
        switch event.method {
        case "Inspector.targetCrashed": crashed(session, at: now)
        case "Runtime.executionContextCreated": if let context = parameters["context"] { created(context, in: session) }
        case "Runtime.executionContextDestroyed":
            if let context = parameters["executionContextId"]?.int { destroyed(context, in: session, at: now) }
        case "Runtime.executionContextsCleared":
            for context in targets[session]?.documents.keys.sorted() ?? [] { destroyed(context, in: session, at: now) }
            targets[session]?.mainContexts = [:]
        case "Runtime.bindingCalled": reported(parameters, in: session, at: now)
        case "Page.javascriptDialogOpening": if answersDialogs { answerDialog(parameters, in: session) }
        case "Media.playerCreated":
            targets[session]?.playerCount += 1
            effects.append(.wake(.search(session: session), after: Self.searchDelay))
        case "Media.playerErrorsRaised":
            targets[session]?.mediaErrors = MediaErrors(parameters["errors"]?.elements ?? [])
        case "Network.responseReceived":
            answeredDocument(parameters, in: session)
            requested(event, in: session, at: now)
        default: requested(event, in: session, at: now)
        }
    }

    /// A dialog stops its page until somebody answers. Without a person, a page is left, and nothing else is agreed to.
    private mutating func answerDialog(_ parameters: JSONValue, in session: String) {
        let isAgreed = parameters["type"]?.string == "beforeunload"
        send("Page.handleJavaScriptDialog", in: session, ["accept": .bool(isAgreed)])
    }

    // MARK: - Commands

    /// Sends a command whose answer does not matter.
    mutating func send(_ method: String, in session: String?, _ parameters: [String: JSONValue] = [:]) {
        lastNumber &+= 1
        let command = DevToolsCommand(method: method, session: session, parameters: parameters)
        effects.append(.send(command, number: lastNumber))
    }

    /// Sends a command and remembers what its answer is for.
    mutating func ask(
        _ question: Question,
        _ method: String,
        in session: String?,
        _ parameters: [String: JSONValue] = [:]
    ) {
        // A page that hangs answers nothing.
        guard questions.count < Self.maxQuestions else { return report(.tooMuch, "questions without an answer") }
        send(method, in: session, parameters)
        questions[lastNumber] = question
    }

    /// Reports a notice, once for each kind.
    mutating func report(_ kind: ChromeDiagnostic.Kind, _ words: String) {
        guard reported.insert(kind).inserted else { return }
        effects.append(.report(ChromeDiagnostic(kind, "\(kind): \(words)")))
    }

    mutating func takeEffects() -> [Effect] {
        defer { effects = [] }
        return effects
    }
}

extension ChromeModel {
    /// The names that the isolated worlds of one connection have, which nobody else knows.
    struct Names: Hashable, Sendable {
        var world: String
        var binding: String
        var interface: String
        /// The type of the events that are news of ads.
        var signal: String

        init(_ random: RandomSource) {
            let text = random.identifier().lowercased().filter { $0 != "-" }
            (world, binding) = ("instrument-\(text)", "report_\(text)")
            (interface, signal) = ("page_\(text)", "ads_\(random.identifier().lowercased())")
        }
    }

    /// What an answer is for.
    enum Question: Hashable, Sendable {
        /// The profile of a tab was made, a tab was created, or a tab was closed with its profile.
        case profileMade(Int), opened(Int), disposed(ChromeTab)
        /// A tab goes to the page.
        case navigated(session: String, page: PageToOpen)
        /// The clock of a document.
        case clock(session: String, context: Int, sent: MonotonicInstant)
        /// The steps from an element in the isolated world to the same element in the page's own world.
        case elementFound(ElementID), elementDescribed(ElementID, object: String), elementResolved(ElementID)
        /// What the page's player says.
        case player(ElementID)
        /// The steps from all elements of a page to those that the observer does not know.
        case prototype(session: String, frame: String), objects(session: String, frame: String, prototype: String),
            members(session: String, frame: String, objects: String),
            memberDescribed(session: String, frame: String, object: String), memberResolved(session: String)
        /// The steps from the nodes of the document that look like elements.
        case found(session: String), nodes(session: String), nodeDescribed(session: String)
        /// A command that must not fail, and the last one of those that prepare a target.
        case required(session: String, method: String), inPlace(session: String, method: String)
    }

    /// A page, or a frame in a separate process.
    struct Target: Sendable {
        var identifier: String
        /// The tab with a separate profile that the target belongs to.
        var tab: ChromeTab?
        /// Whether the scripts are there for the documents that come.
        var isInPlace = false
        /// The page that was opened in it, until its server answers; and whether that failed.
        var page: PageToOpen?
        var isPageFailed = false
        /// The documents that the observer runs in, by the identifier of its context.
        var documents: [Int: Document] = [:]
        /// The contexts of the page's own worlds, by frame.
        var mainContexts: [String: Int] = [:]
        /// The players that the browser has made, and the elements that the observer has reported as loading.
        var playerCount = 0
        var elementCount = 0
        var searchCount = 0
        /// ``playerCount`` at the latest search.
        var searchedCount = 0
        var mediaErrors = MediaErrors([])
        var requests = PageRequests()
        var requestClock = EventClock()
        var manifest: String?
    }

    /// A document in which the observer runs.
    struct Document: Sendable {
        var frame: String
        var clock = PageClock()
        /// The reports that wait for the first sample of the clock.
        var held: [(MediaObservation, MonotonicInstant)] = []
        var isReady = false
        var isWaitingForClock = false
    }

    /// A media element.
    struct Element: Sendable {
        var model = MediaModel()
        var isOpened = false
        /// Whether it plays an ad of another element.
        var isAd = false
        /// The element in the page's own world, which the browser keeps for the tracker while the element plays.
        var object: String?
        var isAsking = false
        /// When the page answered last.
        var answered: MonotonicInstant?
    }
}

/// The latest errors that the browser's media pipeline has raised in a page.
struct MediaErrors: Hashable, Sendable {
    private(set) var text: String?

    init(_ errors: [JSONValue]) {
        text =
            errors.prefix(4).compactMap { error -> String? in
                guard let type = error["errorType"]?.text(80), let code = error["code"]?.int else { return nil }
                return "\(type) \(code)"
            }.first
    }
}

/// Maps the timestamps of the browser's events to instants: an event is heard of after it happened, at the earliest
/// at once.
struct EventClock: Hashable, Sendable {
    private var offset: Double?

    /// The instant of a timestamp in seconds, received at `now`.
    mutating func instant(seconds: Double, received now: MonotonicInstant) -> MonotonicInstant {
        let page = seconds * 1e9
        let offset = min(self.offset ?? .infinity, Double(now.nanoseconds) - page)
        self.offset = offset
        guard let nanoseconds = Int64(exactly: (page + offset).rounded()) else { return now }
        return min(now, MonotonicInstant(nanoseconds: nanoseconds))
    }
}
