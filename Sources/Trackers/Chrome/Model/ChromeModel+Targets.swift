internal import Instrument
internal import InstrumentJSON
internal import InstrumentText

/// Targets: pages and frames come, show documents, crash and go.
extension ChromeModel {
    /// Attaches to the targets of the browser, or of a target, that are there and that come. A new one waits until the
    /// observer is in place.
    mutating func attach(in session: String?) {
        let wanted: [JSONValue] = [["type": "page"], ["type": "iframe"], ["exclude": true]]
        var parameters: [String: JSONValue] = ["autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true]
        if session == nil { parameters["filter"] = .array(wanted) }
        send("Target.setAutoAttach", in: session, parameters)
    }

    mutating func attached(_ parameters: JSONValue) {
        guard let session = parameters["sessionId"]?.text(100), targets[session] == nil else { return }
        let type = parameters["targetInfo"]?["type"]?.string
        let isWanted = type == "page" || type == "iframe"
        guard isWanted, targets.count < Self.maxSessions else {
            if isWanted { report(.tooMuch, "more than \(Self.maxSessions) tabs and frames; others are not measured") }
            send("Runtime.runIfWaitingForDebugger", in: session)
            return send("Target.detachFromTarget", in: nil, ["sessionId": .string(session)])
        }
        let identifier = parameters["targetInfo"]?["targetId"]?.text(100) ?? ""
        let tab = tab(ofProfile: parameters["targetInfo"]?["browserContextId"]?.text(100))
        targets[session] = Target(identifier: identifier, tab: tab)
        send("Inspector.enable", in: session)
        send("Runtime.enable", in: session)
        let binding: [String: JSONValue] = [
            "name": .string(names.binding), "executionContextName": .string(names.world),
        ]
        send("Runtime.addBinding", in: session, binding)
        send("Page.enable", in: session)
        send("Media.enable", in: session)
        // The browser keeps no bodies for the tracker.
        send("Network.enable", in: session, ["maxTotalBufferSize": 0, "maxResourceBufferSize": 0])
        attach(in: session)
        let script: [String: JSONValue] = [
            "source": .string(PageScripts.observer(names)), "worldName": .string(names.world), "runImmediately": true,
        ]
        let method = "Page.addScriptToEvaluateOnNewDocument"
        ask(.required(session: session, method: method), method, in: session, script)
        let ads: [String: JSONValue] = ["source": .string(PageScripts.ads(names)), "runImmediately": true]
        ask(.inPlace(session: session, method: method), method, in: session, ads)
        send("Runtime.runIfWaitingForDebugger", in: session)
    }

    /// The scripts of a target are in place: a page that is opened before may run without them, or with them twice.
    mutating func inPlace(_ session: String) {
        targets[session]?.isInPlace = true
        navigate(session)
    }

    mutating func crashed(_ session: String, at now: MonotonicInstant) {
        // A crashed tab can be loaded again, in the same session.
        let (words, tab) = ("the browser's tab crashed", targets[session]?.tab)
        if let tab { lose(tab, words) }
        end(in: session) { tab == nil ? $0.gone(words, at: now) : $0.detached(at: now) }
        targets[session]?.documents = [:]
        targets[session]?.mainContexts = [:]
        if tab == nil { effects.append(.report(ChromeDiagnostic(.tabCrashed, "a tab of the browser crashed"))) }
    }

    /// Forgets a target; its playbacks end as `farewell` says.
    mutating func close(_ session: String, _ farewell: (inout MediaModel) -> [PlayerSignal]) {
        end(in: session, farewell)
        targets[session] = nil
        questions = questions.filter { $0.value.session != session }
    }

    /// Ends the elements of a target, or of one of its documents.
    func elements(in session: String, context: Int? = nil) -> [ElementID] {
        elements.keys.filter { $0.session == session && (context == nil || $0.context == context) }
            .sorted { ($0.context, $0.number) < ($1.context, $1.number) }
    }

    mutating func end(
        in session: String,
        context: Int? = nil,
        _ farewell: (inout MediaModel) -> [PlayerSignal]
    ) {
        for identifier in elements(in: session, context: context) { end(identifier, farewell) }
    }

    /// Forgets an element; its playback ends as `farewell` says.
    mutating func end(_ identifier: ElementID, _ farewell: (inout MediaModel) -> [PlayerSignal]) {
        guard var element = elements.removeValue(forKey: identifier) else { return }
        if let object = element.object { release(object, in: identifier.session) }
        let signals = farewell(&element.model)
        guard element.isOpened else { return }
        if !element.isAd { for signal in signals { effects.append(.signal(identifier, signal)) } }
        effects.append(.closed(identifier))
    }

    // MARK: - Documents

    mutating func created(_ context: JSONValue, in session: String) {
        guard let identifier = context["id"]?.int, let frame = context["auxData"]?["frameId"]?.text(100),
            var target = targets[session]
        else { return }
        if context["name"]?.string == names.world {
            guard target.documents.count < Self.maxContexts else {
                return report(.tooMuch, "more than \(Self.maxContexts) documents in a tab; others are not measured")
            }
            target.documents[identifier] = Document(frame: frame)
        } else if context["auxData"]?["isDefault"]?.truth == true, target.mainContexts.count < Self.maxContexts {
            target.mainContexts[frame] = identifier
        }
        targets[session] = target
    }

    mutating func destroyed(_ context: Int, in session: String, at now: MonotonicInstant) {
        if let frame = targets[session]?.mainContexts.first(where: { $0.value == context })?.key {
            targets[session]?.mainContexts[frame] = nil
        }
        guard targets[session]?.documents.removeValue(forKey: context) != nil else { return }
        end(in: session, context: context) { $0.left(at: now) }
    }

    /// The observer of a document reports.
    mutating func reported(_ parameters: JSONValue, in session: String, at now: MonotonicInstant) {
        guard parameters["name"]?.string == names.binding, let context = parameters["executionContextId"]?.int,
            var document = targets[session]?.documents[context]
        else { return }
        guard let payload = parameters["payload"]?.string, payload.utf8.count <= Self.maxReportLength,
            let value = try? JSONValue(parsing: payload), let observation = MediaObservation(value)
        else { return report(.badMessage, "skipped a report that is not one of the observer") }
        if observation.kind == .hello { (document.isReady, document.clock) = (false, PageClock()) }
        let isReady = document.isReady
        if !isReady, observation.kind != .hello, document.held.count < Self.maxHeld {
            document.held.append((observation, now))
        }
        if document.clock.latestSample.map({ $0.duration(to: now) > Self.clockInterval }) ?? !document.isWaitingForClock
        {
            document.isWaitingForClock = true
            targets[session]?.documents[context] = document
            let count = isReady ? 1 : Self.clockSamples
            for _ in 0..<count { askClock(of: context, in: session, at: now) }
        } else {
            targets[session]?.documents[context] = document
        }
        if isReady { take(observation, received: now, in: session, context: context) }
    }

    private mutating func askClock(of context: Int, in session: String, at now: MonotonicInstant) {
        let parameters: [String: JSONValue] = [
            "expression": "performance.now()", "contextId": .int(context), "returnByValue": true, "silent": true,
        ]
        ask(.clock(session: session, context: context, sent: now), "Runtime.evaluate", in: session, parameters)
    }

    /// The page's clock was read.
    mutating func sampled(
        _ value: Double?,
        of context: Int,
        in session: String,
        from sent: MonotonicInstant,
        to now: MonotonicInstant
    ) {
        guard var document = targets[session]?.documents[context] else { return }
        document.isWaitingForClock = false
        if let value { document.clock.sample(page: value, between: sent, and: now) }
        let (held, wasReady) = (document.held, document.isReady)
        (document.isReady, document.held) = (true, [])
        targets[session]?.documents[context] = document
        if wasReady { return }
        for (observation, received) in held { take(observation, received: received, in: session, context: context) }
    }
}

/// A page to open in a new tab.
struct PageToOpen: Hashable, Sendable {
    /// The address.
    var address: String
    /// The page's text in place of what the server of the address has; nil for what the server has.
    var body: [UInt8]?
    /// The tab with a separate profile; nil for a tab of the browser's usual one.
    var tab: ChromeTab?
}

/// Tabs that this process opens.
struct Openings: Sendable {
    /// The pages whose tabs are being created, by the number of their opening.
    var wanted: [Int: PageToOpen] = [:]
    var lastNumber = 0
    /// The tabs with separate profiles that are not closed.
    var tabs: [ChromeTab: ChromeModel.Tab] = [:]
    /// The pages of tabs that are there, by target, and are not navigated yet.
    var created: [String: PageToOpen] = [:]
    /// The own pages, by session.
    var served: [String: PageToOpen] = [:]
}

extension ChromeModel {
    mutating func createTab(_ number: Int, profile: String? = nil) {
        var parameters: [String: JSONValue] = ["url": "about:blank"]
        parameters["browserContextId"] = profile.map { .string($0) }
        ask(.opened(number), "Target.createTarget", in: nil, parameters)
    }

