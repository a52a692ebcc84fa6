internal import Instrument
internal import InstrumentJSON
internal import InstrumentText

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
            return navigated(to: page.address, in: nil, failure ?? "no tab")
        }
        openings.created[target] = page
        if let session = targets.first(where: { $0.value.identifier == target })?.key { navigate(session) }
    }

    /// Shows the page of a tab once the observer is in place there.
    mutating func navigate(_ session: String) {
        guard let target = targets[session]?.identifier, let page = openings.created.removeValue(forKey: target) else {
            return
        }
        if page.body != nil {
            openings.served[session] = page
            send("Fetch.enable", in: session, ["patterns": [["urlPattern": "*", "resourceType": "Document"]]])
        }
        if let tab = page.tab { effects.append(.tab(tab, .opened)) }
        ask(.navigated(page: page.address, page.tab), "Page.navigate", in: session, ["url": .string(page.address)])
    }

    mutating func navigated(to page: String, in tab: ChromeTab?, _ failure: String?) {
        guard let failure else { return }
        let words = "the browser cannot open \(SourceText.redacted(page)): \(failure); check the address"
        guard let tab else { return effects.append(.report(ChromeDiagnostic(.pageFailed, words))) }
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
