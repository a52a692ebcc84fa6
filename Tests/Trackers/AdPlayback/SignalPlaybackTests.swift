import Foundation
import Instrument
import InstrumentAds
import InstrumentHTTP
import InstrumentOrigin
import InstrumentProbe
import InstrumentTransport
import TestTraits
import Testing

/// Signals of streams at the playhead, in virtual time.
@Suite("Signals at the playhead", .ownThread, .timeLimit(.minutes(30)))
struct SignalPlaybackTests {
    private static let base64 = "/DAvAAAAAAAA///wFAVIAACPf+/+c2nALv4AUsz1AAAAAAAKAAhDVUVJAAABNWLbowo="

    /// `kind/source@position` of each signal, in order.
    private func signals(_ played: Staged) -> [String] {
        played.all(.adSignal).map { event in
            let position = event[.position].map { Int64($0.milliseconds) } ?? -1
            return "\(event[.adSignalKind] ?? "")/\(event[.adSignalSource] ?? "")@\(position)"
        }
    }

    private func warnings(_ played: Staged) -> [String] {
        played.all(.streamWarning).filter { $0[.warningCode] == "adSignal" }.compactMap { $0[.warningDescription] }
    }

    @Test(
        "A signal of a playlist is reported when the playhead reaches it",
        arguments: [
            ("cue", ["breakBegin/EXT-X-CUE-OUT@2000", "breakEnd/EXT-X-CUE-IN@4000"]),
            (
                "cue-cont",
                [
                    "breakBegin/EXT-X-CUE-OUT@2000", "breakContinue/EXT-X-CUE-OUT-CONT@4000",
                    "breakContinue/EXT-X-CUE-OUT-CONT@6000", "breakEnd/EXT-X-CUE-IN@8000",
                ]
            ), ("daterange", ["breakBegin/EXT-X-DATERANGE@2000", "breakEnd/EXT-X-DATERANGE@6000"]),
            ("stream", ["breakBegin/stream type 0x86@4000", "breakEnd/stream type 0x86@8000"]),
            ("oatcls", ["breakBegin/EXT-OATCLS-SCTE35@2000"]), ("scte35", ["breakBegin/EXT-X-SCTE35@2000"]),
            ("splicepoint", ["breakBegin/EXT-X-SPLICEPOINT-SCTE35@2000"]),
        ]
    )
    func playlists(name: String, expected: [String]) async throws {
        let played = try await Stage.play("vod/ts/ads-\(name).m3u8")
        #expect(signals(played) == expected)
        let instants = played.all(.adSignal).map { $0.time.instant.milliseconds }
        #expect(instants == played.all(.adSignal).map { $0[.position].map { Int64($0.milliseconds) } })
        #expect(played.outcome == .ended && played.rejected.isEmpty)
    }

    @Test(
        "The origin's streams with signals in segments and MPDs play, and report them",
        arguments: [
            ("fmp4/ads-emsg.m3u8", ["breakBegin/emsg@4000", "breakEnd/emsg@8000"]),
            ("dash/ads-inband.mpd", ["breakBegin/emsg@4000", "breakEnd/emsg@8000"]),
            (
                "dash/ads-signals.mpd",
                ["breakBegin/EventStream@4000", "breakBegin/EventStream@12000", "breakEnd/EventStream@16000"]
            ),
        ]
    )
    func origin(path: String, expected: [String]) async throws {
        let played = try await Stage.play("vod/" + path)
        #expect(signals(played) == expected && warnings(played).isEmpty, "\(warnings(played))")
        #expect(played.outcome == .ended && played.rejected.isEmpty)
        #expect(played.all(.end).map { $0[.position]?.milliseconds } == [24_000])
        let beacons = played.calls.flatMap(\.beacons).map { $0.url.secretText.split(separator: "/").last ?? "" }
        #expect(beacons == (path.hasSuffix("signals.mpd") ? ["beacon?event=callback"] : []))
    }

