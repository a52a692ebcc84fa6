import Instrument
import Testing

@testable import InstrumentHTTP
@testable import InstrumentTransport

@Suite("Delivery outcome of a response")
struct DeliveryTests {
    private static let now = WallTime(milliseconds: 784_111_777_000)

    @Test("Every status decides one outcome", arguments: -1...700)
    func statuses(status: Int) {
        let reason = "HTTP \(status)"
        let expected: DeliveryOutcome =
            switch status {
            case 200...299: .acknowledged
            case 401, 403, 407: .unauthorized(reason: reason)
            case 413: .tooLarge(reason: reason)
            case 410: .gone(reason: reason)
            case 400, 409, 422: .refused(reason: reason)
            case 408, 425, 429: .retry(after: .seconds(7), reason: reason)
            case 300...399: .retry(after: .seconds(7), reason: "\(reason) (\(ForeignAnswer.elsewhere.remedy))")
            case 400...499: .retry(after: .seconds(7), reason: "\(reason) (\(ForeignAnswer.address.remedy))")
            default: .retry(after: .seconds(7), reason: reason)
            }
        #expect(DeliveryOutcome(status: status, retryAfter: "7", now: Self.now) == expected)
    }

    @Test("Configured rules apply to 409 and 401, and only to them")
    func rules() {
        let rules = DeliveryRules(conflictMeansDelivered: true, renewsTokens: true)
        for status in 0...600 where status != 409 && status != 401 {
            let usual = DeliveryOutcome(status: status, now: Self.now)
            #expect(DeliveryOutcome(status: status, now: Self.now, rules: rules) == usual)
        }
        #expect(DeliveryOutcome(status: 409, now: Self.now, rules: rules) == .acknowledged)
        let renewed = DeliveryOutcome(status: 401, retryAfter: "9", now: Self.now, rules: rules, reason: "token")
        #expect(renewed == .retry(after: nil, reason: "token"))
    }

    @Test("The Retry-After of a response is used, and the reason does not repeat the body")
    func responses() throws {
        let response = HTTPResponse(
            status: 503,
            headers: try HTTPHeaders(["retry-after": " Sun, 06 Nov 1994 08:51:37 GMT"]),
            body: Array("secret".utf8),
            url: try HTTPURL("http://h/?secret")
        )
        let outcome = DeliveryOutcome(response, now: Self.now)
        #expect(outcome == .retry(after: .seconds(360 - 240), reason: "HTTP 503"))
    }

    @Test("An answer refuses a sample that has an address, and no other")
    func addressOfEachSample() {
        let refused: [Int] = (0...600).filter { status in
            let outcome = DeliveryOutcome(status: status, now: Self.now, rules: .addressOfEachSample)
            return if case .refused = outcome { true } else { false }
        }
        #expect(refused.contains(404) && refused.contains(302) && refused.contains(415))
        #expect(!refused.contains { [408, 425, 429].contains($0) || $0 < 300 || $0 >= 500 })
    }

