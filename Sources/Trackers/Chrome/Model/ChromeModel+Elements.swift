internal import Instrument
internal import InstrumentJSON

/// Media elements: their reports, the requests of their pages, and what the players of their pages say.
extension ChromeModel {
    /// Takes a report of a document whose clock is known.
    mutating func take(
        _ observation: MediaObservation,
        received: MonotonicInstant,
        in session: String,
        context: Int
    ) {
        guard let clock = targets[session]?.documents[context]?.clock else { return }
        let instant = clock.instant(page: observation.time, received: received)
        let reported = clock.instant(page: observation.reportTime, received: received)
        switch observation.kind {
        case .hello: return
        case .overflow: return report(.tooMuch, "a page reports too much; some of its events were left out")
        case .crowd: return report(.tooMuch, "a page plays too many media elements; some of them are not measured")
        case .left: return end(in: session, context: context) { $0.left(at: instant) }
        default: break
        }
        var identifier = ElementID(session: session, context: context, number: observation.number)
        if observation.kind == .ad, observation.number == 0 {
            guard let content = latestContent(in: session, context: context) else { return }
            identifier = content
        }
        if observation.kind == .gone { return end(identifier) { $0.left(at: instant) } }
        if elements[identifier] == nil {
            guard elements.count < Self.maxElements else {
                return report(.tooMuch, "more than \(Self.maxElements) media elements; others are not measured")
            }
            elements[identifier] = Element()
            targets[session]?.elementCount += 1
        }
        guard var element = elements[identifier] else { return }
        var observation = observation
        if observation.kind == .error, let cause = targets[session]?.mediaErrors.text {
            observation.errorMessage += observation.errorMessage.isEmpty ? cause : " (\(cause))"
        }
        let signals = element.model.observe(observation, at: instant, reported: reported)
        if let manifest = targets[session]?.manifest { element.model.take(manifest: manifest) }
        if signals.contains(where: { $0.action == .streamLoad }) { element.isAd = isAd(element, identifier) }
        if element.isAd { return takeAd(element, identifier, observation, at: instant) }
        deliver(signals, of: identifier, &element)
        elements[identifier] = element
        letGo(identifier)
        if signals.contains(where: { $0.action == .start }) { askPlayer(of: identifier) }
    }

    // MARK: - Ads

    /// The element of a document that plays its content; of several, the one that was opened last.
    private func latestContent(in session: String, context: Int) -> ElementID? {
        let contents = elements(in: session, context: context).filter { elements[$0]?.isAd == false }
        return contents.last { [.loading, .playing].contains(elements[$0]?.model.phase) } ?? contents.last
    }

    /// The elements of the same document in whose ad breaks another element plays.
    private func contentsWithAds(around identifier: ElementID) -> [ElementID] {
        elements(in: identifier.session, context: identifier.context).filter {
            $0 != identifier && elements[$0]?.model.hasAdElsewhere == true
        }
    }

    /// Whether what an element is asked to play is an ad of another one: the page's player has told its address, or
    /// shows an ad in an element that it does not name.
    private func isAd(_ element: Element, _ identifier: ElementID) -> Bool {
        if element.model.ads.isInBreak { return false }
        // A player may ask for a part of the media (`#t=`).
        let bare = { (address: String) in address.prefix { $0 != "#" } }
        let own = element.model.mediaAddress.map(bare)
        let addresses = contentsWithAds(around: identifier).map { elements[$0]?.model.ads.address.map(bare) }
        return addresses.contains { $0 == nil || own == nil || $0 == own }
    }

    /// The element of an ad has no playback for itself: its waits are those of the ad.
    private mutating func takeAd(
        _ element: Element,
        _ identifier: ElementID,
        _ observation: MediaObservation,
        at instant: MonotonicInstant
    ) {
        elements[identifier] = element
        guard observation.kind == .stands || observation.kind == .moves else { return }
        for content in contentsWithAds(around: identifier).prefix(1) {
            guard var state = elements[content] else { return }
            let signals = state.model.adElement(isWaiting: observation.kind == .stands, at: instant)
            deliver(signals, of: content, &state)
            elements[content] = state
        }
    }

    /// Lets the page's garbage collection have an element that does not play.
    private mutating func letGo(_ identifier: ElementID) {
        guard let element = elements[identifier], element.model.phase != .playing, let object = element.object else {
            return
        }
        elements[identifier]?.object = nil
        release(object, in: identifier.session)
    }

    mutating func release(_ object: String, in session: String) {
        if targets[session] != nil { send("Runtime.releaseObject", in: session, ["objectId": .string(object)]) }
    }

    private mutating func deliver(_ signals: [PlayerSignal], of identifier: ElementID, _ element: inout Element) {
        if !signals.isEmpty, !element.isOpened {
            element.isOpened = true
            effects.append(.opened(identifier))
        }
        for signal in signals { effects.append(.signal(identifier, signal)) }
    }

    // MARK: - Requests

