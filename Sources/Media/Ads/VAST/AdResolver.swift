public import Instrument
public import InstrumentHTTP

/// A response of an ad server, as fetched.
public struct AdDocument: Hashable, Sendable {
    /// The bytes.
    package var bytes: [UInt8]
    /// The address of the response after redirects, which is the base of its references.
    package var url: HTTPURL

    /// Creates a document.
    public init(bytes: [UInt8], url: HTTPURL) { (self.bytes, self.url) = (bytes, url) }
}

/// Fetches responses of ad servers.
public protocol AdFetching: Sendable {
    /// Returns the response, within `timeout`.
    /// - Throws: ``AdFetchError``.
    func fetch(_ url: HTTPURL, timeout: Duration) async throws(AdFetchError) -> AdDocument
}

/// A reason why a response of an ad server was not fetched.
public struct AdFetchError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Whether the time-out elapsed.
    package var isTimeOut: Bool
    /// The reason, without secrets.
    public var description: String

    /// Creates an error.
    public init(_ description: String, isTimeOut: Bool = false) {
        (self.description, self.isTimeOut) = (description, isTimeOut)
    }
}

/// Fetches responses over a transport. Redirects are followed at most five times.
///
/// Addresses come from others: give it a transport that refuses private addresses
/// (`TransportConfiguration.allowsPrivateAddresses`) wherever the ad server is not trusted.
public struct TransportAdFetcher: AdFetching {
    private let transport: any HTTPTransport
    private let maxBytes: Int
    private let userAgent: String?

    /// Creates a fetcher.
    ///
    /// - Parameters:
    ///   - transport: sends the requests.
    ///   - limits: the largest document.
    ///   - userAgent: the `User-Agent` of requests; nil for the transport's.
    public init(_ transport: any HTTPTransport, limits: AdLimits = AdLimits(), userAgent: String? = nil) {
        (self.transport, maxBytes, self.userAgent) = (transport, limits.bytes, userAgent)
    }

    /// Fetches a response of status 200 to 299. A response without content (204) is an empty document.
    public func fetch(_ url: HTTPURL, timeout: Duration) async throws(AdFetchError) -> AdDocument {
        do throws(HTTPError) {
            var headers = HTTPHeaders()
            if let userAgent { try headers.set("User-Agent", userAgent) }
            var request = HTTPRequest(
                .get,
                url,
                headers: headers,
                timeout: timeout,
                connectTimeout: timeout,
                maxResponseBytes: maxBytes,
                redirects: .follow(atMost: 5)
            )
            request.decoding = .all
            let response = try await transport.send(request)
            guard response.isSuccess else {
                throw HTTPError(.malformedResponse, "the status must be 2xx (found \(response.status))", url: url)
            }
            return AdDocument(bytes: response.body, url: response.url)
        } catch {
            throw AdFetchError(error.description, isTimeOut: error.code == .timedOut)
        }
    }
}

/// Follows the wrappers of a VAST response to the ads that can be played.
///
/// ```swift
/// let resolver = AdResolver(TransportAdFetcher(transport))
/// let selection = await resolver.ads(at: tag, macros: MacroValues(["CONTENTID": .text("film-7")]))
/// ```
/// Makes no request but through its fetcher, and keeps to its limits however the responses refer to each other.
public struct AdResolver: Sendable {
    private let fetcher: any AdFetching
    private let limits: AdLimits
    private let clock: any SchedulingClock
    private let randomness: RandomSource

    /// Creates a resolver.
    public init(
        _ fetcher: any AdFetching,
        limits: AdLimits = AdLimits(),
        clock: any SchedulingClock = SystemClock(),
        randomness: RandomSource = RandomSource()
    ) {
        (self.fetcher, self.limits, self.clock, self.randomness) = (fetcher, limits, clock, randomness)
    }

    /// Fetches the response at an address and follows its wrappers. Failures are values: the selection lists them.
    public func ads(
        at tag: AdURL,
        relativeTo base: HTTPURL? = nil,
        macros: MacroValues = MacroValues()
    ) async -> AdSelection {
        await ads(at: tag, relativeTo: base, macros: macros, followsWrappers: true)
    }

    /// Follows the wrappers of a response that is there already.
    package func ads(
        of response: VASTResponse,
        at url: HTTPURL?,
        macros: MacroValues = MacroValues()
    ) async -> AdSelection {
        await ads(of: response, at: url, macros: macros, followsWrappers: true)
    }

    func ads(
        at tag: AdURL,
        relativeTo base: HTTPURL?,
        macros: MacroValues,
        followsWrappers: Bool
    ) async -> AdSelection {
        var resolution = makeResolution(macros, followsWrappers)
        let ads = await resolution.resolve(
            tag,
            relativeTo: base,
            wrappers: [],
            rootErrors: [],
            depth: 0,
            allowsMultiple: true
        )
        return resolution.selection(ads)
    }

    func ads(
        of response: VASTResponse,
        at url: HTTPURL?,
        macros: MacroValues,
        followsWrappers: Bool
    ) async -> AdSelection {
        var resolution = makeResolution(macros, followsWrappers)
        let ads = await resolution.resolve(
            response,
            at: url,
            wrappers: [],
            rootErrors: [],
            depth: 0,
            allowsMultiple: true
        )
        return resolution.selection(ads)
    }

    private func makeResolution(_ macros: MacroValues, _ followsWrappers: Bool) -> AdResolution {
        AdResolution(
            fetcher: fetcher,
            limits: limits,
            clock: clock,
            randomness: randomness,
            macros: macros,
            followsWrappers: followsWrappers,
            deadline: clock.now.advanced(by: limits.totalTimeout)
        )
    }
}
