import Instrument
import InstrumentTestKit
import InstrumentText
import Testing

@testable import InstrumentXAPI

@Suite("Short cuts of formats")
struct FormatShortCutTests {
    private static let pieces = [
        "http", "HTTPS", "urn", ":", "//", "/", "?", "#", "@", "%41", "%4", "%", "a", "Z9", "-", ".", "+", " ",
        "\u{7F}",
        "<", "\\",
        "\"", "{", "|", "^", "`", "example.org", ":80", "\t",
    ]

    @Test("An IRI in ASCII is judged as the general rule judges it", arguments: 1...10)
    func iris(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var valid = 0
        for _ in 0..<2000 {
            let start = Bool.random(using: &generator) ? "http://" : ""
            let count = Int.random(in: 0...7, using: &generator)
            let text = start + (0..<count).map { _ in Self.pieces.randomElement(using: &generator) ?? "" }.joined()
            let isValid = IRIFormat.isValid(text)
            #expect(isValid == IRIFormat.isValidBeyondASCII(text), "\(text)")
            if isValid { valid += 1 }
        }
        #expect(valid > 50)
    }

    @Test("A plain language tag is one that the grammar accepts", arguments: 1...5)
    func languageTags(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<2000 {
            let count = Int.random(in: 0...7, using: &generator)
            let text = String((0..<count).map { _ in "abXZ9-".randomElement(using: &generator) ?? "a" })
            #expect(LanguageTagFormat.isValid(text) == LanguageTagFormat.matchesGrammar(text), "\(text)")
        }
    }
}

@Suite("Formats")
struct FormatTests {
    static let goodTimes = [
        "2014-09-10T14:12:05Z", "2015-05-13T15:16:00.304Z", "2015-05-13T15:16:00-20:00", "2015-06-30T23:59:60Z",
        "2020-02-29T01:01:01Z", "2000-02-29T01:01:01+05:30", "2016-11-22T16:50:25.3868080Z", "0003-06-04T12:30:05Z",
    ]
    static let badTimes = [
        "", "should fail", "01/011/2015", "2014-09-32T14:12:05Z", "2014-09-31T14:12:05Z",
        "2021-02-29T01:01:01Z", "1900-02-29T01:01:01Z", "2014-13-01T00:00:00Z", "2014-00-01T00:00:00Z",
        "2014-09-10T24:00:00Z", "2014-09-10T14:60:00Z", "2014-09-10T14:12:61Z", "2014-09-10T14:12:05.Z",
        "2014-09-10T14:12:05.22.33Z", "2008-09-15T15:53:00.601-00", "2008-09-15T15:53:00.601-0000",
        "2008-09-15T15:53:00.601-00:00", "2014-09-10", "2014-09-10T14:12:05Z ", "2014-09-10T14:12:05+24:00",
        "2014-09-10T14:12:05+01:60", "20150513T15:16:00Z", "2015-05-13T151600Z", "09-10-2014T14:12:00+500",
        "14-09-10T14:12:05Z", "+2014-09-10T14:12:05Z", "2014-09-10T14:12:05-", "2014-09-10T", "2014-09-10T14",
    ]
    static let onlyISO = [
        "20150513T151600Z", "20150513T1516Z", "2015-05-13T15:16Z", "2015-05-13T15:16:00,5Z", "2015-05-13T15:16:00+05",
        "2015-05-13T15:16:00+0530", "20150513T151600.25-0430", "2014-09-12T03:47:40", "2014-09-12T03:47:40.123",
        "20150513T1516",
    ]
    static let onlyRFC = ["2008-09-15 15:53:00.601+00:00", "2008-09-15t15:53:00z"]

