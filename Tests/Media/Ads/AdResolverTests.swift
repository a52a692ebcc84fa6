import Instrument
import InstrumentHTTP
import Testing

@testable import InstrumentAds

@Suite("Resolution of wrappers")
struct AdResolverTests {
    private func resolve(
        _ documents: [String: String],
        limits: AdLimits = AdLimits(),
        version: String = "4.2",
        macros: MacroValues = MacroValues()
    ) async -> (selection: AdSelection, requests: [String]) {
        let fetcher = ScriptedFetcher(documents.mapValues { VAST.document($0, version: version) })
        let selection = await AdResolver(fetcher, limits: limits).ads(at: AdURL("https://a.test/0"), macros: macros)
        return (selection, await fetcher.script.requests)
    }

    @Test("A chain of wrappers leads to the ad, with the events of all, the outermost first")
    func chain() async throws {
        let clicks = "<VideoClicks><ClickThrough>https://c.test/inner</ClickThrough></VideoClicks>"
        let (selection, requests) = await resolve([
            "https://a.test/0": VAST.wrapper("/1", id: "w0", events: VAST.event("start", "https://w.test/0")),
            "https://a.test/1": VAST.wrapper(
                "https://b.test/2",
                id: "w1",
                events: VAST.event("start", "https://w.test/1")
            ),
            "https://b.test/2": VAST.inLine(events: VAST.event("start"), clicks: clicks),
        ])
        #expect(requests == ["https://a.test/0", "https://a.test/1", "https://b.test/2"])
        #expect(selection.failures.isEmpty)
        let ad = try #require(selection.ads.first)
        #expect(
            ad.impressions.map(\.description) == ["https://w.test/imp", "https://w.test/imp", "https://t.test/imp"]
        )
        #expect(
            ad.linear?.events.map(\.url.secretText) == ["https://w.test/0", "https://w.test/1", "https://t.test/start"]
        )
        #expect(ad.errors.count == 3)
        #expect(ad.linear?.clickThrough?.secretText == "https://c.test/inner")
        #expect(ad.wrappers.map(\.id) == ["w0", "w1"])
    }

    /// VAST 4.2, section 2.3.6: the addresses of `Error` are called for an ad that cannot be used.
    @Test("An ad that no player can use fails with code 101 and its own errors, and a stand-alone ad replaces it")
    func refused() async throws {
        let wrapper = VAST.wrapper("", id: "w", sequence: 2)
        let neither = "<Ad id=\"n\"/>"
        let (pod, _) = await resolve([
            "https://a.test/0": VAST.inLine(id: "a", sequence: 1) + wrapper + neither + VAST.inLine(id: "b")
        ])
        #expect(pod.ads.map(\.ad.id) == ["a", "b"])
        #expect(pod.failures.map(\.code) == [.schema, .schema])
        #expect(pod.failures.first?.urls.map(\.secretText) == ["https://w.test/err?w=[ERRORCODE]"])
        let outer = VAST.wrapper("https://a.test/1", id: "o")
        let (alone, _) = await resolve(["https://a.test/0": outer, "https://a.test/1": VAST.wrapper("", id: "w")])
        #expect(alone.ads.isEmpty && alone.failures.map(\.code) == [.schema])
        #expect(
            alone.failures.first?.urls.map(\.secretText) == [
                "https://w.test/err?o=[ERRORCODE]", "https://w.test/err?w=[ERRORCODE]",
            ]
        )
    }

    @Test("A tag without a scheme has https where no document gives one")
    func schemeless() async throws {
        let fetcher = ScriptedFetcher(["https://b.test/1": VAST.document(VAST.inLine())])
        let response = try VASTResponse(parsing: VAST.document(VAST.wrapper("//b.test/1")))
        let selection = await AdResolver(fetcher).ads(of: response, at: nil)
        #expect(selection.ads.count == 1 && selection.failures.isEmpty)
    }

    @Test("The click address nearest to the ad wins")
    func clickThrough() async throws {
        func clicks(_ name: String) -> String {
            "<Creatives><Creative><Linear><VideoClicks><ClickThrough>https://c.test/\(name)</ClickThrough></VideoClicks></Linear></Creative></Creatives>"
        }
        let wrapper = { (tag: String, name: String) in
            "<Ad><Wrapper><AdSystem>s</AdSystem><Impression>https://t.test/</Impression><VASTAdTagURI>\(tag)</VASTAdTagURI>\(clicks(name))</Wrapper></Ad>"
        }
        let (selection, _) = await resolve([
            "https://a.test/0": wrapper("https://a.test/1", "outer"),
            "https://a.test/1": wrapper("https://a.test/2", "middle"),
            "https://a.test/2": VAST.inLine(),
        ])
        #expect(selection.ads.first?.linear?.clickThrough?.secretText == "https://c.test/middle")
    }

    @Test("A loop of wrappers ends at the limit with error 302 for the whole chain")
    func loop() async {
        let (selection, requests) = await resolve(["https://a.test/0": VAST.wrapper("https://a.test/0")])
        #expect(selection.ads.isEmpty)
        #expect(requests.count == 6)
        #expect(selection.failures.map(\.code) == [.wrapperLimit])
        #expect(selection.failures.first?.urls.count == 6)
    }

    @Test("Error 302 also calls the errors at the root of the responses")
    func loopWithRootErrors() async {
        let inner = "<Error>https://root.test/e</Error>" + VAST.wrapper("https://a.test/0")
        let (selection, _) = await resolve(["https://a.test/0": inner])
        #expect(selection.failures.map(\.code) == [.wrapperLimit])
        #expect(selection.failures.first?.urls.filter { $0.secretText == "https://root.test/e" }.count == 6)
    }

    @Test("A break that follows no redirects ignores wrappers", arguments: [true, false])
    func redirects(follows: Bool) async {
        let fetcher = ScriptedFetcher([
            "https://a.test/0": VAST.document(VAST.wrapper("https://a.test/1")),
            "https://a.test/1": VAST.document(VAST.inLine()),
        ])
        var adBreak = AdBreak(time: .start, kinds: [.linear])
        (adBreak.source, adBreak.followsRedirects) = (.tag(AdURL("https://a.test/0")), follows)
        let selection = await AdResolver(fetcher).ads(of: adBreak, at: nil)
        #expect(selection.ads.count == (follows ? 1 : 0))
        #expect(selection.failures.map(\.code) == (follows ? [] : [.noAds]))
        #expect(await fetcher.script.requests.count == (follows ? 2 : 1))
    }

    @Test("Clicks of wrappers' non-linear ads, and the types of all extensions, join those of the ad")
    func merging() async throws {
        func nonLinear(_ name: String) -> String {
            "<Creatives><Creative><NonLinearAds><NonLinear width=\"1\" height=\"1\">"
                + "<StaticResource creativeType=\"image/png\">https://m.test/i.png</StaticResource>"
                + "<NonLinearClickTracking>https://\(name).test/click</NonLinearClickTracking></NonLinear>"
                + "</NonLinearAds></Creative></Creatives><Extensions><Extension type=\"\(name)\"/></Extensions>"
        }
        let (selection, _) = await resolve([
            "https://a.test/0": "<Ad><Wrapper><AdSystem>w</AdSystem><VASTAdTagURI>https://a.test/1</VASTAdTagURI>"
                + "<Impression>https://w.test/i</Impression>\(nonLinear("outer"))</Wrapper></Ad>",
            "https://a.test/1": "<Ad><InLine><AdSystem>i</AdSystem><AdTitle>t</AdTitle>"
                + "<Impression>https://i.test/i</Impression>\(nonLinear("inner"))</InLine></Ad>",
        ])
        let ad = try #require(selection.ads.first)
        #expect(
            ad.nonLinear?.variants.map { $0.clickTracking.map(\.secretText) }
                == [["https://outer.test/click", "https://inner.test/click"]]
        )
        #expect(ad.extensionTypes == ["outer", "inner"])
    }

    @Test("Wrappers that branch stop at the limit of responses")
    func branches() async {
        let wrappers = (0..<20).map {
            VAST.wrapper("https://a.test/0", id: "\($0)", sequence: $0 + 1, attributes: "allowMultipleAds=\"true\"")
        }
        let (selection, requests) = await resolve(["https://a.test/0": wrappers.joined()])
        #expect(requests.count == AdLimits().fetches)
        #expect(selection.ads.isEmpty)
        #expect(selection.failures.count <= AdLimits().findings)
    }

    @Test("Each failure of a wrapper has its code and calls the errors of the chain and of the root")
    func failures() async {
        let wrapper = VAST.wrapper("https://a.test/1")
        let cases: [(String?, VASTErrorCode, [String])] = [
            (nil, .wrapperUnavailable, ["https://w.test/err?w=[ERRORCODE]"]),
            (
                "<Error>https://root.test/e?[ERRORCODE]</Error>", .noAds,
                ["https://root.test/e?[ERRORCODE]", "https://w.test/err?w=[ERRORCODE]"]
            ),
        ]
        for (inner, code, urls) in cases {
            var documents = ["https://a.test/0": wrapper]
            documents["https://a.test/1"] = inner
            let (selection, _) = await resolve(documents)
            #expect(selection.failures.map(\.code) == [code])
            #expect(selection.failures.first?.urls.map(\.secretText) == urls)
        }
        let fetcher = ScriptedFetcher([
            "https://a.test/0": VAST.document(wrapper), "https://a.test/1": Array("<VAST version=\"9.9\"/>".utf8),
        ])
        let unknown = await AdResolver(fetcher).ads(at: AdURL("https://a.test/0"))
        #expect(unknown.failures.map(\.code) == [.version])
        let broken = await AdResolver(ScriptedFetcher(["https://a.test/0": Array("<VAST".utf8)])).ads(
            at: AdURL("https://a.test/0")
        )
        #expect(broken.failures.map(\.code) == [.xml])
        let address = await AdResolver(ScriptedFetcher([:])).ads(at: AdURL("ftp://a.test/0"))
        #expect(address.failures.map(\.code) == [.wrapperUnavailable])
    }

    @Test("A wrapper without additional wrappers ignores them, and one ad is the first stand-alone ad")
    func restrictions() async {
        let (ignoring, requests) = await resolve([
            "https://a.test/0": VAST.wrapper("https://a.test/1", attributes: "followAdditionalWrappers=\"false\""),
            "https://a.test/1": VAST.wrapper("https://a.test/2"),
        ])
        #expect(ignoring.failures.map(\.code) == [.noAds])
        #expect(requests.count == 2)
        let pod = VAST.inLine(id: "p", sequence: 1) + VAST.inLine(id: "x") + VAST.inLine(id: "y")
        let (one, _) = await resolve(["https://a.test/0": VAST.wrapper("https://a.test/1"), "https://a.test/1": pod])
        #expect(one.ads.map(\.ad.id) == ["x"])
        let (all, _) = await resolve([
            "https://a.test/0": VAST.wrapper("https://a.test/1", attributes: "allowMultipleAds=\"true\""),
            "https://a.test/1": pod,
        ])
        #expect(all.ads.map(\.ad.id) == ["p"])
        #expect(all.fallbacks.map(\.ad.id) == ["x", "y"])
    }

    @Test("A pod plays in the order of its sequence; stand-alone ads are fallbacks")
    func pods() async {
        let pod =
            [3, 1, 2].map { (number: Int) in VAST.inLine(id: "p\(number)", sequence: number) }.joined()
            + VAST.inLine(id: "x")
        let (selection, _) = await resolve(["https://a.test/0": pod])
        #expect(selection.ads.map(\.ad.id) == ["p1", "p2", "p3"])
        #expect(selection.fallbacks.map(\.ad.id) == ["x"])
        let (alone, _) = await resolve(["https://a.test/0": VAST.inLine(id: "x") + VAST.inLine(id: "y")])
        #expect(alone.ads.map(\.ad.id) == ["x"])
        #expect(alone.fallbacks.map(\.ad.id) == ["y"])
    }

    @Test("A wrapper in a pod that has no ad is replaced by a stand-alone ad, unless it forbids that")
    func fallback() async {
        for (attributes, expected) in [
            ("", ["p1", "x"]), ("fallbackOnNoAd=\"true\"", ["p1", "x"]), ("fallbackOnNoAd=\"false\"", ["p1"]),
        ] {
            let ads =
                VAST.inLine(id: "p1", sequence: 1)
                + VAST.wrapper("https://a.test/none", id: "w", sequence: 2, attributes: attributes)
                + VAST.inLine(id: "x")
            let (selection, _) = await resolve(["https://a.test/0": ads])
            #expect(selection.ads.map(\.ad.id) == expected)
            #expect(selection.failures.map(\.code) == [.wrapperUnavailable])
        }
    }

    @Test("An ad of a category that a wrapper blocks fails with code 205")
    func blocked() async {
        let (selection, _) = await resolve([
            "https://a.test/0": VAST.wrapper(
                "https://a.test/1",
                extra: "<BlockedAdCategories authority=\"a\">IAB2, IAB1</BlockedAdCategories>"
            ),
            "https://a.test/1": VAST.inLine(extra: "<Category authority=\"a\">IAB1</Category>"),
        ])
        #expect(selection.ads.isEmpty)
        #expect(selection.failures.map(\.code) == [.blockedCategory])
    }

    @Test("Macros of tags are filled in before the request")
    func macros() async throws {
        let fetcher = ScriptedFetcher(["https://a.test/0": VAST.document(VAST.inLine())])
        let tag = AdURL("https://a.test/0?c=[CONTENTID]&cb=[CACHEBUSTING]&x=[UNKNOWN]")
        _ = await AdResolver(fetcher).ads(at: tag, macros: MacroValues(["CONTENTID": .text("film 7")]))
        let request = try #require(await fetcher.script.requests.first)
        #expect(request.hasPrefix("https://a.test/0?c=film%207&cb="))
        #expect(!request.contains("CACHEBUSTING"))
        #expect(request.hasSuffix("&x=[UNKNOWN]") || request.hasSuffix("&x=%5BUNKNOWN%5D"))
    }

    @Test("The time for all responses bounds a chain of slow responses")
    func totalTimeout() async {
        let clock = VirtualClock()
        let fetcher = SlowFetcher(clock: clock, bytes: VAST.document(VAST.wrapper("https://a.test/0")))
        var limits = AdLimits()
        limits.wrappers = 1_000
        let selection = await AdResolver(fetcher, limits: limits, clock: clock).ads(at: AdURL("https://a.test/0"))
        #expect(selection.ads.isEmpty)
        #expect(selection.failures.map(\.code) == [.wrapperUnavailable])
        // Three responses take twelve of fifteen seconds; the fourth is late.
        #expect(selection.fetchCount == 4)
    }
}

/// Takes four seconds for each response, by its clock.
private struct SlowFetcher: AdFetching {
    let clock: VirtualClock
    let bytes: [UInt8]

    func fetch(_ url: HTTPURL, timeout: Duration) async throws(AdFetchError) -> AdDocument {
        clock.advance(by: min(.seconds(4), timeout))
        if timeout < .seconds(4) { throw AdFetchError("late", isTimeOut: true) }
        return AdDocument(bytes: bytes, url: url)
    }
}
