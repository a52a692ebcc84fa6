internal import CKafka
package import Instrument

extension LinkedLibrary {
    /// librdkafka.
    package static var librdkafka: LinkedLibrary {
        LinkedLibrary("librdkafka", rd_kafka_version_str().map { String(cString: $0) } ?? "unknown")
    }
}
