internal import InstrumentBackendKinds
internal import InstrumentText

/// Reads `access`.
extension ConfigurationReader {
    private static let mostNameBytes = 100

    mutating func readAccess(_ value: ConfigurationValue) {
        guard let members = map(value, "`access`", ["tokens", "proxy", "tls"]) else { return }
        if let tokens = members["tokens"] { readTokens(tokens) }
        if let tls = members["tls"] { configuration.access.tls = certificate(tls) }
        if let proxy = members["proxy"] { configuration.access.proxy = self.proxy(proxy) }
    }

    private mutating func certificate(_ value: ConfigurationValue) -> ServerCertificate? {
        guard let members = map(value, "`tls`", ["certificate", "key"]) else { return nil }
        for key in ["certificate", "key"] where members[key] == nil {
            report(value.place, "`tls` must have `\(key)`, the path of a PEM file.")
        }
        let certificate = members["certificate"].flatMap { text($0, "certificate") }
        let key = members["key"].flatMap { text($0, "key") }
        guard let certificate, let key else { return nil }
        return ServerCertificate(certificate: certificate, key: key)
    }

    private mutating func readTokens(_ value: ConfigurationValue) {
        var known: [String: ConfigurationPlace] = [:]
        for element in list(value, "tokens") {
            guard let members = map(element, "A token", ["name", "role", "secret"]) else { continue }
            for key in ["name", "role", "secret"] where members[key] == nil {
                report(element.place, "A token must have `\(key)`.")
            }
            let role = members["role"].flatMap { self.role($0) }
            let secret = members["secret"].flatMap { self.secret($0, "secret") }
            guard let name = members["name"].flatMap({ text($0, "name") }) else { continue }
            if name.utf8.count > Self.mostNameBytes
                || name.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
            {
                report(
                    element.place,
                    "`name` must have at most \(Self.mostNameBytes) bytes without control characters."
                )
                continue
            }
            if let first = known[name] {
                report(
                    element.place,
                    "The name `\(name.excerpt())` must be unique (also at \(first)); rename one of them."
                )
                continue
            }
            known[name] = element.place
            guard let role, let secret else { continue }
            configuration.access.tokens.append(.init(name: name, role: role, secret: secret))
        }
    }

    private mutating func role(_ value: ConfigurationValue) -> AccessRole? {
        if case .scalar(let text, _) = value.content, let role = AccessRole(rawValue: text) { return role }
        report(value.place, "`role` must be `read` or `act` (found \(value.kindName)).")
        return nil
    }

    private mutating func proxy(_ value: ConfigurationValue) -> AccessSettings.Proxy? {
        guard let members = map(value, "`proxy`", ["header", "from", "role"]) else { return nil }
        for key in ["header", "from"] where members[key] == nil {
            report(value.place, "`proxy` must have `\(key)`.")
        }
        var addresses: [AddressRange] = []
        let ranges: [(name: String, place: ConfigurationPlace)] = members["from"].map { names($0, "from") } ?? []
        for (name, place) in ranges {
            guard let range = AddressRange(name) else {
                report(
                    place,
                    "`from` must be addresses such as `127.0.0.1` or `10.0.0.0/8` (found `\(name.excerpt())`)."
                )
                continue
            }
            addresses.append(range)
        }
        let role = members["role"].map { self.role($0) } ?? .read
        guard let header = members["header"], let name = text(header, "header") else { return nil }
        let isToken = name.utf8.allSatisfy { $0.isNameByte || $0 == UInt8(ascii: "-") }
        guard isToken, !["authorization", "cookie", "host", "origin"].contains(name.lowercased()) else {
            report(
                header.place,
                "`header` must be the name of a header that the proxy sets, such as `X-Forwarded-User` (found \(header.kindName))."
            )
            return nil
        }
        return role.map { .init(header: name, addresses: addresses, role: $0) }
    }
}
