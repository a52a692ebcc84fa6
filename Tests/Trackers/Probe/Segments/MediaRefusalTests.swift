import Foundation
import LoopbackServers
import TestTraits
import Testing

@testable import InstrumentProbe

@Suite("Media that browsers refuse", .ownThread, .timeLimit(.minutes(30)))
struct MediaRefusalTests {
    @Test("A check reports what is broken, and nothing else")
    func reported() throws {
        for example in try RefusedMedia.all() {
            let message = example.refusal?.message
            if let word = example.word {
                #expect(message?.contains(word) == true, "\(example.name): \(message ?? "nothing")")
            } else {
                #expect(message == nil, "\(example.name)")
            }
        }
    }

    @Test("Chromium refuses what the check reports, and takes what the check passes")
    func browser() async throws {
        let examples = try RefusedMedia.all().filter { $0.isKnownToBrowser || $0.word != nil }
        var files: [String: [UInt8]] = [:]
        let trials = examples.enumerated().map { number, example in
            files["/\(number)/init"] = example.initialization
            files["/\(number)/media"] = example.media
            let parts = ["/\(number)/init", "/\(number)/media"].map { MediaSourcePage.Trial.Part($0) }
            return MediaSourcePage.Trial(example.name, type: example.type, parts: parts)
        }
        let reports: [MediaSourcePage.Report]
        do {
            reports = try await MediaSourcePage.reports(on: trials, files: files)
        } catch let error as Browser.Unavailable {
            return print("SKIPPED: media that browsers refuse, because \(error.reason)")
        }
        #expect(reports.map(\.name) == examples.map(\.name))
        for (report, example) in zip(reports, examples) {
            #expect(report.error.isEmpty == (example.word == nil || example.isIgnored), "\(report)")
            #expect(!example.isIgnored || report.ranges == 0, "\(report)")
            #expect(example.word != nil || report.ranges == 1 && report.end > 1.9, "\(report)")
        }
    }

    @Test("A check of damaged sections does not trap, and a cut section is in doubt")
    func damaged() throws {
        for example in try RefusedMedia.all() where example.word == nil {
            let section = example.initialization
            for place in section.indices {
                for value in [UInt8(0), 0x7F, 0xFF] {
                    var copy = section
                    copy[place] = value
                    _ = try? InitializationCheck(copy)
                }
            }
            for length in stride(from: 0, to: section.count, by: 3) {
                #expect(throws: Never.self, "\(example.name) \(length)") {
                    _ = try InitializationCheck(Array(section[..<length]))
                }
            }
        }
    }

    @Test(
        "A manifest contradicts a track when it declares only other codecs of its kind",
        arguments: [
            (CodecFamily.h264, ["hvc1.1.6.L93.90", "mp4a.40.2"], true), (.h264, ["avc3.640028", "mp4a.40.2"], false),
            (.h264, ["mp4a.40.2"], false), (.h264, [], false), (.h264, ["avc1.42c00d", "hvc1.1.6.L93.90"], false),
            (.h264, ["dvh1.05.06"], false), (.aac, ["avc1.42c00d", "ac-3"], true), (.aac, ["mp4a.40.5"], false),
            (.aac, ["mp4a.6B"], true), (.aac, ["mp4a"], false), (.opus, ["Opus"], false), (.flac, ["fLaC"], false),
            (.vp9, ["vp9"], false), (.vp9, ["av01.0.04M.08"], true), (.enhancedAC3, ["mp4a.A6"], false),
        ] as [(CodecFamily, [String], Bool)]
    )
    func contradictions(family: CodecFamily, declared: [String], isContradiction: Bool) {
        let refusal = CodecFamily.contradiction(of: [family], declared: declared)
        #expect((refusal != nil) == isContradiction)
        #expect(refusal.map { $0.ground == .declaration && $0.message.contains(family.rawValue) } ?? true)
    }
}