    @Test("Times have a date, a time and, in 2.0, a zone", arguments: XAPIVersion.allCases)
    func times(version: XAPIVersion) {
        for text in Self.goodTimes { #expect(TimestampFormat.isValid(text, version: version), "\(text)") }
        for text in Self.badTimes { #expect(!TimestampFormat.isValid(text, version: version), "\(text)") }
        for text in Self.onlyISO {
            #expect(TimestampFormat.isValid(text, version: version) == (version == .v1), "\(text)")
        }
        for text in Self.onlyRFC {
            #expect(TimestampFormat.isValid(text, version: version) == (version == .v2), "\(text)")
        }
    }

    @Test(
        "Times become milliseconds and are written back in UTC",
        arguments: [
            ("1970-01-01T00:00:00Z", 0, "1970-01-01T00:00:00.000Z"),
            ("2013-05-18T05:32:34.8049+02:00", 1_368_847_954_804, "2013-05-18T03:32:34.804Z"),
            ("1969-12-31T23:59:59.999Z", -1, "1969-12-31T23:59:59.999Z"),
            ("2000-02-29T23:30:00-01:00", 951_870_600_000, "2000-03-01T00:30:00.000Z"),
            ("0000-03-01T00:00:00Z", -62_162_035_200_000, "0000-03-01T00:00:00.000Z"),
            ("9999-12-31T23:59:59.5Z", 253_402_300_799_500, "9999-12-31T23:59:59.500Z"),
        ] as [(String, Int64, String)]
    )
    func conversion(text: String, milliseconds: Int64, written: String) {
        let time = TimestampFormat.parse(text, version: .v2)
        #expect(time == WallTime(milliseconds: milliseconds))
        #expect(time?.rfc3339 == written)
    }

    @Test("Durations follow ISO 8601, without the form that looks like a date")
    func durations() {
        let good = [
            "PT4H35M59.14S", "PT16559.14S", "P3Y1M29DT4H35M59.14S", "P3Y", "P4W", "PT1H0M0.1S", "PT0S", "P1.5D",
            "P0,5W",
            "P1Y2D", "PT3H25.51S", "P23DT122.34S",
        ]
        let bad = [
            "", "P", "PT", "P1DT", "P4W1D", "P1Y4W", "PA1H0M0S", "should fail", "P16559.14S", "PT1H30.5M5S",
            "P10.3DT1.7S",
            "P0003-06-04T12:30:05", "-PT1H", "pt1h", "PT1H ", "PT1.S", "PT.5S", "P1H", "PT1D", "PT1S1H", "P1D1D",
        ]
        for text in good { #expect(DurationFormat.isValid(text), "\(text)") }
        for text in bad { #expect(!DurationFormat.isValid(text), "\(text)") }
    }

    @Test("Language tags follow the grammar of RFC 5646")
    func languages() {
        let good = [
            "de", "en-US", "es-419", "ine", "cmn", "tlh", "zh-Hant", "sr-Latn-RS", "zh-cmn-Hans-CN", "sl-rozaj-biske",
            "de-CH-1901", "hy-Latn-IT-arevela", "az-Arab-x-AZE-derbend", "x-whatever", "i-enochian", "I-Klingon", "EN",
            "en-GB-oed", "zh-min-nan", "art-lojban", "en-a-bbb-x-a-ccc", "sgn-BE-FR", "qaa-Qaaa-QM-x-southern", "abcde",
        ]
        let bad = [
            "", "a", "a-DE", "de-419-DE", "ar-a-aaa-b-bbb-a-ccc", "zh-z-aaa-z-bbb-c-ccc", "a12345", "something",
            "en_US",
            "en-", "-en", "en--US", "en US", "x", "en-x", "en-a", "de-1901-1901", "not a language tag", "i-nothing",
            "en-US-123456789", "dé", "en-USA1",
        ]
        for text in good { #expect(LanguageTagFormat.isValid(text), "\(text)") }
        for text in bad { #expect(!LanguageTagFormat.isValid(text), "\(text)") }
    }

    @Test("IRIs have a scheme and only allowed characters")
    func iris() {
        let good = [
            "http://example.org", "https://example.org/a?b=c#d", "urn:uuid:e05aa883-acaf-40ad-bf54-02c8ce485fb0",
            "foo:/a",
            "foo+bar.baz-quxx:/a", "http://example.com/فعل/خواندن", "mailto:a@example.org", "http://a_b/#foo",
            "https://example.org/Type%20of%20Shark!", "tag:example.org,2024:film", "http://user@[::1]:80/",
        ]
        let bad = [
            "", "example.org", "/path", "//example.org", "ab=c://should.fail.com", "should fail", "http:", "http://",
            "http://exa mple.org", "1http://example.org", "://example.org", "http:///path", "http://example.org/%zz",
            "http://example.org/%2", "http://example.org/<a>", "http://example.org/{a}", "http://example.org/\n",
            "http://example.org/#a#b", "é:a", ":", "http://:80/", "https:example.org",
        ]
        for text in good { #expect(IRIFormat.isValid(text), "\(text)") }
        for text in bad { #expect(!IRIFormat.isValid(text), "\(text)") }
    }

    @Test("Mailboxes are mailto: and one address")
    func mailboxes() {
        let good = [
            "mailto:a@example.org", "mailto:a.b+c@sub.example.org", "mailto:a%20b@example.org", "mailto:a@localhost",
            "mailto:a`b@example.org", "mailto:jürgen@bücher.example",
        ]
        let bad = [
            "", "mailto:", "a@example.org", "mailto:a", "mailto:@example.org", "mailto:a@", "mailto:a@b@c",
            "MAILTO:a@example.org", "mailto:a@example..org", "mailto:a b@example.org", "mailto:user%@example.com",
            "mailto:a@example.org?subject=b", "mailto:a@example.org,b@example.org", "http://a@example.org",
            "mailto:a\u{A0}@example.org", "mailto:\"a\"@example.org", "mailto:a@-example.org", "mailto:a@exam_ple.org",
        ]
        for text in good { #expect(MailboxFormat.isValid(text), "\(text)") }
        for text in bad { #expect(!MailboxFormat.isValid(text), "\(text)") }
    }

    @Test("Media types have a type, a subtype and parameters")
    func mediaTypes() {
        let good = [
            "text/plain", "text/plain; charset=ascii", "image/svg+xml", "a/b;c=\"d; e\"", "application/octet-stream",
        ]
        let bad = ["", "text", "should fail", "text/", "/plain", "text/plain;", "a/b/c", "text/plain; charset"]
        for text in good { #expect(MediaTypeFormat.isValid(text), "\(text)") }
        for text in bad { #expect(!MediaTypeFormat.isValid(text), "\(text)") }
    }

    @Test("Versions belong to their family")
    func versions() {
        let good = ["1.0", "1.0.0", "1.0.9", "1.0.32-abc.def+ghi.jkl", "1.0.0-x.7.z.92"]
        let bad = [
            "", "1", "1.0.", "1.0.x", "1.1.0", "10.0", "1.0.0-", "1.0.0-.123", "1.0.0-123.", "1.0.0-+123", "1.00",
        ]
        for text in good { #expect(VersionFormat.isValid(text, family: "1.0"), "\(text)") }
        for text in bad { #expect(!VersionFormat.isValid(text, family: "1.0"), "\(text)") }
    }
}
