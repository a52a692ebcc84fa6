import Instrument
import InstrumentJSON
import InstrumentTestKit
import Testing

@testable import InstrumentChrome

@Suite("The model of a browser")
struct ChromeModelTests {
    /// A model that hears messages, and what comes of them.
    struct Stage {
        var model: ChromeModel
        var effects: [ChromeModel.Effect] = []
        var now = MonotonicInstant(nanoseconds: 1_000_000_000)

        init(reportsRequests: Bool = false) {
            let names = ChromeModel.Names(RandomSource(SplitMix64(seed: 1)))
            model = ChromeModel(names: names, reportsRequests: reportsRequests)
            effects += model.connected()
        }

        mutating func event(_ method: String, session: String? = nil, _ parameters: JSONValue) {
            let event = DevToolsEvent(method: method, session: session, parameters: parameters)
            effects += model.handle(.event(event), at: now)
        }

        /// Answers every open question about a clock: the page's time is ours, in milliseconds.
        mutating func answerClocks() {
            for (number, question) in model.questions.sorted(by: { $0.key < $1.key }) {
                guard case .clock = question else { continue }
                let value: JSONValue = ["result": ["value": .double(Double(now.nanoseconds) / 1e6)]]
                effects += model.handle(.answer(number, value, failure: nil), at: now)
            }
        }

        mutating func attach(_ session: String = "s", type: String = "page") {
            event(
                "Target.attachedToTarget",
                [
                    "sessionId": .string(session),
                    "targetInfo": ["type": .string(type), "targetId": .string("t" + session)],
                ]
            )
        }

        /// Answers the latest command of a method.
        mutating func answer(_ method: String, _ result: JSONValue?, failure: String? = nil) {
            let numbers = effects.compactMap { effect -> Int? in
                if case .send(let command, let number) = effect, command.method == method { number } else { nil }
            }
            guard let number = numbers.last else { return }
            effects += model.handle(.answer(number, result, failure: failure), at: now)
        }

        /// Opens a tab with a separate profile, in which an element plays.
        mutating func openTab(_ tab: ChromeTab, session: String = "s") {
            effects += model.open(PageToOpen(address: "http://h/", tab: tab))
            answer("Target.createBrowserContext", ["browserContextId": .string("profile of " + session)])
            event(
                "Target.attachedToTarget",
                [
                    "sessionId": .string(session),
                    "targetInfo": [
                        "type": "page", "targetId": .string("t" + session),
                        "browserContextId": .string("profile of " + session),
                    ],
                ]
            )
            answer("Target.createTarget", ["targetId": .string("t" + session)])
            answer("Page.addScriptToEvaluateOnNewDocument", ["identifier": "2"])
            context(1, session: session, isMain: true)
            context(2, session: session)
            report(["k": "hello", "t": 1000], session: session)
            answerClocks()
            play(session: session)
        }

        var tabEvents: [ChromeTab.Event] {
            effects.compactMap { if case .tab(_, let event) = $0 { event } else { nil } }
        }

        mutating func context(_ number: Int, session: String = "s", isMain: Bool = false) {
            let name = isMain ? "" : model.names.world
            let context: JSONValue = [
                "id": .int(number), "name": .string(name), "auxData": ["frameId": "f", "isDefault": .bool(isMain)],
            ]
            event("Runtime.executionContextCreated", session: session, ["context": context])
        }

        mutating func report(_ payload: JSONValue, context: Int = 2, session: String = "s", binding: String? = nil) {
            event(
                "Runtime.bindingCalled",
                session: session,
                [
                    "name": .string(binding ?? model.names.binding), "executionContextId": .int(context),
                    "payload": .string(payload.description),
                ]
            )
        }

        mutating func play(_ element: Int = 1, context: Int = 2, session: String = "s") {
            let time = JSONValue.double(Double(now.nanoseconds) / 1e6)
            report(
                ["k": "loadstart", "i": .int(element), "t": time, "f": false, "c": "blob:x"],
                context: context,
                session: session
            )
            report(
                ["k": "moves", "i": .int(element), "t": time, "f": false, "p": 0],
                context: context,
                session: session
            )
        }

        /// A tab with a document whose clock is known.
        mutating func open() {
            attach()
            context(1, isMain: true)
            context(2)
            report(["k": "hello", "t": 1000])
            answerClocks()
        }

