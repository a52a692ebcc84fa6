package import Instrument
internal import InstrumentJSON

/// A tab that this process opens with a separate profile: no cookie and no cached segment of another tab is in it.
package struct ChromeTab: Hashable, Sendable {
    let number: Int

    init(_ number: Int) { self.number = number }

    /// News of a tab.
    package enum Event: Hashable, Sendable {
        /// The tab is there, and goes to the page.
        case opened
        /// The browser cannot open the page; the reason names no secrets.
        case failed(String)
        /// The tab crashed, or the browser went away, which says nothing of the page.
        case lost(String)
        /// The tab is closed; nothing follows.
        case closed
    }

    /// A request of a tab for media that has ended.
    package struct Request: Hashable, Sendable {
        /// `manifest` or `segment`.
        package var kind: String
        /// The address, without secrets.
        package var address: String
        /// The HTTP status; nil without an answer.
        package var status: Int?
        /// The name that Chromium has for the failure, such as `net::ERR_CONNECTION_REFUSED`; nil for an answer.
        package var failure: String?
        /// Whether the request failed, for whatever reason.
        package var isFailed: Bool
        /// From the request to the last byte.
        package var time: Duration
        package var timeToFirstByte: Duration?
        package var byteCount: Int
        /// The instant of the end.
        package var end: MonotonicInstant
    }
}

extension ChromeTab.Request {
    init(_ request: FinishedRequest, endingAt end: MonotonicInstant) {
        self.init(
            kind: request.kind.rawValue,
            address: SourceText.redacted(request.address),
            status: request.status,
            failure: request.failure,
            isFailed: request.isFailed,
            time: request.time,
            timeToFirstByte: request.timeToFirstByte,
            byteCount: request.bytes,
            end: end
        )
    }
}

/// Tabs with separate profiles: they are opened, closed, and lost.
extension ChromeModel {
    /// A tab whose page is opened, or will be.
    struct Tab: Hashable, Sendable {
        /// The identifier of the profile; nil before the browser has made it.
        var profile: String?
        var isClosing = false
    }

    /// Makes the profile of a tab; the tab follows.
    mutating func openProfile(for number: Int, _ tab: ChromeTab) {
        openings.tabs[tab] = Tab()
        ask(.profileMade(number), "Target.createBrowserContext", in: nil, ["disposeOnDetach": true])
    }

    mutating func profileMade(_ profile: String?, for number: Int, _ failure: String?) {
        guard let tab = openings.wanted[number]?.tab, let state = openings.tabs[tab] else { return }
        guard let profile else {
            openings.wanted[number] = nil
            return lose(tab, failure ?? "the browser makes no profile for a tab")
        }
        openings.tabs[tab]?.profile = profile
        if state.isClosing {
            openings.wanted[number] = nil
            return dispose(tab, profile)
        }
        createTab(number, profile: profile)
    }

    /// Closes a tab with everything that its page has opened.
    mutating func close(_ tab: ChromeTab) -> [Effect] {
        if let state = openings.tabs[tab], !state.isClosing {
            openings.tabs[tab]?.isClosing = true
            if let profile = state.profile { dispose(tab, profile) }
        }
        return takeEffects()
    }

    private mutating func dispose(_ tab: ChromeTab, _ profile: String) {
        ask(.disposed(tab), "Target.disposeBrowserContext", in: nil, ["browserContextId": .string(profile)])
    }

    /// The browser has closed a tab.
    mutating func disposed(_ tab: ChromeTab, at now: MonotonicInstant) {
        guard openings.tabs.removeValue(forKey: tab) != nil else { return }
        for (session, _) in targets.filter({ $0.value.tab == tab }).sorted(by: { $0.key < $1.key }) {
            close(session) { $0.left(at: now) }
        }
        effects.append(.tab(tab, .closed))
    }

    /// A tab is lost; its owner closes it.
    mutating func lose(_ tab: ChromeTab, _ words: String) {
        guard openings.tabs[tab]?.isClosing == false else { return }
        effects.append(.tab(tab, .lost(words)))
    }

    /// The tabs end with the browser, or with the connection to it. The owner of a tab that is not being closed has
    /// lost it.
    mutating func loseTabs(_ words: String) {
        for (tab, state) in openings.tabs.sorted(by: { $0.key.number < $1.key.number }) {
            effects.append(.tab(tab, state.isClosing ? .closed : .lost(words)))
        }
        openings = Openings()
    }

    /// The tab that a target belongs to: a page, what it has opened, or a frame of these.
    func tab(ofProfile profile: String?) -> ChromeTab? {
        guard let profile else { return nil }
        return openings.tabs.first { $0.value.profile == profile }?.key
    }
}
