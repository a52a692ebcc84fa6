internal import NIOCore

/// Maps a path to a resource: a pure function of path and time, except for files on disk.
struct Site: Sendable {
    private var fixtures: Fixtures?
    private var files: ServedFiles?
    let catalogue: [CatalogueEntry]

    init(_ media: [ServedMedia]) throws(OriginError) {
        var files: [String] = []
        for item in media {
            switch item {
            case .fixtures(let fixtures): self.fixtures = fixtures
            case .files(let path): files.append(path)
            }
        }
        if !files.isEmpty { self.files = try ServedFiles(files) }
        catalogue = (fixtures.map { $0.catalogue + AdServer.catalogue } ?? []) + (self.files?.catalogue ?? [])
    }

    /// The licence server, which alone takes requests with a body.
    static let licencePath = "/licence"

    /// Whether a path is one of the pages about the origin.
    static func isOwnPage(_ path: String) -> Bool {
        ["/", "/index.html", "/favicon.ico", "/requests"].contains(path)
    }

    /// The resource at a path. `base` is the address of the origin as the client reached it, with its session.
    func resource(at path: String, query: String, base: String = "/", moment: Moment) -> Resource? {
        switch path {
        case "/", "/index.html": return Resource(ContentType.html, Body(IndexPage.text(catalogue)))
        case Self.licencePath: return fixtures == nil ? nil : EncryptionScheme.licence
        case "/favicon.ico": return Resource("image/x-icon", .empty)
        default: break
        }
        let names = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map(String.init)
        guard let first = names.first else { return nil }
        if let rest = PlaylistServer.path(behind: names) {
            return resource(at: "/" + rest.joined(separator: "/"), query: query, base: base, moment: moment)
        }
        if first == "steering" { return fixtures == nil ? nil : SteeringServer.resource(Array(names.dropFirst())) }
        if first == "time", names.count == 2 { return DASHClock.resource(names[1], at: moment) }
        if first == "media" { return files?.resource(Array(names.dropFirst())) }
        if first == "break" {
            return fixtures.flatMap {
                BrokenStreams(fixtures: $0).resource(Array(names.dropFirst()), StreamQuery(query), moment)
            }
        }
        if first == "ads", names.count == 2, fixtures != nil {
            return AdServer(base: base, query: query).resource(names[1])
        }
        guard let kind = StreamKind(rawValue: first) else { return nil }
        return fixtures?.resource(kind, Array(names.dropFirst()), StreamQuery(query), moment, base: base)
    }
}

/// The query parameters of a live stream.
struct StreamQuery: Sendable {
    /// The number of segments in a live playlist.
    var window = 5
    /// The query that the paths in a playlist repeat, with the question mark; empty without a query.
    var text = ""
    /// What a player asks of a low-latency server.
    var directives: DeliveryDirectives
    /// The number of segments of the manifest that a patch changes.
    var patched: Int?
    /// The number of steering answers that prefer the first server, and the seconds between them.
    var change: Int?
    var timeToLive: Int?

    init(_ query: String) {
        directives = DeliveryDirectives(query)
        for pair in query.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1)
            if parts.count == 2, parts[0] == "from" { patched = Int(parts[1]) }
            if parts.count == 2, parts[0] == "change" { change = Int(parts[1]) }
            if parts.count == 2, parts[0] == "ttl" { timeToLive = Int(parts[1]) }
            guard parts.count == 2, parts[0] == "window", let value = Int(parts[1]), value > 0 else { continue }
            window = min(value, 1_000)
            text = "?window=\(window)"
        }
    }
}