        var signals: [PlayerSignal] {
            effects.compactMap { if case .signal(_, let signal) = $0 { signal } else { nil } }
        }
        var actions: [Action] { signals.map(\.action) }
        var commands: [DevToolsCommand] {
            effects.compactMap { if case .send(let command, _) = $0 { command } else { nil } }
        }
        var closedCount: Int { effects.count { if case .closed = $0 { true } else { false } } }
        var openedCount: Int { effects.count { if case .opened = $0 { true } else { false } } }
        var diagnostics: [ChromeDiagnostic.Kind] {
            effects.compactMap { if case .report(let diagnostic) = $0 { diagnostic.kind } else { nil } }
        }
    }

    @Test("An element that is gone is forgotten, and ends its playback")
    func goneElement() {
        var stage = Stage()
        stage.openTab(ChromeTab(1))
        #expect(stage.model.elements.count == 1)
        stage.report(["k": "gone", "i": 1, "t": 3000], session: "s")
        #expect(stage.model.elements.isEmpty)
        stage.report(["k": "gone", "i": 1, "t": 3000], session: "s")
        stage.report(["k": "crowd", "t": 3000], session: "s")
        stage.report(["k": "crowd", "t": 3001], session: "s")
        let ends = stage.effects.compactMap { effect -> String? in
            switch effect {
            case .signal(_, let signal) where signal.action == .stop: "stop"
            case .closed: "closed"
            case .report(let notice): notice.kind.description
            default: nil
            }
        }
        #expect(ends == ["stop", "closed", "tooMuch"])
    }

    @Test("A dialog is answered where no person is, and only there", arguments: [true, false])
    func dialog(isOurs: Bool) {
        var stage = Stage()
        let names = ChromeModel.Names(RandomSource(SplitMix64(seed: 1)))
        stage.model = ChromeModel(names: names, answersDialogs: isOurs)
        stage.attach()
        for type in ["alert", "confirm", "prompt", "beforeunload"] {
            stage.event("Page.javascriptDialogOpening", session: "s", ["type": .string(type), "message": "?"])
        }
        let answers = stage.effects.compactMap { effect -> JSONValue? in
            guard case .send(let command, _) = effect, command.method == "Page.handleJavaScriptDialog" else {
                return nil
            }
            return command.parameters["accept"]
        }
        #expect(answers == (isOurs ? [false, false, false, true] : []))
    }

