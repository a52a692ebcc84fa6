internal import Instrument
internal import InstrumentTransport

struct DASHManifest {
    init(parsing bytes: [UInt8], at url: HTTPURL, limits: ManifestLimits) throws(ManifestError) {
        throw ManifestError(.unsupported, "DASH follows")
    }
    func presentation(now: WallTime) throws(ManifestError) -> Presentation {
        throw ManifestError(.unsupported, "DASH follows")
    }
}
