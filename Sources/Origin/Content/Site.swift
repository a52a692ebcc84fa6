internal import NIOCore

/// Maps a path to a resource: a pure function of the path and the moment, except for files on disk.
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
        catalogue = (fixtures?.catalogue ?? []) + (self.files?.catalogue ?? [])
    }

    /// Whether a path is one of the pages about the origin itself.
    static func isOwnPage(_ path: String) -> Bool {
        ["/", "/index.html", "/favicon.ico", "/requests"].contains(path)
    }

    func resource(at path: String, query: String, moment: Moment) -> Resource? {
        switch path {
        case "/", "/index.html": return Resource(ContentType.html, Body(IndexPage.text(catalogue)))
        case "/favicon.ico": return Resource("image/x-icon", .empty)
        default: break
        }
        let names = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map(String.init)
        guard let first = names.first else { return nil }
        if first == "media" { return files?.resource(Array(names.dropFirst())) }
        guard let kind = StreamKind(rawValue: first) else { return nil }
        return fixtures?.resource(kind, Array(names.dropFirst()), StreamQuery(query), moment)
    }
}

/// The query parameters of a live stream.
struct StreamQuery: Sendable {
    /// How many segments a live playlist lists.
    var window = 5
    /// The query as the paths in a playlist repeat it, with the question mark; empty without a query.
    var text = ""

    init(_ query: String) {
        for pair in query.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, parts[0] == "window", let value = Int(parts[1]), value > 0 else { continue }
            window = min(value, 1_000)
            text = "?window=\(window)"
        }
    }
}
