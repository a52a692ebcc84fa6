#if !canImport(Darwin)
internal import CCurl
package import Instrument

extension LinkedLibrary {
    /// libcurl with its TLS library and the features that a request may use.
    package static var libcurl: LinkedLibrary {
        guard let info = curl_version_info(CURLVERSION_FIRST)?.pointee else {
            return LinkedLibrary("libcurl", "unknown")
        }
        let tls = info.ssl_version.map { String(cString: $0) } ?? "without TLS"
        let present = features.filter { info.features & (1 << $0.bit) != 0 }.map(\.name)
        let version = info.version.map { String(cString: $0) } ?? "unknown"
        return LinkedLibrary("libcurl", version, details: [tls] + present)
    }

    /// The bits of `CURL_VERSION_…` (curl_version_info(3)), by number: older headers lack the newer names.
    private static let features: [(name: String, bit: Int32)] = [
        ("IPv6", 0), ("gzip", 3), ("asynchronous name look-up", 7), ("HTTP/2", 16), ("brotli", 23), ("HTTP/3", 25),
        ("zstd", 26),
    ]
}
#endif