    @Test("A page continues once the observer is in place, and other targets are let go")
    func attaching() throws {
        var stage = Stage()
        stage.attach()
        let methods = stage.commands.filter { $0.session == "s" }.map(\.method)
        let script = try #require(methods.firstIndex(of: "Page.addScriptToEvaluateOnNewDocument"))
        #expect(methods.firstIndex(of: "Runtime.runIfWaitingForDebugger").map { $0 > script } == true)
        #expect(methods.firstIndex(of: "Runtime.addBinding").map { $0 < script } == true)
        stage.attach("w", type: "service_worker")
        #expect(
            stage.commands.suffix(2).map(\.method) == ["Runtime.runIfWaitingForDebugger", "Target.detachFromTarget"]
        )
    }

    @Test("Reports wait for the page's clock, and have its instants")
    func clock() {
        var stage = Stage()
        stage.attach()
        stage.context(2)
        stage.report(["k": "hello", "t": 1000])
        stage.play()
        #expect(stage.signals.isEmpty)
        stage.answerClocks()
        #expect(stage.actions == [.streamLoad, .start] && stage.openedCount == 1)
        #expect(stage.signals.first?.instant == MonotonicInstant(nanoseconds: 1_000_000_000))
    }

    @Test("Nothing but the observer of the connection is heard")
    func forgeries() {
        var stage = Stage()
        stage.open()
        let payload: JSONValue = ["k": "loadstart", "i": 1, "t": 1000, "f": false]
        stage.report(payload, binding: "other")
        // The page's own world.
        stage.report(payload, context: 1)
        stage.report(payload, context: 99)
        stage.report(payload, session: "none")
        #expect(stage.signals.isEmpty)
        stage.report("no object")
        #expect(stage.diagnostics == [.badMessage])
    }

    @Test("Playbacks end when their document is left, their frame goes, their tab closes, or it crashes")
    func endings() {
        func ended(_ end: (inout Stage) -> Void) -> [Action] {
            var stage = Stage()
            stage.open()
            stage.play()
            end(&stage)
            #expect(stage.closedCount == 1 && stage.model.elements.isEmpty)
            return Array(stage.actions.dropFirst(2))
        }
        #expect(ended { $0.report(["k": "left", "t": 1000]) } == [.stop])
        #expect(
            ended { $0.event("Runtime.executionContextDestroyed", session: "s", ["executionContextId": 2]) } == [.stop]
        )
        #expect(ended { $0.event("Runtime.executionContextsCleared", session: "s", [:]) } == [.stop])
        #expect(ended { $0.event("Target.detachedFromTarget", ["sessionId": "s"]) } == [.stop])
        #expect(ended { $0.event("Inspector.targetCrashed", session: "s", [:]) } == [.error])
        #expect(ended { $0.event("Target.targetCrashed", ["targetId": "ts"]) } == [.error])
        #expect(ended { $0.effects += $0.model.disconnected("gone", at: $0.now) } == [.error])
        #expect(ended { $0.effects += $0.model.detached(at: $0.now) } == [Action("Detach")])
        #expect(ended { $0.effects += $0.model.stopped(at: $0.now) } == [.stop])
    }

    @Test("A page with any number of elements, documents and targets is bounded")
    func bounds() {
        var stage = Stage()
        stage.open()
        for number in 1...2_000 { stage.play(number) }
        #expect(stage.openedCount == ChromeModel.maxElements && stage.diagnostics == [.tooMuch])
        for number in 3...2_000 { stage.context(number) }
        #expect(stage.model.targets["s"]?.documents.count == ChromeModel.maxContexts)
        for number in 0..<2_000 { stage.attach("s\(number)") }
        #expect(stage.model.targets.count == ChromeModel.maxSessions)
        for _ in 0..<5_000 { stage.event("Media.playerCreated", session: "s", [:]) }
        for _ in 0..<5_000 { stage.effects += stage.model.wake(.search(session: "s"), at: stage.now) }
        #expect(stage.model.questions.count <= ChromeModel.maxQuestions)
        for number in 0..<2_000 {
            let request: JSONValue = ["requestId": .string("\(number)"), "timestamp": 1, "request": ["url": "a.ts"]]
            stage.event("Network.requestWillBeSent", session: "s", request)
        }
        stage.event("Target.detachedFromTarget", ["sessionId": "s"])
        #expect(stage.model.elements.isEmpty)
    }

    @Test("A request for media is counted, and reported where that is wanted")
    func requests() throws {
        var stage = Stage(reportsRequests: true)
        stage.open()
        func request(_ identifier: String, _ url: String, at begin: Double, status: Int = 200, type: String = "") {
            stage.event(
                "Network.requestWillBeSent",
                session: "s",
                ["requestId": .string(identifier), "timestamp": .double(begin), "request": ["url": .string(url)]]
            )
            stage.event(
                "Network.responseReceived",
                session: "s",
                [
                    "requestId": .string(identifier), "timestamp": .double(begin + 0.1),
                    "response": ["status": .int(status), "mimeType": .string(type)],
                ]
            )
            stage.event(
                "Network.loadingFinished",
                session: "s",
                ["requestId": .string(identifier), "timestamp": .double(begin + 0.5), "encodedDataLength": 1000]
            )
        }
        stage.play()
        request("1", "https://a.example/master.m3u8?t=secret", at: 1)
        request("2", "https://a.example/1.ts", at: 2)
        request("3", "https://a.example/logo.png", at: 3, type: "image/png")
        request("4", "https://a.example/2", at: 4, status: 503, type: "video/mp4")
        let requests = stage.signals.filter { $0.action == .requestFinish }
        #expect(requests.map { $0.attributes[.requestKind] } == ["manifest", "segment", "segment"])
        #expect(requests.map { $0.attributes[.requestFailed] } == [nil, nil, true])
        let first = try #require(requests.first)
        #expect(first.attributes[.requestTime] == .milliseconds(500) && first.attributes[.requestBytes] == 1000)
        #expect(first.attributes[.timeToFirstByte].map { abs($0.seconds - 0.1) < 1e-6 } == true)
        #expect(requests.last?.attributes[.countFailedRequests] == 1)
        #expect(requests.last?.status?.source == "https://a.example/master.m3u8")
    }

    @Test("A tab has a separate profile, which is removed with everything in it when the tab is closed")
    func tabs() throws {
        var stage = Stage()
        let tab = ChromeTab(1)
        stage.openTab(tab)
        let created = try #require(stage.commands.first { $0.method == "Target.createTarget" })
        #expect(created.parameters["browserContextId"] == "profile of s")
        #expect(stage.actions == [.streamLoad, .start] && stage.tabEvents == [.opened])
        stage.effects += stage.model.close(tab)
        stage.effects += stage.model.close(tab)
        #expect(stage.commands.count { $0.method == "Target.disposeBrowserContext" } == 1)
        stage.answer("Target.disposeBrowserContext", [:])
        #expect(stage.actions.last == .stop && stage.tabEvents == [.opened, .closed])
        #expect(stage.model.targets.isEmpty && stage.model.openings.tabs.isEmpty)
    }

    @Test("A tab that crashes, and a browser that goes, lose the tab and fail no playback of it")
    func lostTabs() {
        func events(_ end: (inout Stage) -> Void) -> Outcome {
            var stage = Stage()
            stage.openTab(ChromeTab(1))
            end(&stage)
            // The loss comes before the last signals, which say nothing of the page.
            let lost = stage.effects.firstIndex { if case .tab(_, .lost) = $0 { true } else { false } }
            let closed = stage.effects.firstIndex { if case .closed = $0 { true } else { false } }
            if let lost, let closed { #expect(lost < closed) }
            return Outcome(events: Array(stage.tabEvents.dropFirst()), actions: Array(stage.actions.dropFirst(2)))
        }
        let detach = Action("Detach")
        #expect(
            events { $0.event("Inspector.targetCrashed", session: "s", [:]) }
                == Outcome(events: [.lost("the browser's tab crashed")], actions: [detach])
        )
        let gone = events { $0.effects += $0.model.disconnected("gone", at: $0.now) }
        #expect(gone == Outcome(events: [.lost("gone")], actions: [detach]))
        // A tab that is being closed is no loss.
        let closing = events {
            $0.effects += $0.model.close(ChromeTab(1))
            $0.effects += $0.model.disconnected("gone", at: $0.now)
        }
        #expect(closing == Outcome(events: [.closed], actions: [detach]))
    }

    /// How a tab and the playback in it end.
    private struct Outcome: Hashable {
        var events: [ChromeTab.Event]
        var actions: [Action]
    }

    @Test("A page that cannot be opened is the page's failure, and a tab that cannot be made is the browser's")
    func failedTabs() {
        var stage = Stage()
        stage.effects += stage.model.open(PageToOpen(address: "http://h/?token=secret", tab: ChromeTab(1)))
        stage.answer("Target.createBrowserContext", ["browserContextId": "c"])
        stage.answer("Target.createTarget", ["targetId": "ts"])
        stage.attach()
        // A page that comes before the scripts may run without them.
        #expect(!stage.commands.contains { $0.method == "Page.navigate" })
        stage.answer("Page.addScriptToEvaluateOnNewDocument", ["identifier": "2"])
        stage.answer("Page.navigate", ["errorText": "net::ERR_NAME_NOT_RESOLVED"])
        guard case .failed(let words)? = stage.tabEvents.last else { return #expect(Bool(false)) }
        #expect(words.contains("ERR_NAME_NOT_RESOLVED") && !words.contains("secret"))
        for method in ["Target.createBrowserContext", "Target.createTarget"] {
            var stage = Stage()
            stage.effects += stage.model.open(PageToOpen(address: "http://h/", tab: ChromeTab(1)))
            if method != "Target.createBrowserContext" {
                stage.answer("Target.createBrowserContext", ["browserContextId": "c"])
            }
            stage.answer(method, nil, failure: "no room")
            #expect(stage.tabEvents == [.lost("no room")])
        }
    }

    @Test("A page fails by its server's answer, once, and not by the answers for other documents")
    func failedAnswers() {
        func failures(_ statuses: [Int], refused: Bool = false) -> [ChromeDiagnostic] {
            var stage = Stage()
            stage.effects += stage.model.open(PageToOpen(address: "http://h/?token=secret", tab: nil))
            stage.answer("Target.createTarget", ["targetId": "ts"])
            stage.attach()
            stage.answer("Page.addScriptToEvaluateOnNewDocument", ["identifier": "2"])
            for status in statuses {
                let answer: JSONValue = ["type": "Document", "requestId": "1", "response": ["status": .int(status)]]
                stage.event("Network.responseReceived", session: "s", answer)
            }
            stage.answer("Page.navigate", refused ? ["errorText": "net::ERR_HTTP_RESPONSE_CODE_FAILURE"] : [:])
            return stage.effects.compactMap { if case .report(let notice) = $0 { notice } else { nil } }
        }
        #expect(failures([200, 404]).isEmpty)
        let missing = failures([404], refused: true)
        #expect(missing.map(\.kind) == [.pageFailed])
        #expect(missing.first?.description.contains("HTTP 404") == true)
        #expect(missing.first?.description.contains("secret") == false)
    }

    @Test("A request of a tab has its address without secrets, its status, or Chromium's name of its failure")
    func tabRequests() {
        var stage = Stage()
        stage.openTab(ChromeTab(1))
        func send(_ method: String, _ more: [String: JSONValue]) {
            let known: [String: JSONValue] = ["requestId": "1", "timestamp": 1]
            stage.event("Network." + method, session: "s", .object(known.merging(more) { $1 }))
        }
        let begin: [String: JSONValue] = ["request": ["url": "https://a.example/1.ts?token=secret"]]
        send("requestWillBeSent", begin)
        send("responseReceived", ["response": ["status": 404, "mimeType": "text/html"]])
        send("loadingFinished", ["encodedDataLength": 10])
        send("requestWillBeSent", begin)
        send("loadingFailed", ["errorText": "net::ERR_CONNECTION_RESET"])
        let requests = stage.effects.compactMap { if case .requested(_, let request) = $0 { request } else { nil } }
        #expect(requests.map(\.status) == [404, nil] && requests.allSatisfy(\.isFailed))
        #expect(requests.map(\.failure) == [nil, "net::ERR_CONNECTION_RESET"])
        #expect(requests.allSatisfy { $0.address == "https://a.example/1.ts" && $0.kind == "segment" })
    }

    @Test("Any message is survived", arguments: 0..<60)
    func hostile(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var stage = Stage(reportsRequests: true)
        stage.open()
        stage.play()
        stage.effects += stage.model.open(PageToOpen(address: "http://h/", tab: ChromeTab(1)))
        let methods = DevToolsEvent.taken.sorted()
        for _ in 0..<100 {
            stage.now = stage.now.advanced(by: .milliseconds(Int.random(in: 0...50, using: &generator)))
            let method = methods.randomElement(using: &generator) ?? ""
            switch Int.random(in: 0...5, using: &generator) {
            case 0:
                let number = Int.random(in: -1...200, using: &generator)
                let answer = DevToolsMessage.answer(
                    number,
                    Hostile.value(&generator),
                    failure: Bool.random(using: &generator) ? "x" : nil
                )
                stage.effects += stage.model.handle(answer, at: stage.now)
            case 1:
                guard case .object(var members) = Hostile.report(&generator) else { continue }
                members["t"] = .double(Double(stage.now.nanoseconds) / 1e6)
                stage.report(.object(members))
            case 2: stage.open()
            default:
                stage.event(method, session: Bool.random(using: &generator) ? "s" : nil, Hostile.parameters(&generator))
            }
        }
        var signals: [ChromeModel.ElementID: [PlayerSignal]] = [:]
        for case .signal(let element, let signal) in stage.effects + stage.model.disconnected("gone", at: stage.now) {
            signals[element, default: []].append(signal)
        }
        for (element, signals) in signals { SignalRules.check(signals, "seed \(seed), \(element)") }
    }
}

