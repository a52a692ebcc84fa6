internal import ArgumentParser
internal import InstrumentCheck
internal import InstrumentProbe
internal import InstrumentTransport

/// How the servers of a stream are reached: headers, cookies and a proxy.
struct AccessOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            Header of all requests of a stream. May be repeated. A header with a secret (Authorization, Cookie, a name with token, \
            key or session) goes only to the host of the URL that was given.
            """,
            valueName: "name: value"
        )
    )
    var header: [String] = []

    @Flag(help: "Keep the cookies of each stream's servers until it ends, and send them back, as a browser does.")
    var cookieJar = false

    @Option(
        help: ArgumentHelp(
            """
            Proxy for all requests of a stream: http://, https:// or socks5h://HOST:PORT, perhaps with USER:PASSWORD@; 'none' for \
            none. Without the option, http_proxy, https_proxy, all_proxy and no_proxy of the environment apply.
            """,
            valueName: "url"
        )
    )
    var proxy: String?

    func validate() throws {
        _ = try headers()
        guard let proxy, proxy != "none" else { return }
        let schemes = ["http://", "https://", "socks4://", "socks4a://", "socks5://", "socks5h://"]
        let isHTTP = proxy.hasPrefix("http")
        guard let scheme = schemes.first(where: { proxy.lowercased().hasPrefix($0) }),
            proxy.utf8.count > scheme.utf8.count, !isHTTP || (try? HTTPURL(proxy)) != nil
        else {
            // No part of the text, which may have a password.
            throw ValidationError("--proxy must be 'none' or a URL such as http://proxy.example:3128")
        }
    }

    /// The headers in their order.
    func headers() throws -> HTTPHeaders {
        var headers = HTTPHeaders()
        for line in header {
            guard let colon = line.firstIndex(of: ":") else {
                throw ValidationError("--header must be 'NAME: VALUE' (found no colon)")
            }
            let name = String(line[..<colon])
            if ClientHeaders.reserved.union(HTTPRequest.framing).contains(name.lowercased()) {
                throw ValidationError("--header cannot set \(name), which the program sets for each request")
            }
            do throws(HTTPError) {
                try headers.add(name, String(line[line.index(after: colon)...]))
            } catch {
                throw ValidationError("--header: \(error.message)")
            }
        }
        return headers
    }

    /// Applies the options to a playback.
    func apply(to configuration: inout ProbeConfiguration) throws {
        configuration.headers = try headers()
        configuration.keepsCookies = cookieJar
        configuration.usesEnvironmentProxy = proxy == nil
        configuration.proxyAddress = proxyAddress
    }

    /// Applies the options to a check, whose transport has the proxy.
    func apply(to configuration: inout StreamCheckConfiguration) throws {
        configuration.headers = try headers()
        configuration.keepsCookies = cookieJar
    }

    /// Applies the proxy to a transport.
    func apply(to configuration: inout TransportConfiguration) {
        configuration.proxy = proxy == nil ? .environment : .none
        configuration.proxyAddress = proxyAddress
    }

    private var proxyAddress: String? { proxy == "none" ? nil : proxy }
}
