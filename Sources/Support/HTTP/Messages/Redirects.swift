internal import Instrument

/// The handling of redirects.
public enum RedirectRule: Hashable, Sendable {
    /// The answer of status 3xx is the response.
    case never
    /// A redirect is followed up to a limit; never from https to http, never to another origin with credentials or a
    /// body, and never in a way that would drop the body.
    case follow(atMost: Int)
}

extension HTTPRequest {
    /// The request that `response` asks for; nil if it is to be returned as it is.
    func redirected(by response: HTTPResponse, after count: Int) throws(HTTPError) -> HTTPRequest? {
        guard case .follow(let limit) = redirects, [301, 302, 303, 307, 308].contains(response.status),
            let location = response.headers["Location"]
        else { return nil }
        guard count < limit else {
            throw refusal(
                "it was sent on more than \(limit) times",
                response,
                "correct the redirects, which may be a loop"
            )
        }
        guard var target = try? url.resolving(location) else {
            throw refusal("where it was sent is no address of http or https", response, "correct the header Location")
        }
        target = target.with(userInfo: target.origin == url.origin ? url.userInfo : nil)
        try check(target, response)
        var next = self
        next.url = target
        if target.origin != url.origin { for name in headersOfOrigin { next.headers.remove(name) } }
        return next
    }

    private func check(_ target: HTTPURL, _ response: HTTPResponse) throws(HTTPError) {
        if url.isSecure, !target.isSecure { throw refusal("it was sent from https to http", response) }
        if response.status < 307, !method.isReading || !body.isEmpty {
            throw refusal("a redirect of status \(response.status) would drop its body", response)
        }
        guard target.origin != url.origin else { return }
        if hasCredentials { throw refusal("it has credentials and was sent to \(target.origin)", response) }
        if !method.isReading || !body.isEmpty {
            throw refusal("it has a body and was sent to \(target.origin)", response)
        }
    }

    private func refusal(
        _ why: String,
        _ response: HTTPResponse,
        _ remedy: String = "if that is right, configure the new address"
    ) -> HTTPError {
        let message = "the redirect was not followed: \(why); \(remedy)"
        return HTTPError(.redirectRefused, message, url: url, status: response.status)
    }
}

/// A request on its way through redirects; the timeout is for all of it.
package struct RedirectCourse: Sendable {
    private let clock = SystemClock()
    private let start: MonotonicInstant
    private let timeout: Duration
    private var request: HTTPRequest
    private var count = 0
    /// The time that went by before the latest request.
    private var before = Duration.zero

    /// Begins with a request.
    package init(_ request: HTTPRequest) {
        self.request = request
        timeout = request.timeout
        start = clock.now
    }

    /// The request to send next.
    package mutating func next() throws(HTTPError) -> HTTPRequest {
        before = start.duration(to: clock.now)
        request.timeout = timeout - before
        guard request.timeout > .zero else { throw .timedOut(request.url) }
        var outgoing = request
        // Not kept in the request: each address has its own cookies.
        outgoing.addCookies(at: clock.wallTime)
        return outgoing
    }

    /// Takes the response to the latest request; nil if it is a redirect that the next request follows.
    package mutating func take(_ response: HTTPResponse) throws(HTTPError) -> HTTPResponse? {
        var response = response
        response.redirectCount = count
        response.timings.firstByte += before
        response.timings.total += before
        request.cookies?.take(response, at: clock.wallTime)
        guard let next = try request.redirected(by: response, after: count) else { return response }
        (request, count) = (next, count + 1)
        return nil
    }

    /// Takes the failure of the latest request: a body whose `Content-Encoding` names no content coding (`utf-8`,
    /// `aws-chunked`) is requested again and returned as it comes, as browsers do it.
    package mutating func take(_ failure: HTTPError) throws(HTTPError) {
        guard failure.code == .unknownCoding, request.decoding != .none else { throw failure }
        request.decoding = .none
    }
}

extension HTTPRequest {
    /// Sends the request by `send` and follows where it is allowed; the timeout is for all of it.
    package func following(
        _ send: (HTTPRequest) async throws(HTTPError) -> HTTPResponse
    ) async throws(HTTPError) -> HTTPResponse {
        var course = RedirectCourse(self)
        while true {
            let next = try course.next()
            do throws(HTTPError) {
                let response = try await send(next)
                if let last = try course.take(response) { return last }
            } catch {
                try course.take(error)
            }
        }
    }
}