    mutating func tabOpened(_ target: String?, for number: Int, _ failure: String?) {
        guard let page = openings.wanted.removeValue(forKey: number) else { return }
        guard let target else {
            if let tab = page.tab { return lose(tab, failure ?? "the browser opens no tab") }
            return failed(page, failure ?? "no tab")
        }
        openings.created[target] = page
        let session = targets.first { $0.value.identifier == target && $0.value.isInPlace }?.key
        if let session { navigate(session) }
    }

    /// Shows the page of a tab once the scripts are in place there.
    mutating func navigate(_ session: String) {
        guard let target = targets[session]?.identifier, let page = openings.created.removeValue(forKey: target) else {
            return
        }
        if page.body != nil {
            openings.served[session] = page
            send("Fetch.enable", in: session, ["patterns": [["urlPattern": "*", "resourceType": "Document"]]])
        }
        if let tab = page.tab { effects.append(.tab(tab, .opened)) }
        targets[session]?.page = page
        let address: [String: JSONValue] = ["url": .string(page.address)]
        ask(.navigated(session: session, page: page), "Page.navigate", in: session, address)
    }

    /// The browser has opened a page, or could not.
    mutating func navigated(_ session: String, to page: PageToOpen, _ failure: String?) {
        guard let failure, targets[session]?.isPageFailed != true else { return }
        targets[session]?.isPageFailed = true
        failed(page, failure)
    }