    /// Takes an event of the `Network` domain.
    mutating func requested(_ event: DevToolsEvent, in session: String, at now: MonotonicInstant) {
        guard var target = targets[session] else { return }
        let instant = event.parameters["timestamp"]?.seconds.map {
            target.requestClock.instant(seconds: $0, received: now)
        }
        let request = target.requests.take(event)
        if let request, request.kind == .manifest, !request.isFailed { target.manifest = request.address }
        targets[session] = target
        if let request, let tab = target.tab {
            effects.append(.requested(tab, ChromeTab.Request(request, endingAt: instant ?? now)))
        }
        guard let request, let identifier = latestElement(in: session), var element = elements[identifier],
            !element.isAd
        else { return }
        if request.kind == .manifest, !request.isFailed { element.model.take(manifest: request.address) }
        let signals = element.model.take(request, isReported: reportsRequests, at: instant ?? now)
        deliver(signals, of: identifier, &element)
        elements[identifier] = element
    }

    /// The element that a page's requests are for: the one that was opened last. A page with several players at once
    /// does not say which of them requests.
    private func latestElement(in session: String) -> ElementID? {
        elements(in: session).last { id in
            elements[id].map { $0.model.phase == .loading || $0.model.phase == .playing } ?? false
        }
    }

    // MARK: - The page's player

    /// Asks what the page's player says of an element: at its start, and then at an interval while it plays.
    mutating func askPlayer(of identifier: ElementID) {
        guard var element = elements[identifier], element.model.phase == .playing, !element.isAsking else { return }
        element.isAsking = true
        elements[identifier] = element
        if let object = element.object { return read(object, of: identifier) }
        let parameters: [String: JSONValue] = [
            "expression": .string("globalThis[\"\(names.interface)\"].element(\(identifier.number))"),
            "contextId": .int(identifier.context), "objectGroup": .string(names.world), "silent": true,
        ]
        ask(.elementFound(identifier), "Runtime.evaluate", in: identifier.session, parameters)
    }

    private mutating func read(_ object: String, of identifier: ElementID) {
        let parameters: [String: JSONValue] = [
            "objectId": .string(object), "functionDeclaration": .string(PageScripts.players), "returnByValue": true,
            "silent": true,
        ]
        ask(.player(identifier), "Runtime.callFunctionOn", in: identifier.session, parameters)
    }

    mutating func answered(
        _ question: Question,
        _ result: JSONValue?,
        _ failure: String?,
        at now: MonotonicInstant
    ) {
        switch question {
        case .profileMade(let number): profileMade(result?["browserContextId"]?.text(100), for: number, failure)
        case .opened(let number): tabOpened(result?["targetId"]?.text(100), for: number, failure)
        case .disposed(let tab): disposed(tab, at: now)
        case .navigated(let session, let page):
            navigated(session, to: page, failure ?? result?["errorText"]?.text(100))
        case .clock(let session, let context, let sent):
            sampled(result?["result"]?["value"]?.finite, of: context, in: session, from: sent, to: now)
        case .elementFound(let element):
            guard let object = result?["result"]?["objectId"]?.text(200) else { return askLater(of: element) }
            let question = Question.elementDescribed(element, object: object)
            ask(question, "DOM.describeNode", in: element.session, ["objectId": .string(object)])
        case .elementDescribed(let element, let object):
            release(object, in: element.session)
            let frame = targets[element.session]?.documents[element.context]?.frame
            guard let node = result?["node"]?["backendNodeId"]?.int,
                let context = frame.flatMap({ targets[element.session]?.mainContexts[$0] })
            else { return askLater(of: element) }
            resolve(node, in: context, of: element.session, .elementResolved(element))
        case .elementResolved(let element):
            guard let object = result?["object"]?["objectId"]?.text(200) else { return askLater(of: element) }
            guard elements[element] != nil else { return release(object, in: element.session) }
            elements[element]?.object = object
            read(object, of: element)
        case .player(let element):
            elements[element]?.answered = now
            if let figures = (result?["result"]?["value"]?.string).flatMap({ PagePlayerFigures($0) }) {
                elements[element]?.model.take(figures)
            }
            letGo(element)
            askLater(of: element)
        case .required(_, let method):
            if let failure { report(.refused, "the browser refuses \(method): \(failure)") }
        case .inPlace(let session, let method):
            if let failure { report(.refused, "the browser refuses \(method): \(failure)") }
            inPlace(session)
        default: searched(question, result)
        }
    }

    private mutating func askLater(of element: ElementID) {
        guard elements[element] != nil else { return }
        elements[element]?.isAsking = false
        effects.append(.wake(.ask(element), after: Self.playerInterval))
    }

    private mutating func resolve(_ node: Int, in context: Int, of session: String, _ question: Question) {
        let parameters: [String: JSONValue] = [
            "backendNodeId": .int(node), "executionContextId": .int(context), "objectGroup": .string(names.world),
        ]
        ask(question, "DOM.resolveNode", in: session, parameters)
    }

    // MARK: - Elements that no event shows

