#if !canImport(Darwin)
internal import CCurl
internal import Glibc
internal import InstrumentHTTP

/// A transfer that failed at a proxy, or behind it, as far as libcurl says so.
enum ProxyFailure {
    /// The proxy cannot be reached.
    case unreachable(String)
    /// The proxy does not connect to the server.
    case refused(String)
    /// The proxy or the server behind it did not answer.
    case silent(String)

    /// Reads a result of libcurl; nil where the server failed, and without a proxy.
    ///
    /// libcurl does not say which proxy of the environment it used: a connection that failed was one to a proxy if its
    /// address is not that of the server.
    init?(_ result: CURLcode, _ detail: String, _ url: HTTPURL, _ configuration: TransportConfiguration) {
        guard let proxy = Self.proxy(of: configuration) else { return nil }
        switch result {
        case CURLE_COULDNT_RESOLVE_PROXY: self = .unreachable(proxy)
        case CURLE_COULDNT_CONNECT:
            guard let place = Self.place(in: detail), place != Self.place(of: url) else { return nil }
            self = .unreachable(configuration.proxyAddress == nil ? place : proxy)
        case CURLE_PROXY: self = .refused(proxy)
        case _ where detail.contains("CONNECT"): self = .refused(proxy)
        case CURLE_OPERATION_TIMEDOUT, CURLE_GOT_NOTHING, CURLE_RECV_ERROR, CURLE_SEND_ERROR:
            guard configuration.proxyAddress != nil else { return nil }
            self = .silent(proxy)
        default: return nil
        }
    }

    /// Whether the proxy failed, and not, perhaps, the server behind it.
    var isOfProxy: Bool {
        switch self {
        case .unreachable, .refused: true
        case .silent: false
        }
    }

    /// The message; without the proxy's user and password.
    func message(_ text: String, _ detail: String) -> String {
        switch self {
        case .unreachable(let proxy):
            return "\(proxy) cannot be reached: \(text); check the address of the proxy, and whether it runs"
        case .refused(let proxy):
            let status = detail.split { !$0.isNumber }.first { $0.count == 3 }.map { " (status \($0))" } ?? ""
            return "\(proxy) does not connect to the server\(status); check the access rights of the proxy"
        case .silent(let proxy):
            return "\(text), by \(proxy) or by the server behind it; try again later, or allow more time"
        }
    }

    /// The proxy of a configuration, for people; nil without one.
    private static func proxy(of configuration: TransportConfiguration) -> String? {
        if let address = configuration.proxyAddress { return "the proxy \(ProxyAddress.place(of: address))" }
        let names = ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]
        let isSet = configuration.proxy == .environment && names.contains { getenv($0) != nil }
        return isSet ? "the proxy of the environment" : nil
    }

    /// The address of a connection that failed: `Failed to connect to HOST port PORT after 0 ms`.
    private static func place(in detail: String) -> String? {
        guard let start = detail.firstRange(of: "connect to ") else { return nil }
        let words = detail[start.upperBound...].split(separator: " ", maxSplits: 3)
        guard words.count > 2, words[1] == "port" else { return nil }
        return "the proxy \(words[0].lowercased()):\(words[2].prefix { $0.isNumber })"
    }

    private static func place(of url: HTTPURL) -> String {
        "the proxy \(url.host.lowercased().filter { $0 != "[" && $0 != "]" }):\(url.port)"
    }
}
#endif