    /// Takes the answer of a page's server, the first one that is for a document.
    mutating func answeredDocument(_ parameters: JSONValue, in session: String) {
        guard let page = targets[session]?.page, parameters["type"]?.string == "Document" else { return }
        targets[session]?.page = nil
        guard let status = parameters["response"]?["status"]?.int, status >= 400 else { return }
        navigated(session, to: page, "the server answers HTTP \(status)")
    }

    private mutating func failed(_ page: PageToOpen, _ failure: String) {
        let words = "the browser cannot open \(SourceText.redacted(page.address)): \(failure); check the address"
        guard let tab = page.tab else { return effects.append(.report(ChromeDiagnostic(.pageFailed, words))) }
        if openings.tabs[tab]?.isClosing == false { effects.append(.tab(tab, .failed(words))) }
    }

    /// Answers for the own page; every other request goes to its server.
    mutating func requestPaused(_ parameters: JSONValue, in session: String) {
        guard let request = parameters["requestId"]?.text(200) else { return }
        guard let page = openings.served[session], let body = page.body,
            parameters["request"]?["url"]?.string == page.address
        else { return send("Fetch.continueRequest", in: session, ["requestId": .string(request)]) }
        openings.served[session] = nil
        let answer: [String: JSONValue] = [
            "requestId": .string(request), "responseCode": 200,
            "responseHeaders": [
                ["name": "Content-Type", "value": "text/html; charset=utf-8"],
                ["name": "Cache-Control", "value": "no-store"],
            ],
            "body": .string(Base64.encode(body)),
        ]
        send("Fetch.fulfillRequest", in: session, answer)
        send("Fetch.disable", in: session)
    }
}
