import Instrument
import TestTraits
import Testing

@Suite("The privacy manifest of Instrument")
struct PrivacyManifestFileTests {
    @Test("PrivacyInfo.xcprivacy is what the vocabulary's catalogue generates (to update it: UPDATE_GOLDEN=1)")
    func file() throws {
        let generated = PrivacyManifest(.vocabulary).propertyList
        let file = ProjectFile("Sources/Instrument/PrivacyInfo.xcprivacy")
        #expect(try file.text(updating: generated) == generated)
    }
}