    @Test("The origin's MPDs with ads play them: inserted, in place of content, and in a period")
    func originAds() async throws {
        let alternative = try await Stage.play("vod/dash/ads-alternative.mpd")
        #expect(alternative.all(.pauseBegin).map { $0[.position]?.milliseconds } == [4_000, 12_000])
        #expect(alternative.all(.pauseFinish).map { $0[.position]?.milliseconds } == [4_000, 16_000])
        let periods = try await Stage.play("vod/dash/ads-periods.mpd")
        #expect(
            periods.course == [
                "Start@0:0", "AdBreakBegin@8000:8000", "AdBegin@8000:8000", "AdFinish@12000:12000",
                "AdBreakFinish@12000:12000", "End@24000:24000",
            ]
        )
        #expect(alternative.rejected.isEmpty && periods.rejected.isEmpty)
    }

    @Test("A signal is reported once, also if the playhead passes it again, and not if a seek jumps over it")
    func seeking() async throws {
        let again = try await Stage.play(
            "vod/ts/ads-cue.m3u8",
            script: { clock, probe in clock.at(6000) { [weak probe] in probe?.seek(to: .seconds(1)) } }
        )
        #expect(signals(again) == ["breakBegin/EXT-X-CUE-OUT@2000", "breakEnd/EXT-X-CUE-IN@4000"])
        #expect(again.all(.end).map { $0.time.instant.milliseconds } == [29_000])
        let over = try await Stage.play(
            "vod/ts/ads-cue.m3u8",
            script: { clock, probe in clock.at(1000) { [weak probe] in probe?.seek(to: .seconds(3)) } }
        )
        #expect(signals(over) == ["breakEnd/EXT-X-CUE-IN@4000"])
    }

    @Test("An orphaned end and a section with a wrong checksum or length are warnings, and content plays on")
    func malformed() async throws {
        let orphan = try await Stage.play("vod/ts/ads-orphaned.m3u8")
        #expect(warnings(orphan).contains { $0.contains("EXT-X-CUE-IN follows no EXT-X-CUE-OUT") })
        #expect(orphan.outcome == .ended)
        // The last byte of the checksum, which packagers leave behind; the length of the section.
        let broken = [
            ("/DAvAAAAAAAA///wFAVIAACPf+/+c2nALv4AUsz1AAAAAAAKAAhDVUVJAAABNWLbows=", "the checksum is not that of", 1),
            ("/DD/AAAAAAAA///wFAVIAACPf+/+c2nALv4AUsz1AAAAAAAKAAhDVUVJAAABNWLbowo=", "section_length", 0),
        ]
        for (section, warning, count) in broken {
            let text = Playlist.text(6, tags: [1: ["#EXT-OATCLS-SCTE35:\(section)"]])
            let played = try await Stage.play("content.m3u8") { path, _ in
                path == "/content.m3u8" ? .text(text) : nil
            }
            #expect(signals(played).count == count, "\(section)")
            #expect(warnings(played).count { $0.contains(warning) } == 1, "\(warnings(played))")
            #expect(played.outcome == .ended)
        }
    }

    private func fetch(_ path: String) async throws -> [UInt8] {
        let transport = try SystemTransport()
        return try await transport.send(HTTPRequest(.get, try HTTPURL(try await Stage.origin().url(path)))).body
    }

    /// An MPD of the origin with further elements at the begin of its period.
    private func manifest(_ elements: String) async throws -> String {
        let text = String(decoding: try await fetch("vod/dash/number.mpd"), as: UTF8.self)
        let period = try #require(text.range(of: "<Period"))
        let end = try #require(text[period.upperBound...].firstIndex(of: ">"))
        return String(text[...end]) + elements + String(text[text.index(after: end)...])
    }

    @Test("Events of an MPD are signals, and an address to call is called at its position")
    func events() async throws {
        let text = try await manifest(
            """
            <EventStream schemeIdUri="urn:scte:scte35:2014:xml+bin" timescale="1000">
            <Event presentationTime="5000" duration="4000" id="7"><Signal xmlns="http://www.scte.org/schemas/35">
            <Binary>\(Self.base64)</Binary></Signal></Event></EventStream>
            <EventStream schemeIdUri="urn:mpeg:dash:event:callback:2015" timescale="1000">
            <Event presentationTime="3000" id="c">http://callback.example/x</Event></EventStream>
            """
        )
        let played = try await Stage.play("vod/dash/signals.mpd") { path, _ in
            path == "/vod/dash/signals.mpd" ? .text(text) : nil
        }
        #expect(signals(played) == ["breakBegin/EventStream@5000"])
        #expect(played.all(.adSignal).first?[.adSignalId] == "7")
        #expect(played.all(.adSignal).first?[.adSignalDuration] == .seconds(4))
        #expect(played.calls.flatMap(\.beacons).map(\.url.secretText) == ["http://callback.example/x"])
        #expect(played.outcome == .ended)
    }

    @Test("An alternative presentation plays in the place of content, or between its parts", arguments: [false, true])
    func alternatives(replaces: Bool) async throws {
        let name = replaces ? "replace" : "insert"
        let element = replaces ? "ReplacePresentation" : "InsertPresentation"
        let text = try await manifest(
            """
            <EventStream schemeIdUri="urn:mpeg:dash:event:alternativeMPD:\(name):2025" timescale="1000">
            <Event presentationTime="6000" id="a"><\(element) uri="number.mpd" maxDuration="4000"/></Event></EventStream>
            """
        )
        let played = try await Stage.play("vod/dash/alternative.mpd") { path, _ in
            path == "/vod/dash/alternative.mpd" ? .text(text) : nil
        }
        #expect(played.all(.adBegin).map { $0.time.instant.milliseconds } == [6000])
        #expect(played.all(.pauseBegin).map { $0[.position]?.milliseconds } == [6000])
        #expect(played.all(.pauseFinish).map { $0[.position]?.milliseconds } == [replaces ? 10_000 : 6000])
        #expect(played.all(.end).map { $0.time.instant.milliseconds } == [replaces ? 24_000 : 28_000])
        #expect(played.outcome == .ended && played.rejected.isEmpty)
    }

    /// An MPD of 24 seconds in periods that begin at these segments of two seconds; each names an asset, or none.
    private func stitched(_ periods: [(first: Int, asset: String?)]) async throws -> String {
        let text = String(decoding: try await fetch("vod/dash/number.mpd"), as: UTF8.self)
        let lines = text.split(separator: "\n").map(String.init)
        let begin = try #require(lines.firstIndex { $0.contains("<Period") })
        let end = try #require(lines.firstIndex { $0.contains("</Period") })
        var result = Array(lines[..<begin])
        for (number, period) in periods.enumerated() {
            let next = number + 1 < periods.count ? periods[number + 1].first : 12
            result.append(
                "<Period id=\"p\(number)\" start=\"PT\(2 * period.first)S\" duration=\"PT\(2 * (next - period.first))S\">"
            )
            if let asset = period.asset {
                result.append("<AssetIdentifier schemeIdUri=\"urn:org:example\" value=\"\(asset)\"/>")
            }
            for line in lines[(begin + 1)...end] {
                guard let scale = line.split(separator: "timescale=\"").last?.prefix(while: { $0 != "\"" }),
                    let timescale = Int(scale)
                else {
                    result.append(line)
                    continue
                }
                let offset = "presentationTimeOffset=\"\(2 * period.first * timescale)\""
                result.append(
                    line.replacing("startNumber=\"0\"", with: "startNumber=\"\(period.first)\" \(offset)")
                )
            }
        }
        return (result + lines[(end + 1)...]).joined(separator: "\n")
    }

    private func play(
        _ periods: [(first: Int, asset: String?)],
        script: (VirtualClock, Probe) -> Void = { _, _ in }
    ) async throws -> Staged {
        let document = try await stitched(periods)
        return try await Stage.play(
            "vod/dash/stitched.mpd",
            answers: { path, _ in path == "/vod/dash/stitched.mpd" ? .text(document) : nil },
            script: script
        )
    }

    @Test("A period of another asset is a break, for which the content does not stop", arguments: ["film", nil])
    func periods(content: String?) async throws {
        let played = try await play([(0, content), (6, "ad")])
        #expect(
            played.course == [
                "Start@0:0", "AdBreakBegin@12000:12000", "AdBegin@12000:12000", "AdFinish@24000:24000",
                "AdBreakFinish@24000:24000", "End@24000:24000",
            ]
        )
        #expect(played.all(.adSecondQuartile).map { $0.time.instant.milliseconds } == [18_000])
        #expect(played.all(.adBegin).first?[.adRoll] == .post)
        #expect(played.outcome == .ended && played.rejected.isEmpty)
    }

    @Test("Periods of ads that follow each other are one break")
    func consecutivePeriods() async throws {
        let played = try await play([(0, "film"), (4, "ad-1"), (5, "ad-2"), (7, "film")])
        #expect(
            played.course == [
                "Start@0:0", "AdBreakBegin@8000:8000", "AdBegin@8000:8000", "AdFinish@10000:10000",
                "AdBegin@10000:10000", "AdFinish@14000:14000", "AdBreakFinish@14000:14000", "End@24000:24000",
            ]
        )
        #expect(played.all(.adBreakBegin).map { $0[.adsRequested] } == [2])
        #expect(played.metrics.filter { $0.name == .adFillRate }.map(\.value) == [.double(1)])
        #expect(played.all(.adBegin).map { $0[.adRoll] } == [.mid, .mid])
        #expect(played.rejected.isEmpty)
    }

    @Test("A seek from one ad of a break into the next one leaves the break open, and a seek into content ends it")
    func seekBetweenPeriods() async throws {
        let ads: [(first: Int, asset: String?)] = [(0, "film"), (2, "ad-1"), (4, "ad-2"), (6, "film")]
        let within = try await play(ads) { clock, probe in
            clock.at(5_000) { [weak probe] in probe?.seek(to: .seconds(10)) }
        }
        #expect(within.all(.adBreakBegin).count == 1 && within.all(.adBreakFinish).count == 1)
        #expect(within.all(.adBegin).map { $0[.adId] } == ["p1", "p2"])
        #expect(within.all(.adFinish).count == 2 && within.rejected.isEmpty)
        let out = try await play(ads) { clock, probe in
            clock.at(5_000) { [weak probe] in probe?.seek(to: .seconds(18)) }
        }
        #expect(out.all(.adBreakBegin).count == 1 && out.all(.adBreakFinish).count == 1)
        #expect(out.all(.adBegin).count == 1 && out.all(.adFinish).count == 1 && out.rejected.isEmpty)
        #expect(out.outcome == .ended)
    }

    @Test("Events of two streams with one identifier are two presentations")
    func sameIdentifiers() async throws {
        let stream = { (value: Int, time: Int) in
            """
            <EventStream schemeIdUri="urn:mpeg:dash:event:alternativeMPD:insert:2025" value="\(value)" timescale="1000">
            <Event presentationTime="\(time)" id="a"><InsertPresentation uri="number.mpd" maxDuration="4000"/></Event></EventStream>
            """
        }
        let text = try await manifest(stream(1, 6000) + stream(2, 12_000))
        let played = try await Stage.play("vod/dash/alternative.mpd") { path, _ in
            path == "/vod/dash/alternative.mpd" ? .text(text) : nil
        }
        #expect(played.all(.adBegin).map { $0[.position]?.milliseconds } == [6000, 12_000])
        #expect(played.outcome == .ended && played.rejected.isEmpty)
    }

    @Test("Event messages of segments are signals at their position")
    func eventMessages() async throws {
        let segment = try await fetch("vod/fmp4/v0/1.m4s")
        let message = Self.eventMessage(delta: 500, Self.bytes(ofBase64: Self.base64))
        let played = try await Stage.play("vod/fmp4/v0.m3u8") { path, _ in
            path == "/vod/fmp4/v0/1.m4s" ? .bytes(message + segment) : nil
        }
        #expect(signals(played) == ["breakBegin/emsg@2500"])
        #expect(played.outcome == .ended)
    }

    @Test("Sections of a transport stream are signals of the stream that carries them")
    func transportStreams() async throws {
        let segment = try await fetch("vod/ts/v0/2.ts")
        let packets = Self.packets(of: Self.immediate)
        let played = try await Stage.play("vod/ts/v0.m3u8") { path, _ in
            path == "/vod/ts/v0/2.ts" ? .bytes(segment + packets) : nil
        }
        #expect(signals(played) == ["breakBegin/stream type 0x86@4000"])
        #expect(played.outcome == .ended)
        // A section whose checksum is wrong is a warning.
        var broken = Self.immediate
        broken[broken.count - 1] ^= 1
        let wrong = Self.packets(of: broken)
        let warned = try await Stage.play("vod/ts/v0.m3u8") { path, _ in
            path == "/vod/ts/v0/2.ts" ? .bytes(segment + wrong) : nil
        }
        #expect(signals(warned).isEmpty && warnings(warned).count == 1)
        #expect(warned.outcome == .ended)
    }
}

