import Testing

@testable import InstrumentAds

@Suite("Tracking of an ad")
struct AdTrackingTests {
    private static let second: Int64 = 1_000_000_000

    private func tracking(_ text: String = VAST.inLine(skip: "00:00:05", events: VAST.allEvents)) throws -> AdTracking {
        AdTracking(try resolved(text))
    }

    private func resolved(_ text: String) throws -> ResolvedAd {
        let response = try VASTResponse(parsing: VAST.document(text))
        let ad = try #require(response.ads.first)
        return ResolvedAd(ad: ad, wrappers: [], version: response.version)
    }

    private func names(_ beacons: [AdBeacon]) -> [String] {
        beacons.map { $0.kind.name == "progress" ? "progress " + String($0.url.secretText.suffix(3)) : $0.kind.name }
    }

    @Test("The first frame fires loaded, the impressions, creativeView and start, once")
    func start() throws {
        var tracking = try tracking()
        #expect(tracking.handle(.moved(to: 3 * Self.second)).isEmpty)
        #expect(names(tracking.handle(.loaded)) == ["loaded"])
        #expect(tracking.handle(.loaded).isEmpty)
        #expect(names(tracking.handle(.started)) == ["impression", "creativeView", "start"])
        #expect(tracking.handle(.started).isEmpty)
        var late = try self.tracking()
        #expect(names(late.handle(.started)) == ["loaded", "impression", "creativeView", "start"])
    }

    @Test("Quartiles and progress fire at their positions, each once and in order")
    func quartiles() throws {
        var tracking = try tracking()
        _ = tracking.handle(.started)
        var fired: [(Int64, String)] = []
        for step in 1...200 {
            for beacon in tracking.handle(.moved(to: Int64(step) * Self.second / 10)) {
                fired.append((Int64(step), names([beacon])[0]))
                #expect(beacon.playhead == Int64(step) * Self.second / 10)
            }
        }
        let expected: [(Int64, String)] = [
            (50, "firstQuartile"), (50, "progress /p5"), (100, "midpoint"), (100, "progress p50"),
            (150, "thirdQuartile"),
        ]
        #expect(fired.elementsEqual(expected, by: ==), "\(fired)")
        #expect(names(tracking.handle(.ended)) == ["complete"])
        #expect(tracking.handle(.ended).isEmpty)
    }

    @Test("A jump fires every event that it passes, in order")
    func jump() throws {
        var tracking = try tracking()
        _ = tracking.handle(.started)
        let passed = tracking.handle(.moved(to: 16 * Self.second))
        #expect(names(passed) == ["firstQuartile", "progress /p5", "midpoint", "progress p50", "thirdQuartile"])
        #expect(passed.map(\.playhead) == [5, 5, 10, 10, 15].map { $0 * Self.second })
        #expect(names(tracking.handle(.moved(to: 2 * Self.second))) == ["rewind"])
        #expect(tracking.handle(.moved(to: 18 * Self.second)).isEmpty)
    }

    @Test("The end fires what was not passed, then complete")
    func end() throws {
        var tracking = try tracking()
        _ = tracking.handle(.started)
        let names = names(tracking.handle(.ended))
        #expect(names == ["firstQuartile", "progress /p5", "midpoint", "progress p50", "thirdQuartile", "complete"])
    }

    @Test("The duration of the media wins over a declared duration that is wrong")
    func lyingDuration() throws {
        let ad = try resolved(VAST.inLine(duration: "99:00:00", events: VAST.allEvents))
        var tracking = AdTracking(ad, mediaDuration: 8 * Self.second)
        _ = tracking.handle(.started)
        #expect(names(tracking.handle(.moved(to: 2 * Self.second))) == ["firstQuartile"])
        // Eight seconds: half is at 4, five seconds are at 5, three quarters at 6.
        let rest = names(tracking.handle(.moved(to: .max)))
        #expect(rest == ["midpoint", "progress p50", "progress /p5", "thirdQuartile"])
    }

    @Test("Pause, mute and size fire on a change only, while the ad plays")
    func changes() throws {
        var tracking = try tracking()
        #expect(tracking.handle(.paused).isEmpty)
        #expect(tracking.handle(.resumed).isEmpty)
        _ = tracking.handle(.started)
        #expect(tracking.handle(.resumed).isEmpty)
        #expect(names(tracking.handle(.paused)) == ["pause"])
        #expect(tracking.handle(.paused).isEmpty)
        #expect(names(tracking.handle(.resumed)) == ["resume"])
        #expect(names(tracking.handle(.muted(true))) == ["mute"])
        #expect(tracking.handle(.muted(true)).isEmpty)
        #expect(names(tracking.handle(.muted(false))) == ["unmute"])
        #expect(names(tracking.handle(.expanded(true))) == ["playerExpand"])
        #expect(tracking.handle(.expanded(true)).isEmpty)
        #expect(names(tracking.handle(.expanded(false))) == ["playerCollapse"])
    }

    @Test("An ad of which no frame was shown calls no address but that of an error", arguments: ["ended", "failed"])
    func neverShown(end: String) throws {
        var tracking = try tracking()
        #expect(names(tracking.handle(.loaded)) == ["loaded"])
        let event: AdPlaybackEvent = end == "ended" ? .ended : .failed(.linear)
        let early: [AdPlaybackEvent] = [.moved(to: 6 * Self.second), .clicked, .skipped, .closed, .paused]
        let late: [AdPlaybackEvent] = [
            .started, .moved(to: 20 * Self.second), .viewability(.viewable), .ended, .closed,
        ]
        let beacons = (early + [event] + late).flatMap { tracking.handle($0) }
        #expect(names(beacons) == (end == "ended" ? [] : ["error"]))
    }