    /// Looks for elements that send the document no events, if the browser has made more players than the observer has
    /// seen elements.
    ///
    /// Those of shadow roots, closed ones too, are in the tree of the document's nodes, and those outside of the
    /// document among the objects of the page's scripts. The search of objects collects the page's garbage, and is
    /// therefore bounded.
    mutating func search(in session: String) {
        guard var target = targets[session], target.playerCount > target.elementCount,
            target.playerCount > target.searchedCount, target.searchCount < Self.maxSearches
        else { return }
        target.searchCount += 1
        // Whatever is not found now is not searched for again, unless the browser makes another player.
        target.searchedCount = target.playerCount
        targets[session] = target
        send("DOM.enable", in: session)
        send("DOM.getDocument", in: session, ["depth": 0])
        // Without the rest of a tag, the text is found as the beginning of one.
        for tag in ["<video", "<audio"] {
            ask(.found(session: session), "DOM.performSearch", in: session, ["query": .string(tag)])
        }
        for (frame, context) in target.mainContexts.sorted(by: { $0.value < $1.value }).prefix(8) {
            let parameters: [String: JSONValue] = [
                "expression": "HTMLMediaElement.prototype", "contextId": .int(context),
                "objectGroup": .string(names.world), "silent": true,
            ]
            ask(.prototype(session: session, frame: frame), "Runtime.evaluate", in: session, parameters)
        }
    }

    private mutating func searched(_ question: Question, _ result: JSONValue?) {
        let group = JSONValue.string(names.world)
        switch question {
        case .prototype(let session, let frame):
            guard let object = result?["result"]?["objectId"]?.text(200) else { return }
            ask(
                .objects(session: session, frame: frame, prototype: object),
                "Runtime.queryObjects",
                in: session,
                ["prototypeObjectId": .string(object), "objectGroup": group]
            )
        case .objects(let session, let frame, let prototype):
            release(prototype, in: session)
            guard let object = result?["objects"]?["objectId"]?.text(200) else { return }
            ask(
                .members(session: session, frame: frame, objects: object),
                "Runtime.getProperties",
                in: session,
                ["objectId": .string(object), "ownProperties": true]
            )
        case .members(let session, let frame, let objects):
            release(objects, in: session)
            let members = (result?["result"]?.elements ?? []).prefix(200).compactMap { member -> String? in
                guard member["value"]?["subtype"]?.string == "node" else { return nil }
                return member["value"]?["objectId"]?.text(200)
            }
            for member in members.prefix(64) {
                ask(
                    .memberDescribed(session: session, frame: frame, object: member),
                    "DOM.describeNode",
                    in: session,
                    ["objectId": .string(member)]
                )
            }
        case .memberDescribed(let session, let frame, let object):
            release(object, in: session)
            guard let node = result?["node"]?["backendNodeId"]?.int,
                let context = targets[session]?.documents.first(where: { $0.value.frame == frame })?.key
            else { return }
            resolve(node, in: context, of: session, .memberResolved(session: session))
        case .found(let session):
            guard let search = result?["searchId"]?.text(100), let count = result?["resultCount"]?.int, count > 0 else {
                return
            }
            let parameters: [String: JSONValue] = [
                "searchId": .string(search), "fromIndex": 0, "toIndex": .int(min(count, Self.maxFound)),
            ]
            ask(.nodes(session: session), "DOM.getSearchResults", in: session, parameters)
            send("DOM.discardSearchResults", in: session, ["searchId": .string(search)])
        case .nodes(let session):
            for node in (result?["nodeIds"]?.elements ?? []).prefix(Self.maxFound) {
                ask(.nodeDescribed(session: session), "DOM.describeNode", in: session, ["nodeId": node])
            }
        case .nodeDescribed(let session):
            // Texts and attributes may look like a tag.
            guard let node = result?["node"]?["backendNodeId"]?.int,
                ["VIDEO", "AUDIO"].contains(result?["node"]?["nodeName"]?.string)
            else { return }
            // The node does not tell its frame: the observers of other frames do not adopt it.
            for context in targets[session]?.documents.keys.sorted().prefix(8) ?? [] {
                resolve(node, in: context, of: session, .memberResolved(session: session))
            }
        case .memberResolved(let session):
            guard let object = result?["object"]?["objectId"]?.text(200) else { return }
            let function = "function () { globalThis[\"\(names.interface)\"].adopt(this) }"
            let parameters: [String: JSONValue] = [
                "objectId": .string(object), "functionDeclaration": .string(function), "silent": true,
            ]
            send("Runtime.callFunctionOn", in: session, parameters)
            release(object, in: session)
        default: break
        }
    }
}

extension ChromeModel.Question {
    /// The session that the answer is of.
    var session: String? {
        switch self {
        case .profileMade, .opened, .disposed: nil
        case .clock(let session, _, _), .prototype(let session, _), .objects(let session, _, _),
            .members(let session, _, _), .memberDescribed(let session, _, _), .memberResolved(let session),
            .required(let session, _), .inPlace(let session, _), .navigated(let session, _),
            .found(let session), .nodes(let session), .nodeDescribed(let session):
            session
        case .elementFound(let element), .elementDescribed(let element, _), .elementResolved(let element),
            .player(let element):
            element.session
        }
    }
}