extension SignalPlaybackTests {
    private static func bytes(ofBase64 text: String) -> [UInt8] {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        var (bits, count, bytes): (UInt32, Int, [UInt8]) = (0, 0, [])
        for character in text.utf8 {
            guard let value = alphabet.firstIndex(of: character) else { continue }
            bits = bits << 6 | UInt32(value)
            count += 6
            guard count >= 8 else { continue }
            count -= 8
            bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
        }
        return bytes
    }

    /// An `emsg` box of version 0.
    private static func eventMessage(delta: UInt32, _ data: [UInt8]) -> [UInt8] {
        let number = { (value: UInt32) in
            [24, 16, 8, 0].map { (shift: UInt32) in UInt8(truncatingIfNeeded: value >> shift) }
        }
        let body =
            [0, 0, 0, 0] + Array("urn:scte:scte35:2013:bin".utf8) + [0] + Array("1".utf8) + [0]
            + number(1000) + number(delta) + number(4000) + number(9) + data
        return number(UInt32(body.count + 8)) + Array("emsg".utf8) + body
    }

    private static func checksum(_ bytes: [UInt8]) -> [UInt8] {
        var value: UInt32 = 0xFFFF_FFFF
        for byte in bytes {
            value ^= UInt32(byte) << 24
            for _ in 0..<8 { value = value & 0x8000_0000 != 0 ? value << 1 ^ 0x04C1_1DB7 : value << 1 }
        }
        return [24, 16, 8, 0].map { (shift: UInt32) in UInt8(truncatingIfNeeded: value >> shift) }
    }

