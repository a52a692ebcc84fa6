internal import Instrument
internal import InstrumentJSON
internal import InstrumentText

/// A page to open in a new tab.
struct PageToOpen: Hashable, Sendable {
    /// The address.
    var address: String
    /// The page's text in place of what the server of the address has; nil for what the server has.
    var body: [UInt8]?
}

/// Tabs that this process opens.
struct Openings: Sendable {
    /// The pages whose tabs are being created, in order.
    var wanted: [PageToOpen] = []
    /// The pages of tabs that are there, by target, and are not navigated yet.
    var created: [String: PageToOpen] = [:]
    /// The own pages, by session.
    var served: [String: PageToOpen] = [:]
}

extension ChromeModel {
    mutating func tabOpened(_ target: String?, _ failure: String?) {
        guard !openings.wanted.isEmpty else { return }
        let page = openings.wanted.removeFirst()
        guard let target else { return navigated(to: page.address, failure ?? "no tab") }
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
        ask(.navigated(page: page.address), "Page.navigate", in: session, ["url": .string(page.address)])
    }

    mutating func navigated(to page: String, _ failure: String?) {
        guard let failure else { return }
        let words = "the browser cannot open \(SourceText.redacted(page)): \(failure); check the address"
        effects.append(.report(ChromeDiagnostic(.pageFailed, words)))
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