    @Test(
        "A web page with a status of success is no answer of a service",
        arguments: [
            ("<!DOCTYPE html><title>Sign in</title>", true), ("\u{FEFF} \r\n<HTML><body>Welcome", true), ("", false),
            ("<?xml version=\"1.0\"?><html xmlns=\"http://www.w3.org/1999/xhtml\"/>", false), ("ok", false),
            (#"{"message":"<html>"}"#, false), ("<htm", false),
        ]
    )
    func pages(body: String, isPage: Bool) throws {
        let url = try HTTPURL("http://h.org/in")
        for status in [200, 202] {
            let response = HTTPResponse(status: status, body: Array(body.utf8), url: url)
            let outcome = DeliveryOutcome(response, to: HTTPRequest(.post, url), now: Self.now)
            let reason = "HTTP \(status) with a web page (\(ForeignAnswer.page.remedy))"
            #expect(outcome == (isPage ? .retry(after: nil, reason: reason) : .acknowledged))
            for rules in [DeliveryRules.addressOfEachSample, .anyServer] {
                #expect(DeliveryOutcome(response, now: Self.now, rules: rules) == .acknowledged)
            }
        }
    }

    @Test("An error is retried unless a retry can never succeed")
    func errors() throws {
        func outcome(_ code: HTTPError.Code, status: Int? = nil) -> DeliveryOutcome {
            DeliveryOutcome(HTTPError(code, "why", status: status))
        }
        let codes: [HTTPError.Code] = [
            .timedOut, .cancelled, .connection, .nameNotFound, .tls, .invalidURL, .invalidHeader, .malformedResponse,
            .configuration, .system, .init("another"),
        ]
        for code in codes { #expect(outcome(code, status: 200) == .retry(after: nil, reason: "\(code): why")) }
        #expect(outcome(.requestTooLarge) == .tooLarge(reason: "requestTooLarge: why"))
        #expect(outcome(.redirectRefused, status: 302) == .retry(after: nil, reason: "redirectRefused: why"))
        #expect(outcome(.responseTooLarge, status: 204) == .acknowledged)
        #expect(outcome(.responseTooLarge, status: 500) == .retry(after: nil, reason: "responseTooLarge: why"))
    }

    @Test(
        "Retry-After is read in seconds and as each of the three dates",
        arguments: [
            ("1", Duration.seconds(1)), ("120", .seconds(120)), ("007", .seconds(7)),
            ("99999999999999999999999", .seconds(Int32.max)),
            ("Sun, 06 Nov 1994 08:49:47 GMT", .seconds(10)), ("Sunday, 06-Nov-94 08:49:47 GMT", .seconds(10)),
            ("Sun Nov  6 08:49:47 1994", .seconds(10)), ("Sat Dec 31 23:59:60 1994", .seconds(4_806_623)),
        ]
    )
    func retryAfter(text: String, expected: Duration) {
        #expect(RetryAfter.delay(text, now: Self.now) == expected)
    }

    @Test(
        "A Retry-After is absent when it is unreadable or zero",
        arguments: [
            "", "0", "-1", "+1", "inf", "nan", "1e3", "1.5", "0x10", "1 2", "１", "soon",
            "Sun, 06 Nov 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994 08:49:36 GMT", "Sun, 06 Nov 2094 08:49:37", "Sun, 06 Nov 2094 08:49:37 UTC",
            "Sun, 31 Feb 2094 08:49:37 GMT", "Sun, 06 Nov 2094 24:00:00 GMT", "Sun, 06 Nov 2094 08:60:00 GMT",
            "Sun, 6 Nov 2094 08:49:37 GMT", "Son, 06 Nov 2094 08:49:37 GMT", "Sun, 06 Nov 2094 08:49 GMT",
            "Sun, 00 Nov 2094 08:49:37 GMT", "Sunday, 06-Nov-2094 08:49:37 GMT", "Sun Nov 6 08:49:37 94",
            "Sun, 06 Nov 99999 08:49:37 GMT", ", , , , , ,", "- - - -",
        ]
    )
    func absent(text: String) {
        #expect(RetryAfter.delay(text, now: Self.now) == nil)
        #expect(RetryAfter.delay(nil, now: Self.now) == nil)
    }

    @Test(
        "HTTP dates follow the calendar",
        arguments: [
            ("Thu, 01 Jan 1970 00:00:00 GMT", 0), ("Tue, 29 Feb 2000 12:00:00 GMT", 951_825_600),
            ("Wed, 31 Dec 1969 23:59:59 GMT", -1), ("Mon, 01 Mar 2100 00:00:00 GMT", 4_107_542_400),
            ("Sat, 21 Nov 2026 10:00:00 GMT", 1_795_255_200), ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799),
        ]
    )
    func dates(text: String, seconds: Int64) {
        #expect(HTTPDate.parse(text, now: Self.now) == WallTime(milliseconds: seconds * 1000))
    }

    @Test("A two-digit year is at most 50 years ahead", arguments: [(76, 2076), (77, 1977), (26, 2026), (0, 2000)])
    func century(short: Int, year: Int) {
        let now = WallTime(milliseconds: 1_795_255_200_000)
        let text = "Sunday, 06-Nov-\(short < 10 ? "0" : "")\(short) 08:49:37 GMT"
        let same = HTTPDate.parse("Sun, 06 Nov \(year) 08:49:37 GMT", now: now)
        #expect(HTTPDate.parse(text, now: now) == same)
        #expect(same != nil)
    }

    @Test(
        "Reading a date does not trap when the clock is far off",
        arguments: [Int64.min, .min / 2, -1, 0, .max / 2, .max]
    )
    func strangeClocks(milliseconds: Int64) {
        let now = WallTime(milliseconds: milliseconds)
        for date in ["Sun, 06 Nov 1994 08:49:47 GMT", "Sunday, 06-Nov-94 08:49:47 GMT"] {
            _ = RetryAfter.delay(date, now: now)
        }
    }
}
