import Instrument
import InstrumentHTTP
import InstrumentManifests
import Testing

@Suite("Content steering")
struct SteeringTests {
    private func steering(_ text: String) throws -> SteeringManifest {
        try SteeringManifest(parsing: Array(text.utf8), at: address("https://steer.test/a/b"))
    }

    @Test func theAnswerOfASteeringServerIsRead() throws {
        let manifest = try steering(
            """
            {"VERSION":1,"TTL":12.5,"RELOAD-URI":"c?s=1","PATHWAY-PRIORITY":["two","one",3],"PATHWAY-CLONES":[
            {"BASE-ID":"one","ID":"three","URI-REPLACEMENT":{"HOST":"three.test:8443","PARAMS":{"t":"1"}}},{"ID":"x"}]}
            """
        )
        #expect(manifest.timeToLive == 12_500_000_000 && manifest.priority == ["two", "one"])
        #expect(manifest.reloadURL == (try address("https://steer.test/a/c?s=1")))
        let clone = try #require(manifest.clones.first)
        #expect(manifest.clones.count == 1 && clone.base == "one" && clone.id == "three")
        #expect(clone.host == "three.test:8443" && clone.parameters == ["t": "1"])
    }

    @Test(arguments: [
        "{\"VERSION\":1}", "{\"VERSION\":1,\"TTL\":0}", "{\"VERSION\":1,\"TTL\":-5,\"PATHWAY-PRIORITY\":7}",
    ])
    func aTimeThatIsMissingOrTooShortIsReplaced(text: String) throws {
        let manifest = try steering(text)
        #expect(manifest.timeToLive >= 1_000_000_000 && manifest.priority.isEmpty && manifest.clones.isEmpty)
    }

    @Test(arguments: ["", "[]", "{}", "{\"VERSION\":2}", "{\"VERSION\":\"1\"}", "tomorrow"])
    func textThatIsNoSteeringManifestIsAnError(text: String) throws {
        #expect(manifestError { _ = try steering(text) }?.code == .malformed)
    }

    @Test func steeringServersOfMPDsAndPlaylistsAreFound() throws {
        let element = """
            <ContentSteering defaultServiceLocation="b a" queryBeforeStart="true">https://steer.test/x</ContentSteering>
            """
        let period = """
            <BaseURL serviceLocation="a">https://a.test/</BaseURL><Period><AdaptationSet mimeType="video/mp4">
            <SegmentTemplate duration="4" media="$Number$"/><Representation id="v" bandwidth="1"/></AdaptationSet></Period>
            """
        let show = try presentation(mpd(period, before: element))
        let url = try address("https://steer.test/x")
        #expect(show.steering == ContentSteering(url: url, initialOrder: ["b", "a"], isAskedBeforeStart: true))
        // One server alone can be cloned.
        #expect(show.locations.map { $0.locations.map(\.id) } == [["a"]])
    }
}