    /// A program association, a program map with a stream of type 0x86, and a section in that stream.
    private static func packets(of section: [UInt8]) -> [UInt8] {
        let association: [UInt8] = [0x00, 0xB0, 0x0D, 0x00, 0x01, 0xC1, 0x00, 0x00, 0x00, 0x09, 0xE1, 0xF0]
        let map: [UInt8] = [
            0x02, 0xB0, 0x12, 0x00, 0x09, 0xC1, 0x00, 0x00, 0xFF, 0xFF, 0xF0, 0x00, 0x86, 0xE1, 0xF1, 0xF0, 0x00,
        ]
        return packet(0, association + checksum(association)) + packet(0x1F0, map + checksum(map))
            + packet(0x1F1, section)
    }

    /// A splice insert without a time: it takes effect where the section stands.
    private static var immediate: [UInt8] {
        let section: [UInt8] = [
            0xFC, 0x30, 0x1B, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 0xF0, 0x0A, 0x05, 0, 0, 0, 7, 0x7F, 0xDF, 0, 1, 0, 0, 0, 0,
        ]
        return section + checksum(section)
    }

    private static func packet(_ pid: UInt16, _ section: [UInt8]) -> [UInt8] {
        let head = [0x47, 0x40 | UInt8(pid >> 8), UInt8(pid & 0xFF), 0x10, 0]
        let bytes = head + section
        return bytes + Array(repeating: 0xFF, count: 188 - bytes.count)
    }
}
