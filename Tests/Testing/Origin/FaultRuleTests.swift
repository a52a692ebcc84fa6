import Instrument
import InstrumentTestKit
import Testing

@testable import InstrumentOrigin

@Suite("A fault rule")
struct FaultRuleTests {
    @Test(
        "A rule's text parses to the expected rule",
        arguments: [
            ("404", FaultRule(.status(404))),
            ("404 on vod/*.ts nth 3", FaultRule(.status(404), on: "vod/*.ts", .nth(3))),
            ("503 retry-after 2s first 2", FaultRule(.status(503, retryAfter: .seconds(2)), .first(2))),
            ("reset", FaultRule(.resetBeforeHead)), ("reset after 20000", FaultRule(.reset(afterBytes: 20_000))),
            ("hang every 5", FaultRule(.hangBeforeHead, .every(5))), ("hang after 0", FaultRule(.hang(afterBytes: 0))),
            ("truncate after 5000", FaultRule(.truncate(afterBytes: 5_000))),
            ("understate by 100", FaultRule(.understate(byBytes: 100))),
            (
                "slow 2s from 20s until 1m",
                FaultRule(.slowFirstByte(.seconds(2)), from: .seconds(20), until: .seconds(60))
            ),
            ("redirect to a/b", FaultRule(.redirect(to: "a/b"))),
            ("redirect loop nth 1", FaultRule(.redirectToItself, .nth(1))),
            ("content-type text/plain", FaultRule(.contentType("text/plain"))), ("html", FaultRule(.html)),
            ("body of a/b", FaultRule(.body(of: "a/b"))), ("endless", FaultRule(.endless)),
            ("stale", FaultRule(.stale)),
            ("trickle 1 every 10ms", FaultRule(.trickle(bytes: 1, every: .milliseconds(10)))),
        ]
    )
    func text(text: String, rule: FaultRule) throws { #expect(try FaultRule(text) == rule) }

    @Test(
        "An invalid text is rejected",
        arguments: [
            "", "fail", "404 on", "404 nth x", "404 nth -1", "99", "600", "reset after", "slow", "slow 5", "trickle 1",
            "redirect", "redirect to", "content-type", "content-type a\u{7F}b", "404 sometimes", "503 retry-after soon",
        ]
    )
    func refused(text: String) { #expect(throws: OriginSyntaxError.self) { try FaultRule(text) } }

    @Test("The parser does not trap on random words of its grammar")
    func fuzz() {
        var random = SeededGenerator(seed: 7)
        let words = [
            "404", "reset", "after", "by", "to", "on", "*", "nth", "first", "every", "from", "until", "1s", "9e99h",
            "-1",
            "99999999999999999999", "trickle", "slow", "redirect", "loop", "html", "repeat", "for", "latency", ",", "0",
            "k",
        ]
        for _ in 0..<5_000 {
            let text = (0..<Int.random(in: 0...8, using: &random)).compactMap { _ in words.randomElement(using: &random)
            }
            .joined(separator: " ")
            _ = try? FaultRule(text)
            if let schedule = try? DeliverySchedule(text) {
                _ = schedule.instant(ofByte: 1_000, startingAt: .seconds(1))
            }
        }
    }

    @Test(
        "A pattern matches the expected paths",
        arguments: [
            ("*", "/", true), ("*.ts", "/vod/ts/v0/1.ts", true), ("vod/ts/v0/1.ts", "/vod/ts/v0/1.ts", true),
            ("*/v0/*", "/vod/ts/v0/1.ts", true), ("vod/?.ts", "/vod/1.ts", true), ("vod/?.ts", "/vod/12.ts", false),
            ("*.ts", "/vod/1.tsx", false), ("", "/", true), ("", "/a", false), ("**a**b", "/xxaxxb", true),
            ("a*", "/ba", false),
        ]
    )
    func pattern(pattern: String, path: String, fits: Bool) { #expect(PathPattern.matches(pattern, path) == fits) }

    @Test("A long pattern of stars is matched in bounded time")
    func hardPattern() {
        let pattern = String(repeating: "*a", count: 2_000) + "b"
        #expect(!PathPattern.matches(pattern, String(repeating: "a", count: 4_000)))
    }

    @Test("The first rule whose occurrence matches applies, and every rule counts the request")
    func counting() throws {
        let rules = [
            FaultRule(.html, on: "*.ts", .nth(2)), FaultRule(.status(404), .every(3)), FaultRule(.endless, .first(1)),
        ]
        let link = Link(.unlimited, sharing: .fair, start: .init(nanoseconds: 0))
        let start = Timestamp(instant: .init(nanoseconds: 0), wallTime: .init(milliseconds: 0))
        let session = Session(name: "", start: start, link: link)
        let acting = ["/a.ts", "/b", "/c.ts", "/d", "/e", "/f"].map {
            session.rule(of: rules, generation: 0, path: $0, at: .init(nanoseconds: 0))
        }
        #expect(acting == [2, nil, 0, nil, nil, 1])
        // Other rules, or the same rules set again, start to count from zero.
        #expect(session.rule(of: rules, generation: 1, path: "/", at: .init(nanoseconds: 0)) == 2)
    }

    @Test("A rule applies only between its start and its end")
    func time() {
        let rule = FaultRule(.html, from: .seconds(1), until: .seconds(2))
        #expect(
            [0, 1, 1_999, 2_000].map { rule.fits(path: "/", at: .milliseconds($0 == 1 ? 1_000 : $0)) }
                == [false, true, true, false]
        )
    }

    @Test("A scenario file in JSON gives the same schedule and rules")
    func scenario() throws {
        let text = """
            {"schedule": "4000k for 10s, 600k", "sharing": "fcfs", "scope": "server",
             "faults": ["404 nth 3"], "sessions": {"slow": "300k latency 200ms"}}
            """
        let scenario = try OriginScenario(json: Array(text.utf8))
        #expect(try scenario.schedule == DeliverySchedule("4000k for 10s, 600k"))
        #expect(scenario.faults == [FaultRule(.status(404), .nth(3))])
        #expect(try scenario.sessions == ["slow": DeliverySchedule("300k latency 200ms")])
        var configuration = OriginConfiguration()
        scenario.apply(to: &configuration)
        #expect(configuration.sharing == .firstComeFirstServed && configuration.scope == .server)
        for wrong in [
            "", "[]", "{\"speed\": 1}", "{\"sharing\": \"rude\"}", "{\"faults\": [1]}", "{\"schedule\": \"x\"}",
        ] {
            #expect(throws: OriginSyntaxError.self) { try OriginScenario(json: Array(wrong.utf8)) }
        }
    }
}
