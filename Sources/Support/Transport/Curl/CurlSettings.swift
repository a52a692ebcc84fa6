#if !canImport(Darwin)
internal import InstrumentHTTP
internal import CTransportShim
#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// The common settings of a transport's transfers.
struct CurlSettings: Sendable {
    let configuration: TransportConfiguration
    /// Certificates in PEM that take the place of libcurl's own bundle; nil leaves that.
    let authorities: [UInt8]?
}

/// Certificates of authorities in PEM.
enum CurlAuthorities {
    private static let maxBytes = 16 << 20

    /// Those of `path` behind those that libcurl trusts anyway: it knows only one list, so that a custom list alone
    /// would take the place of the system's.
    static func read(_ path: String) throws(HTTPError) -> [UInt8] {
        guard let added = contents(path), isPEM(added) else {
            let message = "the file of additional certificates cannot be read or has none in PEM; check \(path)"
            throw HTTPError(.configuration, message)
        }
        let usual = transport_default_authorities().flatMap { contents(String(cString: $0)) } ?? []
        return usual + [UInt8(ascii: "\n")] + added
    }

    private static func isPEM(_ bytes: [UInt8]) -> Bool {
        String(decoding: bytes, as: UTF8.self).contains("-----BEGIN CERTIFICATE-----")
    }

    private static func contents(_ path: String) -> [UInt8]? {
        guard let file = fopen(path, "rbe") else { return nil }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = fread(&piece, 1, piece.count, file)
            bytes += piece.prefix(count)
            if bytes.count > maxBytes || ferror(file) != 0 { return nil }
            if count < piece.count { return bytes }
        }
    }
}
#endif