/// What a lying browser and a hostile page send.
private enum Hostile {
    private static let scalars: [JSONValue] = [
        .null, true, .int(.max), .int(.min), -1, 0, 1, 2, .double(.nan), .double(1e308), .double(-1e308), "",
        .string(String(repeating: "x", count: 10_000)), "\u{0}\u{1F}", "s", "f",
    ]

    static func value(_ generator: inout SeededGenerator, depth: Int = 0) -> JSONValue {
        if depth > 1 || Bool.random(using: &generator) { return scalars.randomElement(using: &generator) ?? .null }
        if Bool.random(using: &generator) { return .array((0..<3).map { _ in value(&generator, depth: depth + 1) }) }
        let names = [
            "result", "value", "objectId", "node", "backendNodeId", "object", "objects", "targetId", "errorText",
        ]
        return .object(Dictionary(names.map { ($0, value(&generator, depth: depth + 1)) }) { $1 })
    }

    static func parameters(_ generator: inout SeededGenerator) -> JSONValue {
        let names = [
            "sessionId", "targetId", "targetInfo", "context", "executionContextId", "name", "payload", "errors",
            "requestId", "timestamp", "request", "response", "encodedDataLength", "browserContextId", "errorText",
        ]
        return .object(Dictionary(names.map { ($0, value(&generator)) }) { $1 })
    }

    static func report(_ generator: inout SeededGenerator) -> JSONValue {
        let kinds = [
            "loadstart", "play", "moves", "stands", "pause", "ended", "error", "left", "joined", "emptied", "seeking",
            "seeked", "state", "overflow", "crowd", "removed", "gone", "nothing",
        ]
        var members = Dictionary(
            ["p", "d", "w", "y", "r", "v", "m", "f", "s", "e", "b", "q", "c", "g", "n", "x", "o"].map {
                ($0, value(&generator, depth: 9))
            }
        ) { $1 }
        members["k"] = .string(kinds.randomElement(using: &generator) ?? "")
        members["i"] = .int(Int.random(in: 0...4, using: &generator))
        return .object(members)
    }
}
