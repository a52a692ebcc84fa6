internal import Instrument
internal import InstrumentHTTP

/// The resolution of one request for ads through its wrappers.
struct AdResolution {
    let fetcher: any AdFetching
    let limits: AdLimits
    let clock: any SchedulingClock
    let randomness: RandomSource
    let macros: MacroValues
    /// Whether wrappers are followed at all (`followRedirects` of VMAP).
    let followsWrappers: Bool
    let deadline: MonotonicInstant

    private var fetchCount = 0
    private var failures: [AdFailure] = []
    private var findings: [AdFinding] = []
    /// Ads of the outermost pod that failed and may be replaced by a stand-alone ad.
    private var lacking = 0

    init(
        fetcher: any AdFetching,
        limits: AdLimits,
        clock: any SchedulingClock,
        randomness: RandomSource,
        macros: MacroValues,
        followsWrappers: Bool,
        deadline: MonotonicInstant
    ) {
        (self.fetcher, self.limits, self.clock, self.randomness) = (fetcher, limits, clock, randomness)
        (self.macros, self.followsWrappers, self.deadline) = (macros, followsWrappers, deadline)
    }

    /// The result, with the ads in document order.
    func selection(_ ads: [ResolvedAd]) -> AdSelection {
        var selection = AdSelection(ads, failures: failures, lacking: lacking)
        (selection.findings, selection.fetchCount) = (findings, fetchCount)
        return selection
    }

    /// The ads at an address.
    mutating func resolve(
        _ tag: AdURL,
        relativeTo base: HTTPURL?,
        wrappers: [VASTAd],
        rootErrors: [AdURL],
        depth: Int,
        allowsMultiple: Bool
    ) async -> [ResolvedAd] {
        let errors = rootErrors + wrappers.flatMap(\.errors)
        let (document, failure) = await fetch(tag, relativeTo: base)
        guard let document else {
            fail(failure?.code ?? .wrapperUnavailable, failure?.message ?? "", errors)
            return []
        }
        // A server without an ad may answer with nothing.
        guard !document.bytes.allSatisfy(\.isWhitespace) else {
            fail(.noAds, "the response is empty", errors)
            return []
        }
        do throws(VASTError) {
            let response = try VASTResponse(parsing: document.bytes, limits: limits)
            return await resolve(
                response,
                at: document.url,
                wrappers: wrappers,
                rootErrors: rootErrors,
                depth: depth,
                allowsMultiple: allowsMultiple
            )
        } catch {
            let rule = "VAST, section 2.3.6"
            note(AdFinding(.error, rule: rule, code: error.code.rawValue, message: error.message, line: error.line))
            fail(error.code, error.message, errors)
            return []
        }
    }

    /// The ads of a response.
    mutating func resolve(
        _ response: VASTResponse,
        at url: HTTPURL?,
        wrappers: [VASTAd],
        rootErrors: [AdURL],
        depth: Int,
        allowsMultiple: Bool
    ) async -> [ResolvedAd] {
        for finding in response.findings { note(finding) }
        let rootErrors = rootErrors + response.errors
        var candidates = followsWrappers ? response.ads : response.ads.filter { $0.wrapper == nil }
        if let last = wrappers.last?.wrapper {
            if !last.followsWrappers { candidates.removeAll { $0.wrapper != nil } }
            if !allowsMultiple { candidates = Array(candidates.filter { $0.sequence == nil }.prefix(1)) }
        }
        let mayUseRefused = wrappers.last?.wrapper == nil || allowsMultiple
        for refused in response.refused where mayUseRefused || refused.sequence == nil {
            fail(.schema, refused.message, rootErrors + wrappers.flatMap(\.errors) + refused.errors)
            if depth == 0, refused.sequence != nil { lacking += 1 }
        }
        guard !candidates.isEmpty else {
            // The refused ads have called the addresses.
            if response.ads.isEmpty, !response.refused.isEmpty { return [] }
            let message =
                response.ads.isEmpty
                ? "the response has no ad" : "the wrapper or the break allows none of the response's ads"
            fail(.noAds, message, rootErrors + wrappers.flatMap(\.errors))
            return []
        }
        var resolved: [ResolvedAd] = []
        for ad in candidates {
            let found = await resolve(ad, response.version, url, wrappers, rootErrors, depth)
            if found.isEmpty, depth == 0, ad.sequence != nil, ad.wrapper?.fallsBack != false { lacking += 1 }
            resolved += found
            if resolved.count >= limits.ads { break }
        }
        return resolved
    }

    private mutating func resolve(
        _ ad: VASTAd,
        _ version: VASTVersion,
        _ url: HTTPURL?,
        _ wrappers: [VASTAd],
        _ rootErrors: [AdURL],
        _ depth: Int
    ) async -> [ResolvedAd] {
        guard let wrapper = ad.wrapper else {
            let resolved = ResolvedAd(
                ad: ad,
                wrappers: wrappers,
                version: version,
                sequence: ad.sequence,
                rootErrors: rootErrors
            )
            guard !resolved.isBlocked else {
                fail(.blockedCategory, "a wrapper blocks the ad's category", resolved.errors)
                return []
            }
            return [resolved]
        }
        let chain = wrappers + [ad]
        guard depth < limits.wrappers else {
            let errors = rootErrors + chain.flatMap(\.errors)
            fail(.wrapperLimit, "the chain has more than \(limits.wrappers) wrappers", errors)
            return []
        }
        let found = await resolve(
            wrapper.tag,
            relativeTo: url,
            wrappers: chain,
            rootErrors: rootErrors,
            depth: depth + 1,
            allowsMultiple: wrapper.allowsMultipleAds
        )
        guard let sequence = ad.sequence else { return found }
        // A wrapper in a pod keeps its position; a pod inside it plays there in its order.
        return found.sorted { ($0.sequence ?? .max) < ($1.sequence ?? .max) }.map { ad in
            var placed = ad
            placed.sequence = sequence
            return placed
        }
    }

    private mutating func fetch(
        _ tag: AdURL,
        relativeTo base: HTTPURL?
    ) async -> (document: AdDocument?, failure: AdFailure?) {
        let left = clock.now.duration(to: deadline)
        guard left > .zero, fetchCount < limits.fetches else {
            if left <= .zero {
                return (nil, AdFailure(.wrapperUnavailable, "the time for all responses is up", urls: []))
            }
            return (nil, AdFailure(.wrapperLimit, "the limit of \(limits.fetches) responses is reached", urls: []))
        }
        let values = macros.merging(.perCall(now: clock.wallTime, randomness: randomness))
        let text = values.expand(tag).secretText
        let url: HTTPURL
        do throws(HTTPError) {
            url = if let base { try base.resolving(text) } else { try AdURL(text).resolved() }
        } catch {
            return (nil, AdFailure(.wrapperUnavailable, error.message, urls: []))
        }
        if let base, base.isSecure, !url.isSecure {
            let message = "a response over https refers to an address over http"
            note(AdFinding(.warning, rule: "VAST 4.2, section 2.3.5", message: message))
        }
        fetchCount += 1
        do throws(AdFetchError) {
            return (try await fetcher.fetch(url, timeout: min(left, limits.fetchTimeout)), nil)
        } catch {
            return (nil, AdFailure(.wrapperUnavailable, error.description, urls: []))
        }
    }

    private mutating func fail(_ code: VASTErrorCode, _ message: String, _ urls: [AdURL]) {
        guard failures.count < limits.findings else { return }
        failures.append(AdFailure(code, message, urls: urls))
    }

    private mutating func note(_ finding: AdFinding) {
        if findings.count < limits.findings { findings.append(finding) }
    }
}
