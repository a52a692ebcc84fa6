import Foundation
import InstrumentJSON
import LoopbackServers
import Testing

extension CommandLineTests {
    private static let placement = "/DA0AAAAAAAA///wBQb+cr0AUAAeAhxDVUVJSAAAjn/PAAGlmbAICAAAAAAsoKGKNAIAmsnRfg=="

    @Test("scte35 prints the fields of a section as text and as JSON")
    func splice() throws {
        let text = try Run.playerMonitor("scte35", Self.placement)
        #expect(text.status == 0)
        #expect(text.output.contains("pts_time_seconds: 21388.766756\n"))
        #expect(text.output.contains("segmentation_type_name: Provider Placement Opportunity Start\n"))
        let run = try Run.playerMonitor("scte35", "--format", "json", Self.placement, Self.placement)
        let lines = run.output.split(separator: "\n")
        #expect(lines.count == 2)
        let json = try JSONValue(parsing: String(lines[0]))
        #expect(json["splice_command"]?["pts_time_seconds"] == .double(21388.766756))
    }

    @Test("scte35 reads sections from a file and ends with code 1 when one is malformed")
    func spliceFile() throws {
        let path = NSTemporaryDirectory() + "sections-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let damaged = Self.placement.replacingOccurrences(of: "cr0", with: "cr1")
        try [Self.placement, "", damaged].joined(separator: "\n").write(toFile: path, atomically: true, encoding: .utf8)
        let run = try Run.playerMonitor("scte35", "--format", "json", "@" + path)
        #expect(run.status == 1)
        let lines = try run.output.split(separator: "\n").map { try JSONValue(parsing: String($0)) }
        #expect(lines.map { $0["error"] } == [nil, "checksum"])
        // What the damaged section says is shown beside the error.
        #expect(lines.last?["section"]?["splice_command"]?["name"] == "time_signal")
        let document = "<Signal>\n<SpliceInfoSection>\n<SpliceNull/>\n</SpliceInfoSection></Signal>\n"
        try document.write(toFile: path, atomically: true, encoding: .utf8)
        let markup = try Run.playerMonitor("scte35", "--format", "json", "@" + path)
        #expect(markup.status == 0)
        #expect(try JSONValue(parsing: markup.output)["splice_command"]?["name"] == "splice_null")
        #expect(try Run.playerMonitor("scte35", "@/nonexistent").status == 2)
        #expect(try Run.playerMonitor("scte35", "no\u{1B}section").status == 1)
    }

    /// A VAST document with one ad.
    private static func vast(duration: String = "00:00:20") -> String {
        """
        <VAST version="3.0"><Ad id="one"><InLine><AdSystem>s</AdSystem><AdTitle>A title</AdTitle>
        <Impression>https://t.test/i?cb=[CACHEBUSTING]&amp;x=[UNKNOWN]</Impression><Error>https://t.test/e?[ERRORCODE]</Error>
        <Creatives><Creative><Linear><Duration>\(duration)</Duration><TrackingEvents>
        <Tracking event="midpoint">https://t.test/m?at=[ADPLAYHEAD]</Tracking><Tracking event="pause">https://t.test/p</Tracking>
        </TrackingEvents><MediaFiles><MediaFile delivery="progressive" type="video/mp4" width="1" height="1">https://m.test/a.mp4</MediaFile>
        </MediaFiles></Linear></Creative></Creatives></InLine></Ad></VAST>
        """
    }

