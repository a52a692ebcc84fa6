internal import Instrument

/// The page at `/`.
enum IndexPage {
    static func text(_ catalogue: [CatalogueEntry]) -> String {
        let rows = catalogue.map { entry in
            let link = Markup.escaped(HeaderText.encoded(path: entry.path))
            return
                "<tr><td><a href=\"\(link)\">\(Markup.escaped(entry.path))</a></td><td>\(Markup.escaped(entry.summary))</td></tr>\n"
        }
        return head + (rows.isEmpty ? "<tr><td>No media are served.</td></tr>\n" : rows.joined()) + foot
    }

    private static let head = """
        <!doctype html>
        <html lang="en">
        <head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Test origin</title>
        <style>
        body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
        table { border-collapse: collapse } td { padding: .2rem 1.5rem .2rem 0; vertical-align: top }
        code { background: #8882; padding: 0 .2rem } :root { color-scheme: light dark }
        </style></head>
        <body>
        <h1>Test origin</h1>
        <p>Media that are delivered by a schedule, and fail on command. Open one of these in a player.</p>
        <p>Put <code>/s/NAME</code> before a path, as in <code>/s/a/vod/ts/master.m3u8</code>, for a session of your own: the
        schedule starts with its first request, and nobody else shares its link.</p>
        <table>

        """

    private static let foot = """
        </table>
        <p>A live playlist takes <code>?window=N</code>, the number of segments that it lists.
        <a href="requests">requests</a> has all requests so far as lines of JSON.</p>
        </body>
        </html>

        """
}
