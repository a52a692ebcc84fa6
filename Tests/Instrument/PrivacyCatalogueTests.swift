import InstrumentTestKit
import Testing

@testable import Instrument

@Suite("The privacy catalogue")
struct PrivacyCatalogueTests {
    private let backend = CollectingBackend(policy: DeliveryPolicy(maxAge: .zero))
    private let reports = Lock([Diagnostic]())

    private func instrument(_ privacy: PrivacyRules = PrivacyRules()) -> Instrument {
        let reports = reports
        return Instrument(hub: NoOpHub(), metricalc: nil, backends: [backend], clock: VirtualClock(), privacy: privacy)
        { diagnostic in
            reports.withLock { $0.append(diagnostic) }
        }
    }

    /// The names of the received attributes, without those of the vocabulary.
    private func arrived(_ instrument: Instrument) async -> [[String]] {
        await instrument.queue.flush(timeout: .seconds(1800))
        return backend.samples.map { sample in
            let names = sample.attributes.map(\.name).filter { PrivacyCatalogue.vocabulary[$0] == nil }
            return names.map(\.spelling).sorted()
        }
    }

    @Test("The vocabulary's catalogue declares every name and every time attribute")
    func vocabulary() {
        for name in VocabularyName.allCases {
            #expect(PrivacyCatalogue.vocabulary[AttributeName(name)] != nil, "\(name)")
        }
        #expect(PrivacyCatalogue.vocabulary["timeSinceMenuOpen"]?.type == .milliseconds)
        #expect(PrivacyCatalogue.vocabulary["userId"]?.isLinked == true)
        #expect(PrivacyCatalogue.vocabulary["score"] == nil)
        #expect(PrivacyCatalogue.vocabulary.fields.allSatisfy { !$0.summary.isEmpty && !$0.purposes.isEmpty })
    }

    @Test("The vocabulary's catalogue declares keys outside its list of names")
    func keys() {
        #expect(PrivacyCatalogue.vocabulary[AttributeKey<Bool>.joinedLate.name] != nil)
    }

    @Test("Under declaredOnly, an event arrives without its undeclared attributes, and each name is reported once")
    func undeclared() async {
        let instrument = instrument(PrivacyRules(admission: .declaredOnly))
        let id = instrument.add(PlainTracker())
        for _ in 0..<3 { instrument.emit(Action("Tapped"), from: id, attributes: ["secret": "x", "title": "Film"]) }
        instrument.emit(Action("Tapped"), from: id, attributes: ["other": 1])
        #expect(await arrived(instrument) == [[], [], [], []])
        #expect(backend.events.first?[.title] == "Film")
        #expect(reports.withLock { $0 } == [.undeclared("secret"), .undeclared("other")])
    }

    @Test("A field is sent once the app or a tracker declares it")
    func declared() async {
        let mine: PrivacyCatalogue = [FieldDeclaration("mine", .text, "The app's")]
        let instrument = instrument(PrivacyRules(declaring: mine, admission: .declaredOnly))
        let id = instrument.add(DeclaringTracker())
        let attributes: Attributes = ["mine": "a", "trackers": 1, "later": true, "timeSinceTapped": 7]
        instrument.emit(Action("Tapped"), from: id, attributes: attributes)
        instrument.declare([FieldDeclaration("later", .flag, "Declared later")])
        instrument.emit(Action("Tapped"), from: id, attributes: attributes)
        #expect(await arrived(instrument) == [["mine", "trackers"], ["later", "mine", "trackers"]])
        #expect(backend.events.allSatisfy { $0.attributes["timeSinceTapped"] != nil })
        #expect(instrument.catalogue["trackers"]?.category == .performanceData)
    }

    @Test(
        "A field that is off is left out without a report, and a choice overrides the default, with every admission"
    )
    func choices() async {
        let declared: PrivacyCatalogue = [
            FieldDeclaration("off", .text, "Off", isOn: false), FieldDeclaration("on", .text, "On"),
            FieldDeclaration("chosen", .text, "Off, but wanted", isOn: false),
            FieldDeclaration("unwanted", .text, "On, but not wanted"),
        ]
        for admission in FieldAdmission.allCases {
            let choices: [AttributeName: Bool] = ["chosen": true, "unwanted": false, "title": false]
            let instrument = instrument(
                PrivacyRules(declaring: declared, choices: choices, admission: admission)
            )
            let id = instrument.add(PlainTracker())
            let attributes: Attributes = ["off": "", "on": "", "chosen": "", "unwanted": "", "title": "Film"]
            instrument.emit(.start, from: id, attributes: attributes)
            #expect(await arrived(instrument).last == ["chosen", "on"], "\(admission)")
            #expect(backend.events.last?[.title] == nil)
        }
        #expect(reports.withLock { $0 } == [])
    }

    @Test("A choice excludes a single time attribute")
    func timeAttribute() async {
        let instrument = instrument(PrivacyRules(choices: ["timeSinceStart": false]))
        let attributes: Attributes = ["timeSinceStart": 1, "timeSinceEnd": 2]
        instrument.emit(Action("Tapped"), from: instrument.add(PlainTracker()), attributes: attributes)
        await instrument.queue.flush(timeout: .seconds(1800))
        #expect(backend.events.first?.attributes["timeSinceStart"] == nil)
        #expect(backend.events.first?.attributes["timeSinceEnd"] == 2)
    }