    private func withDocument(_ text: String, _ body: (String) throws -> Void) throws {
        let path = NSTemporaryDirectory() + "ads-\(UUID().uuidString).xml"
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(atPath: path) }
        try body(path)
    }

    @Test("ads validate lists every call with its time and its macros filled in")
    func validateVAST() throws {
        try withDocument(Self.vast()) { path in
            let run = try Run.playerMonitor("ads", "validate", path)
            #expect(run.status == 0, "\(run.output)")
            #expect(run.output.hasPrefix("VAST 3.0: 0 errors, 0 warnings, 0 failures\n"))
            #expect(run.output.contains("ad 1: A title, id one, 00:00:20.000\n"))
            #expect(run.output.contains("00:00:10.000"))
            #expect(run.output.contains("https://t.test/m?at=00%3A00%3A10.000\n"))
            #expect(run.output.contains("on pause"))
            #expect(run.output.contains("https://t.test/e?900\n"))
            #expect(run.output.contains("&x=[UNKNOWN]\n") && !run.output.contains("CACHEBUSTING"))
            let json = try JSONValue(parsing: try Run.playerMonitor("ads", "validate", path, "--format", "json").output)
            #expect(json["valid"] == true && json["document"] == "VAST 3.0")
        }
    }

    @Test("ads validate lists icons, companions and verification scripts, with and without calls")
    func accessories() throws {
        let icon =
            "<Icons><Icon program=\"AdChoices\" width=\"20\" height=\"20\">"
            + "<StaticResource creativeType=\"image/png\">https://t.test/i.png</StaticResource><IconClicks><IconClickTracking>https://t.test/iconclick"
            + "</IconClickTracking></IconClicks><IconViewTracking>https://t.test/iconview</IconViewTracking></Icon></Icons>"
        let companion =
            "</Linear></Creative><Creative><CompanionAds><Companion id=\"c\" width=\"300\" height=\"250\">"
            + "<StaticResource creativeType=\"image/png\">https://t.test/c.png</StaticResource></Companion></CompanionAds>"
        let document = Self.vast().replacingOccurrences(of: "<MediaFiles>", with: icon + "<MediaFiles>")
            .replacingOccurrences(of: "</Linear>", with: companion)
        try withDocument(document) { path in
            let text = try Run.playerMonitor("ads", "validate", path)
            #expect(text.status == 0, "\(text.output)")
            #expect(text.output.contains("icon  AdChoices, 20 x 20, 2 calls\n"))
            #expect(text.output.contains("companion  c, 300 x 250, without calls\n"))
            let json = try JSONValue(parsing: try Run.playerMonitor("ads", "validate", path, "--format", "json").output)
            let ad = Self.first("ads", of: Self.first("parts", of: json))
            #expect(Self.first("icons", of: ad)?["name"] == "AdChoices")
            #expect(Self.first("companions", of: ad)?["calls"] == 0)
            for address in ["https://t.test/iconview", "https://t.test/iconclick"] {
                #expect(text.output.contains(address + "\n"))
            }
        }
    }

    private static func first(_ name: String, of json: JSONValue?) -> JSONValue? {
        if case .array(let values)? = json?[name] { values.first } else { nil }
    }

    @Test("ads validate gives `complete` no position without a duration, and an error for media that no player plays")
    func unplayable() throws {
        let withoutDuration = Self.vast().replacingOccurrences(of: "<Duration>00:00:20</Duration>", with: "")
            .replacingOccurrences(of: "event=\"midpoint\"", with: "event=\"complete\"")
        try withDocument(withoutDuration) { path in
            let run = try Run.playerMonitor("ads", "validate", path)
            #expect(run.output.contains("on complete") && !run.output.contains("00:00:00.000  complete"))
        }
        try withDocument(Self.vast().replacingOccurrences(of: "video/mp4", with: "video/x-flv")) { path in
            let run = try Run.playerMonitor("ads", "validate", path)
            #expect(run.status == 1)
            #expect(run.output.contains("(found `video/x-flv`)") && run.output.contains("(code 403)"))
        }
        let error = "<Error>https://t.test/e?[ERRORCODE]</Error>"
        for (creatives, code) in [("<Linear></Linear>", 403), ("<CompanionAds></CompanionAds>", 201)] {
            let ad =
                "<VAST version=\"4.2\"><Ad><InLine><AdSystem>s</AdSystem><AdTitle>t</AdTitle>\(error)"
                + "<Creatives><Creative>\(creatives)</Creative></Creatives></InLine></Ad></VAST>"
            try withDocument(ad) { path in
                let run = try Run.playerMonitor("ads", "validate", path)
                // The player calls the address with the code of the finding that makes it refuse the ad.
                #expect(run.output.contains("(code \(code))") && run.output.contains("https://t.test/e?\(code)"))
            }
        }
    }

    @Test("ads validate ends with code 1 and names the clause when a document is malformed")
    func validateMalformed() throws {
        try withDocument(Self.vast(duration: "20")) { path in
            let run = try Run.playerMonitor("ads", "validate", path)
            #expect(run.status == 1)
            #expect(
                run.output.contains(
                    "error [VAST 3.0, section 3.8.1] VAST/Ad/InLine/Creatives/Creative/Linear/Duration:"
                )
            )
        }
        try withDocument("<!DOCTYPE x [<!ENTITY a \"b\">]><VAST version=\"3.0\"/>") { path in
            let run = try Run.playerMonitor("ads", "validate", path)
            #expect(run.status == 1 && run.output.contains("(code 100)"))
        }
        // A response without an ad is valid: ad servers send it when they have none.
        try withDocument("<VAST version=\"4.2\"><Error>https://t.test/e?[ERRORCODE]</Error></VAST>") { path in
            let run = try Run.playerMonitor("ads", "validate", path)
            #expect(run.status == 0 && run.output.contains("https://t.test/e?303"))
        }
        #expect(try Run.playerMonitor("ads", "validate", "/nonexistent").status == 2)
        for source in ["", "ftp://ads.test/vast.xml"] {
            let refused = try Run.playerMonitor("ads", "validate", source)
            #expect(refused.status == 2 && refused.errors.contains("must be a file, or an http or https address"))
        }
        #expect(try Run.playerMonitor("ads", "validate", "-", "--macro", "x").status == 2)
    }

    @Test("ads validate follows wrappers, and refuses private addresses on request")
    func validateWrapper() throws {
        let server = try TestServer { request in
            let wrapper = """
                <VAST version="3.0"><Ad><Wrapper><AdSystem>s</AdSystem><VASTAdTagURI>/inner?c=[CONTENTID]</VASTAdTagURI>
                <Impression>https://w.test/i</Impression></Wrapper></Ad></VAST>
                """
            return [.respond("200 OK", Array((request.target.hasPrefix("/inner") ? Self.vast() : wrapper).utf8))]
        }
        let run = try Run.playerMonitor("ads", "validate", server.url("/outer"), "--macro", "CONTENTID=film 7")
        #expect(run.status == 0, "\(run.output)")
        #expect(run.output.contains("through 1 wrapper\n") && run.output.contains("https://w.test/i"))
        #expect(server.requests.map(\.target) == ["/outer", "/inner?c=film%207"])
        // Macros in the address of the document itself.
        let macro = try Run.playerMonitor(
            "ads",
            "validate",
            server.url("/outer?c=[CONTENTID]"),
            "--macro",
            "CONTENTID=1",
            "--offline"
        )
        // What is not fetched on purpose is no error.
        #expect(macro.status == 0 && macro.output.contains("0 errors, 0 warnings, 1 failure\n"), "\(macro.output)")
        #expect(server.requests.last?.target == "/outer?c=1")
        let refused = try Run.playerMonitor("ads", "validate", server.url("/outer"), "--refuse-private-addresses")
        #expect(refused.status == 1)
        #expect(server.requests.count == 3)
    }
}
