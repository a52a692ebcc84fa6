import Instrument
import InstrumentSensors
import TestTraits
import Testing

@Suite("The privacy manifest of the sensors")
struct SensorManifestFileTests {
    @Test("PrivacyInfo.xcprivacy is what the catalogue of the sensors generates (to update it: UPDATE_GOLDEN=1)")
    func file() throws {
        let catalogue = AppState.declaredFields.merging(DeviceProperties.declaredFields)
        // The sensors read no API beyond those of Instrument, whose manifest has them.
        let generated = PrivacyManifest(catalogue, accessedAPIs: []).propertyList
        let file = ProjectFile("Sources/Trackers/Sensors/PrivacyInfo.xcprivacy")
        #expect(try file.text(updating: generated) == generated)
    }
}
