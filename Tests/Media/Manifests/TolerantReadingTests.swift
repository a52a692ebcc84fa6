import Instrument
import InstrumentHTTP
import Testing

@testable import InstrumentManifests

/// What players read although a standard does not allow it.
@Suite("Tolerant reading")
struct TolerantReadingTests {
    private static func mpd(encoding: String, duration: String = "2") -> String {
        """
        <?xml version="1.0" encoding="\(encoding)"?><MPD type="static" mediaPresentationDuration="PT6S">\
        <ProgramInformation><Title>é</Title></ProgramInformation><Period><AdaptationSet mimeType="video/mp4">\
        <SegmentTemplate duration="\(duration)" media="$Number$.m4s"/><Representation id="v" bandwidth="1"/>\
        </AdaptationSet></Period></MPD>
        """
    }

    private func read(_ bytes: [UInt8]) throws -> Presentation {
        try Presentation(parsing: bytes, at: HTTPURL("https://x.test/a"), now: WallTime(milliseconds: 0))
    }

    private static func utf16(_ text: String, isBig: Bool, marked: Bool) -> [UInt8] {
        ((marked ? "\u{FEFF}" : "") + text).utf16.flatMap { unit in
            let (high, low) = (UInt8(unit >> 8), UInt8(unit & 255))
            return isBig ? [high, low] : [low, high]
        }
    }

    @Test("An MPD is read in the encodings of XML, by whichever name")
    func encodings() throws {
        for name in ["UTF-8", "utf8", "Utf-8"] { _ = try read(Array(Self.mpd(encoding: name).utf8)) }
        for (isBig, marked) in [(true, true), (false, true), (true, false), (false, false)] {
            _ = try read(Self.utf16(Self.mpd(encoding: "UTF-16"), isBig: isBig, marked: marked))
        }
        for name in ["ISO-8859-1", "latin1", "windows-1252"] {
            _ = try read(Self.mpd(encoding: name).unicodeScalars.map { UInt8(clamping: $0.value) })
        }
    }

    @Test("An encoding hides no document type, and bytes that do not belong to it are refused")
    func hidden() {
        let hostile = "<!DOCTYPE MPD [<!ENTITY x \"y\">]><MPD>&x;</MPD>"
        for bytes in [
            Self.utf16(hostile, isBig: true, marked: true), Self.utf16("<MPD>", isBig: false, marked: true) + [0],
            Array("<?xml version=\"1.0\" encoding=\"EBCDIC\"?><MPD/>".utf8), [0x3C, 0x4D, 0xE9, 0x3E],
        ] {
            #expect(throws: ManifestError.self) { try read(bytes) }
        }
    }

    @Test("A whole number with a fraction of zero is that number")
    func fractions() throws {
        for duration in ["2.0", "2.", " 2 "] {
            let segments = try read(Array(Self.mpd(encoding: "UTF-8", duration: duration).utf8)).segments()
            #expect(segments.count == 3, "\(duration)")
        }
    }

    @Test("Spaces behind a tag's colon are skipped")
    func spaces() throws {
        let text = "#EXTM3U\n#EXT-X-TARGETDURATION: 4\n#EXTINF: 3.5, x\na.ts\n#EXT-X-ENDLIST\n"
        let parsed = try HLSPlaylist(parsing: Array(text.utf8), at: HTTPURL("https://x.test/a"))
        guard case .media(let playlist) = parsed else { throw CancellationError() }
        #expect(playlist.targetDuration == 4_000_000_000)
    }
}
