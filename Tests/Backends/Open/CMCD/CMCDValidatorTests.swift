import InstrumentCMCD
import Testing

@Suite("CMCD validator")
struct CMCDValidatorTests {
    /// Rules and keys; a warning begins with `~`.
    private func rules(_ findings: [CMCDFinding]) -> [String] {
        findings.map { ($0.severity == .warning ? "~" : "") + "\($0.rule)" + ($0.key.map { " \($0)" } ?? "") }
    }

    private func event(_ text: String) -> [String] {
        var validator = CMCDValidator()
        return rules(validator.findings(inEvent: text))
    }

    private static let record = #"e=ps,sid="s",sn=1,sta=p,ts=1767225600000,v=2"#

    @Test(
        "Valid event reports have no findings",
        arguments: [
            Self.record, #"br=(5000;v 320;a),e=bc,ts=1,v=2"#, #"e=e,ec=("a" "b"),ts=1,v=2"#, #"bg=?0,e=b,ts=1,v=2"#,
            #"bg,e=b,ts=1,v=2"#, #"e=rr,rc=200,ts=1,ttfb=12,ttfbb=13,ttlb=40,url="https://a.example/1.m4s",v=2"#,
            #"cen="seat",com.example-seat="4A",e=ce,ts=1,v=2"#, #"e=pr,pr=1.5,ts=1,v=2"#, #"e=pr,pr=0,ts=1,v=2"#,
            #"cid="a\"b",e=c,ts=1,v=2"#, #"e=h,h="a.example",ts=1,v=2"#,
            #"e=t,nor=("../2.m4s";r="0-99" "3.m4s";r="-5"),ts=1,v=2"#,
            "e=t, ts=1, v=2", "e=abs,ts=1,v=2", "e=abe,ts=1,v=2", "e=as,ts=1,v=2", "e=ae,ts=1,v=2", "e=m,ts=1,v=2",
            "e=um,ts=1,v=2", "e=pc,ts=1,v=2", "e=pe,ts=1,v=2", "e=sk,ts=1,v=2", "e=t,sta=w,ts=1,v=2",
            // Shown again, and a rate of 1 (Table 1).
            "e=b,ts=1,v=2", "e=pr,ts=1,v=2",
            #"cmsdd="YQ==",cmsds="Yg==",e=rr,smrt="Yw==",ts=1,url="https://a.example/1.m4s",v=2"#,
            "com.example-exit=a,e=t,ts=1,v=2", "ab=(5000;av),br=(320;a),e=t,ts=1,v=2", "bs=?0,e=t,su=?0,ts=1,v=2",
        ]
    )
    func validEvents(text: String) { #expect(event(text) == []) }

    @Test(
        "Each broken rule is found",
        arguments: [
            ("e=ps,ts=1,v=2", ["required sta"]), ("ts=1,v=2", ["required e"]), ("e=t,v=2", ["required ts"]),
            ("e=t,ts=1", ["required v"]),
            ("e=bc,ts=1,v=2", ["~required br"]),
            ("e=c,ts=1,v=2", ["~required cid"]), ("e=e,ts=1,v=2", ["required ec"]), ("e=rr,ts=1,v=2", ["required url"]),
            ("e=ce,ts=1,v=2", ["required cen"]), ("e=h,ts=1,v=2", ["~required h"]),
            ("e=x,ts=1,v=2", ["value e"]), ("e=t,sta=z,ts=1,v=2", ["value sta"]),
            ("e=t,sta=\"p\",ts=1,v=2", ["type sta"]),
            ("e=t,ts=\"1\",v=2", ["type ts"]), ("br=5000,e=t,ts=1,v=2", ["type br"]),
            ("br=(5000;x),e=t,ts=1,v=2", ["value br"]),
            ("br=(\"a\"),e=t,ts=1,v=2", ["type br"]), ("br=(),e=t,ts=1,v=2", ["value br"]),
            ("bl=(21350;v),e=t,ts=1,v=2", ["~rounding bl"]),
            ("dl=49,e=t,ts=1,v=2", ["rounding dl"]), ("e=t,mtp=(150),ts=1,v=2", ["rounding mtp"]),
            ("e=t,rtp=50,ts=1,v=2", ["rounding rtp"]),
            ("e=t,tbl=(50),ts=1,v=2", ["~rounding tbl"]), ("e=t,ts=-1,v=2", ["value ts"]),
            ("e=t,foo=1,ts=1,v=2", ["key foo"]),
            ("e=t,nrr=\"0-1\",ts=1,v=2", ["key nrr"]), ("e=t,rc=200,ts=1,v=2", ["mode rc"]),
            ("cen=\"a\",e=t,ts=1,v=2", ["mode cen"]),
            ("e=t,nor=(\"https://a/b\"),ts=1,v=2", ["value nor"]),
            ("e=t,nor=(\"a\";r=\"5-1\"),ts=1,v=2", ["value nor"]),
            ("e=t,nor=(\"a\";x=1),ts=1,v=2", ["value nor"]), ("e=t,nor=\"a\",ts=1,v=2", ["type nor"]),
            ("e=t,su=1,ts=1,v=2", ["type su"]),
            ("ts=1,e=t,v=2", ["~order e"]), ("e=t,e=t,ts=1,v=2", ["duplicate e"]), ("e=t,ts=1,v=3", ["value v"]),
            ("d=4000,e=t,ot=m,ts=1,v=2", ["mode d"]), ("e=t,ot=i,tpb=(5),ts=1,v=2", ["mode tpb"]),
            ("cdn=\"a\",e=t,ts=1,v=2", ["key cdn"]), ("e=t,smrt=\"a\",ts=1,v=2", ["mode smrt"]),
            ("com.example-on,e=t,ts=1,v=2", ["type com.example-on"]),
            ("com.example-n=1,e=t,ts=1,v=2", ["type com.example-n"]),
            ("com.example-s=\"\(String(repeating: "x", count: 65))\",e=t,ts=1,v=2", ["length com.example-s"]),
            ("ab=(1),br=(1),e=t,ts=1,v=2", ["mode ab"]), ("e=t,lab=(1;v),lb=(1;v),ts=1,v=2", ["mode lab"]),
            ("e=t,tab=(1 2;a),tb=(2;v 3;a),ts=1,v=2", ["mode tab"]), ("bs=?1,e=t,ts=1,v=2", ["type bs"]),
            ("e=t,ts=1,v=2,", ["syntax"]), ("e=t,,ts=1,v=2", ["syntax"]),
            ("E=t,ts=1", ["syntax"]),
            ("e=t,sid=\"a,ts=1,v=2", ["syntax sid"]),
            ("e=t,sid=\"é\",ts=1,v=2", ["syntax sid"]),
            ("e=t,pr=1.2345,ts=1,v=2", ["syntax pr"]),
            ("e=t,ts=1767225600000000,v=2", ["syntax ts"]),
            ("br=(1;v 2;a,e=t", ["syntax br"]),
            ("su=?2,v=2", ["syntax su"]),
            ("e=t,ts=1,v=2 sta=p", ["syntax"]), ("", ["syntax"]),
        ] as [(String, [String])]
    )
    func brokenEvents(text: String, expected: [String]) {
        #expect(Set(event(text)) == Set(expected), "\(text)")
        #expect(event(text).count == expected.count, "\(event(text))")
    }

    @Test("Lengths are limited, and messages name what was found and expected")
    func lengths() {
        for (key, limit, other) in [("cid", 128, "c"), ("sid", 64, "t"), ("h", 128, "h"), ("cen", 64, "ce")] {
            func text(_ count: Int) -> String {
                let value = "\(key)=\"\(String(repeating: "x", count: count))\""
                var members = ["e=\(other)", "ts=1", "v=2", value]
                if other == "t" { members = ["e=t", "ts=1", "v=2", value] }
                return members.sorted { $0.split(separator: "=")[0] < $1.split(separator: "=")[0] }.joined(
                    separator: ","
                )
            }
            #expect(event(text(limit)) == [])
            #expect(event(text(limit + 1)) == ["length \(key)"])
        }
        var validator = CMCDValidator()
        let finding = validator.findings(inEvent: "bl=(150),e=t,ts=1,v=2").first
        #expect(finding?.description == "rounding bl: the number should be rounded to 100 (found '150')")
    }

    @Test("Sequence numbers of a session increase, and a start delay is reported once")
    func sequences() {
        var validator = CMCDValidator()
        let texts = [
            "sid=\"a\",sn=0", "sid=\"b\",sn=7", "msd=5,sid=\"a\",sn=1", "sid=\"a\",sn=1", "msd=5,sid=\"a\",sn=0",
            "sid=\"b\",sn=8",
        ]
        let found = texts.map { text in rules(validator.findings(inEvent: "e=t,\(text),ts=1,v=2")) }
        #expect(found == [[], [], [], [], ["sequence sn", "sequence msd"], []])
    }

    @Test("A query is decoded first; keys of event mode do not belong there")
    func queries() {
        let validator = CMCDValidator()
        #expect(rules(validator.findings(inQuery: "bl%3D%283000%3Bv%29%2Cot%3Dv%2Cv%3D2")) == [])
        #expect(rules(validator.findings(inQuery: "bl=(3000;v),ot=v,v=2")) == [])
        #expect(rules(validator.findings(inQuery: "e%3Dt%2Cts%3D1%2Cv%3D2")) == ["mode e", "mode ts"])
        #expect(rules(validator.findings(inQuery: "bl%3")) == ["encoding"])
        #expect(rules(validator.findings(inQuery: "%FF")) == ["encoding"])
    }

    @Test("A report without a version is one of version 1")
    func firstVersion() {
        let validator = CMCDValidator()
        let valid =
            #"bl=21300,br=3200,bs,cid="faec5fc2",d=4004,dl=18500,mtp=48100,nor="..%252F2.m4v",nrr="12323-48763","#
            + #"ot=v,pr=1.08,rtp=12000,sf=d,sid="6e2fb550",st=v,su,tb=6000"#
        #expect(rules(validator.findings(inHeaders: [(.session, "sid=\"a\",v=1")])) == [])
        #expect(rules(validator.findings(inQuery: valid)) == [])
        #expect(rules(validator.findings(inQuery: "br=(3200)")) == ["type br"])
        #expect(rules(validator.findings(inQuery: "sta=p")) == ["key sta"])
        #expect(rules(validator.findings(inQuery: "st=ll")) == ["value st"])
        // The object type, the order and custom keys are rules of version 2, or advice.
        #expect(rules(validator.findings(inQuery: "d=325,ot=m")) == [])
        #expect(rules(validator.findings(inQuery: "com.example-n=1,com.example-on")) == [])
        #expect(rules(validator.findings(inQuery: "sid=%22a%22,bl=2500,br=3200")) == ["~order bl"])
        #expect(rules(validator.findings(inQuery: "bl=2550")) == ["rounding bl"])
    }

    /// CTA-5004: `nor` is a relative path that must be URL-encoded, `nrr` one byte range without its unit.
    @Test(
        "The strings of version 1 that have a form are checked",
        arguments: [
            ("..%2F300k%2Ftrack.m4v", []), ("track.m4v", []), ("%2Fa%2Fb.m4v%3Ft%3D1", []),
            ("../a.m4v", ["encoding nor"]),
            ("https%3A%2F%2Fa.example%2Fb.m4v", ["value nor"]), ("%2F%2Fa.example%2Fb", ["value nor"]),
            ("https://a.example/b", ["encoding nor", "value nor"]), ("", ["value nor"]), ("a%2", ["encoding nor"]),
        ]
    )
    func pathsOfFirstVersion(path: String, expected: [String]) {
        #expect(rules(CMCDValidator().findings(inHeaders: [(.request, "nor=\"\(path)\"")])) == expected)
    }

    @Test(
        "The byte range of version 1 has one of its three forms",
        arguments: [
            ("0-99", true), ("100-", true), ("-500", true), ("12323", false), ("9-1", false), ("a-b", false),
            ("-", false), ("bytes=0-9", false), ("0-1,5-6", false),
        ]
    )
    func rangesOfFirstVersion(range: String, isValid: Bool) {
        let found = rules(CMCDValidator().findings(inHeaders: [(.request, "nrr=\"\(range)\"")]))
        #expect(found == (isValid ? [] : ["value nrr"]))
    }

    @Test(
        "A syntax error does not change the version",
        arguments: [
            ("bl=2500,br=3200,,sid=%22a%22", ["syntax"]), ("bl=2500,mtp=25400,sid=%22a", ["syntax sid"]),
            ("bl=(2500;v),br=(3200;v),,v=2", ["syntax"]), ("bl=2500,,v=2", ["type bl", "syntax"]),
            ("bl=(2500),,sid=%22a%22", ["type bl", "syntax"]),
        ]
    )
    func versionOfDamaged(text: String, expected: [String]) {
        let validator = CMCDValidator()
        #expect(rules(validator.findings(inQuery: text)) == expected)
        let fields: [(header: CMCDHeader, value: String)] = [
            (.request, "bl=2500,,"), (.session, text.hasSuffix("v=2") ? "v=2" : "sid=\"a\""),
        ]
        #expect(rules(validator.findings(inHeaders: fields)).contains("type bl") == text.hasSuffix("v=2"))
    }

    @Test(
        "The sample reports of SVTA's library keep CTA-5004-B, except for the keys that Table 1 does not allow",
        arguments: [
            // An unknown key without a prefix, custom keys of a wrong type, aggregates beside bitrates, and a duration
            // and a playable bitrate of a manifest.
            (
                #"ab=(2500),bg,bl=(5000),br=(200),bs,bsd=(2000),cdn="c",com.example-exists,com.example-testing=1234,d=325,"#
                    + #"e=t,lab=(200),lb=(100),nor=("../testing/3.m4v"),ot=m,tab=(3000),tb=(5000),tpb=(4000),ts=1,v=2"#,
                [
                    "key cdn", "type com.example-exists", "type com.example-testing", "mode d", "mode tpb", "mode ab",
                    "mode lab", "mode tab",
                ]
            ),
            (
                #"bg,bl=(5000),br=(200),bs,bsd=(2000),cid="content-id",cmsdd="ZA==",cmsds="cw==",com.example-hello="world","#
                    + #"com.example-token=s,cs="123456",d=325,dfa=5,dl=10000,e=rr,ec=("ERR001" "ERR002"),lb=(100),ltc=1500,"#
                    + #"msd=2500,mtp=(10000),ot=v,pb=(1000),pt=45000,rc=200,rtp=8000,sf=d,sid="session-id",smrt="MTIzNDU=","#
                    + #"sn=1,st=v,sta=p,su,tb=(5000),tbl=(8000),tpb=(4000),ts=1640995200000,ttfb=150,ttfbb=200,ttlb=500,"#
                    + #"url="https://example.com/media/segment.m4s",v=2"#,
                []
            ),
        ] as [(String, [String])]
    )
    func library(text: String, expected: [String]) { #expect(event(text) == expected) }

    @Test("Header fields of one request are checked together, each for its keys and their order")
    func headers() {
        let validator = CMCDValidator()
        let fields: [(header: CMCDHeader, value: String)] = [
            (.object, "br=(5000;v),d=4000,ot=v,tb=(8000;v)"), (.request, "bl=(2200;v),com.example-x=one,sn=4,sta=p"),
            (.session, "cid=\"c\",sf=d,sid=\"s\",st=l,v=2"), (.status, "pt=125000"),
        ]
        #expect(rules(validator.findings(inHeaders: fields)) == [])
        #expect(
            rules(validator.findings(inHeaders: [(.object, "bl=(200)"), (.session, "v=2,st=v")])) == [
                "header bl", "~order st",
            ]
        )
        #expect(rules(validator.findings(inHeaders: [(.status, "url=\"a\""), (.session, "v=2")])) == ["mode url"])
    }

    @Test("A log is read line by line: addresses, header fields in a row, records, and lines without CMCD")
    func log() {
        let lines = [
            #"10.0.0.1 - - [22/Nov/2026] "GET /1.m4s?CMCD=bl%3D3000%2Cot%3Dv HTTP/1.1" 200 100"#,
            #"10.0.0.1 - - [22/Nov/2026] "GET /1.m4s?x=1&CMCD=bl%3D150&y=2 HTTP/1.1" 200 100"#,
            "GET /2.m4s HTTP/1.1", "CMCD-Object: br=(1;v)", "cmcd-session: v=2", "CMCD-Object: bl=(200)",
            "Cmcd-Session: v=2", "",
            Self.record, "e=t,ts=1", "just a text, with a comma", "GET /3.m4s?XCMCD=1",
        ]
        var reader = CMCDLogReader()
        let verdicts = lines.flatMap { reader.read($0) } + reader.finish()
        #expect(verdicts.map(\.line) == [1, 2, 4, 6, 9, 10])
        #expect(verdicts.map(\.mode) == [.query, .query, .header, .header, .event, .event])
        #expect(verdicts.map(\.isValid) == [true, false, true, false, true, false])
    }

    @Test(
        "Long texts take time in proportion to their length",
        arguments: ["x=\"", "(", "a,", "br=(1 ", "?CMCD=", "CMCD-Object: "]
    )
    func linearTime(piece: String) async throws {
        var reader = CMCDLogReader()
        // A quadratic reader would take minutes.
        _ = reader.read(String(repeating: piece, count: 200_000))
    }
}