    @Test("Open admission sends undeclared names")
    func open() async {
        let instrument = instrument(PrivacyRules(admission: .open))
        instrument.emit(.start, from: instrument.add(PlainTracker()), attributes: ["anything": 1])
        #expect(await arrived(instrument) == [["anything"]])
    }

    @Test("A payload for one service loses only the fields that are off")
    func payload() async {
        let off: PrivacyCatalogue = [FieldDeclaration("off", .text, "Off", isOn: false)]
        let instrument = instrument(PrivacyRules(declaring: off, admission: .declaredOnly))
        let attributes: Attributes = ["instrument.addressee": "some", "anything": 1, "off": 2]
        instrument.emit(.start, from: instrument.add(PlainTracker()), attributes: attributes)
        instrument.emit(.start, from: instrument.add(PlainTracker()), attributes: ["anything": 1])
        #expect(await arrived(instrument) == [["anything"], []])
    }

    @Test("The attribute that identifies the person is declared automatically")
    func person() async {
        let instrument = instrument(PrivacyRules(userIdKey: "account"))
        instrument.emit(.start, from: instrument.add(PlainTracker()), attributes: ["account": "ann"])
        #expect(await arrived(instrument) == [["account"]])
        #expect(instrument.catalogue["account"]?.isLinked == true)
    }

    @Test("A declaration takes the kind of its values from the key")
    func types() {
        let declarations = [
            FieldDeclaration(.title, "t"), FieldDeclaration(.bitrate, "b"), FieldDeclaration(.fps, "f"),
            FieldDeclaration(.isMuted, "m"), FieldDeclaration(.position, "p"), FieldDeclaration(.adRoll, "r"),
        ]
        #expect(declarations.map(\.type) == [.text, .integer, .number, .flag, .milliseconds, .text])
    }
}

@Suite("Apple privacy manifest")
struct PrivacyManifestTests {
    private let catalogue: PrivacyCatalogue = [
        FieldDeclaration("a", .text, "A", .performanceData), FieldDeclaration("c", .text, "C", .userID, isLinked: true),
        FieldDeclaration("b", .text, "B", .performanceData, for: [.appFunctionality]),
    ]

    @Test(
        "The manifest lists each kind of data once, with the purposes of all its fields, linked if one field is linked"
    )
    func manifest() {
        let text = PrivacyManifest(catalogue, accessedAPIs: []).propertyList
        #expect(
            text == """
                <?xml version="1.0" encoding="UTF-8"?>
                <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
                <plist version="1.0">
                <dict>
                \t<key>NSPrivacyTracking</key>
                \t<false/>
                \t<key>NSPrivacyTrackingDomains</key>
                \t<array/>
                \t<key>NSPrivacyCollectedDataTypes</key>
                \t<array>
                \t\t<dict>
                \t\t\t<key>NSPrivacyCollectedDataType</key>
                \t\t\t<string>NSPrivacyCollectedDataTypePerformanceData</string>
                \t\t\t<key>NSPrivacyCollectedDataTypeLinked</key>
                \t\t\t<false/>
                \t\t\t<key>NSPrivacyCollectedDataTypeTracking</key>
                \t\t\t<false/>
                \t\t\t<key>NSPrivacyCollectedDataTypePurposes</key>
                \t\t\t<array>
                \t\t\t\t<string>NSPrivacyCollectedDataTypePurposeAnalytics</string>
                \t\t\t\t<string>NSPrivacyCollectedDataTypePurposeAppFunctionality</string>
                \t\t\t</array>
                \t\t</dict>
                \t\t<dict>
                \t\t\t<key>NSPrivacyCollectedDataType</key>
                \t\t\t<string>NSPrivacyCollectedDataTypeUserID</string>
                \t\t\t<key>NSPrivacyCollectedDataTypeLinked</key>
                \t\t\t<true/>
                \t\t\t<key>NSPrivacyCollectedDataTypeTracking</key>
                \t\t\t<false/>
                \t\t\t<key>NSPrivacyCollectedDataTypePurposes</key>
                \t\t\t<array>
                \t\t\t\t<string>NSPrivacyCollectedDataTypePurposeAnalytics</string>
                \t\t\t</array>
                \t\t</dict>
                \t</array>
                \t<key>NSPrivacyAccessedAPITypes</key>
                \t<array/>
                </dict>
                </plist>

                """
        )
    }

    @Test("The manifest names tracking domains in valid XML, and APIs have their reasons")
    func tracking() {
        let text = PrivacyManifest(catalogue, isLinked: true, trackingDomains: ["a<b&c>\u{1}"]).propertyList
        #expect(text.contains("<key>NSPrivacyTracking</key>\n\t<true/>"))
        #expect(text.contains("<string>a&lt;b&amp;c&gt;\u{FFFD}</string>"))
        #expect(!text.contains("<false/>"))
        #expect(text.contains("<string>NSPrivacyAccessedAPICategorySystemBootTime</string>"))
        #expect(text.contains("<string>35F9.1</string>"))
    }
}

private final class DeclaringTracker: Tracker {
    var declaredFields: PrivacyCatalogue { [FieldDeclaration("trackers", .integer, "Its own", .performanceData)] }
    func begin(in context: TrackerContext) {}
}