    @Test("A skip counts from its offset on, and ends the ad")
    func skip() throws {
        var tracking = try tracking()
        _ = tracking.handle(.started)
        #expect(tracking.handle(.skipped).isEmpty)
        #expect(!tracking.canSkip)
        _ = tracking.handle(.moved(to: 5 * Self.second))
        #expect(tracking.canSkip)
        #expect(names(tracking.handle(.skipped)) == ["skip"])
        #expect(tracking.handle(.moved(to: 20 * Self.second)).isEmpty)
        #expect(tracking.handle(.ended).isEmpty)
        #expect(tracking.handle(.failed(.linear)).isEmpty)
        #expect(names(tracking.handle(.closed)) == ["closeLinear"])
        #expect(tracking.handle(.closed).isEmpty)
        var unskippable = try self.tracking(VAST.inLine(events: VAST.allEvents))
        _ = unskippable.handle(.started)
        _ = unskippable.handle(.moved(to: 19 * Self.second))
        #expect(unskippable.handle(.skipped).isEmpty)
    }

    @Test("A failure calls the error addresses once, with the code")
    func failure() throws {
        var tracking = try tracking()
        let beacons = tracking.handle(.failed(.fileTimeOut))
        #expect(beacons.map { $0.expanded(MacroValues()).secretText } == ["https://t.test/err?ad=a&code=402"])
        #expect(tracking.handle(.failed(.fileTimeOut)).isEmpty)
        #expect(tracking.handle(.started).isEmpty)
    }

    private static let verified = """
        <ViewableImpression><Viewable>https://t.test/v</Viewable><NotViewable>https://t.test/n</NotViewable>
        <ViewUndetermined>https://t.test/u</ViewUndetermined></ViewableImpression>
        <AdVerifications><Verification vendor="one.com-omid"><TrackingEvents>
        <Tracking event="verificationNotExecuted"><![CDATA[https://one.test/x?why=[REASON]]]></Tracking>
        </TrackingEvents></Verification><Verification vendor="two.com-omid"><TrackingEvents>
        <Tracking event="verificationNotExecuted"><![CDATA[https://two.test/x?why=[REASON]]]></Tracking>
        </TrackingEvents></Verification></AdVerifications>
        """

    @Test("Every verification script that did not run is reported with the first frame, once, with the reason 2")
    func verificationNotExecuted() throws {
        var tracking = try tracking(VAST.inLine(extra: Self.verified))
        let beacons = tracking.handle(.started)
        #expect(names(beacons) == ["impression", "verificationNotExecuted", "verificationNotExecuted"])
        let urls = beacons.dropFirst().map { $0.expanded(MacroValues()).secretText }
        #expect(urls == ["https://one.test/x?why=2", "https://two.test/x?why=2"])
        #expect(tracking.handle(.started).isEmpty)
        #expect(names(tracking.handle(.ended)) == ["viewUndetermined"])
        var failed = try self.tracking(VAST.inLine(extra: Self.verified))
        #expect(names(failed.handle(.failed(.linear))) == ["error"])
    }

    @Test("The first determination of viewability is reported; an ad that ends without one is undetermined")
    func viewability() throws {
        func reported(_ events: [AdPlaybackEvent]) throws -> [String] {
            var tracking = try self.tracking(VAST.inLine(skip: "00:00:00", extra: Self.verified))
            _ = tracking.handle(.viewability(.viewable))
            _ = tracking.handle(.started)
            return events.flatMap { names(tracking.handle($0)) }
        }
        #expect(try reported([.viewability(.viewable), .viewability(.notViewable), .ended]) == ["viewable"])
        #expect(try reported([.viewability(.notViewable), .ended]) == ["notViewable"])
        #expect(try reported([.viewability(.undetermined), .ended]) == ["viewUndetermined"])
        #expect(try reported([.skipped, .closed]) == ["viewUndetermined"])
        #expect(try reported([.closed]) == ["viewUndetermined"])
        #expect(try reported([.failed(.linear)]) == ["viewUndetermined", "error"])
    }

    @Test("The plan of calls is that of a player without a view")
    func plan() throws {
        let ad = try resolved(VAST.inLine(extra: Self.verified))
        let plan = AdCallPlan(ad, media: nil, macros: MacroValues())
        let expected = ["impression", "verificationNotExecuted", "verificationNotExecuted", "viewUndetermined"]
        #expect(plan.timed.map(\.name) == expected)
        #expect(plan.timed[1].url.secretText == "https://one.test/x?why=2")
        #expect(plan.conditional.map(\.name) == ["viewable", "notViewable", "error"])
    }

    @Test("A beacon carries the position at which it was due")
    func playhead() throws {
        var tracking = try tracking(VAST.inLine(events: VAST.event("midpoint", "https://t.test/m?at=[ADPLAYHEAD]")))
        _ = tracking.handle(.started)
        let beacon = try #require(tracking.handle(.moved(to: 17 * Self.second)).first)
        #expect(beacon.expanded(MacroValues()).secretText == "https://t.test/m?at=00%3A00%3A10.000")
    }

    @Test("VAST 2 names the close of an ad `close`, and the whole screen `fullscreen`")
    func secondVersion() throws {
        var tracking = try tracking(VAST.inLine(events: VAST.event("close") + VAST.event("fullscreen")))
        _ = tracking.handle(.started)
        #expect(names(tracking.handle(.expanded(true))) == ["fullscreen"])
        #expect(names(tracking.handle(.closed)) == ["close"])
    }
}
