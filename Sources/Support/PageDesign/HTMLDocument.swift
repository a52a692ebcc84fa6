internal import Instrument
internal import InstrumentText

/// A whole page without outside resources: it opens from a disk and from a server, in light and dark.
///
/// The policy of the page allows its own style and script only, by their digests.
package struct HTMLDocument: Sendable {
    /// The page as UTF-8 text, with its policy.
    package let html: String

    /// - Parameters:
    ///   - style: the whole style, which usually begins with ``PageDesign/document``.
    ///   - data: JSON for the script; `<` must be escaped in it.
    ///   - script: the script; empty for none.
    package init(title: HTML, style: String, body: HTML, data: String = "", script: String = "") {
        var policy = "default-src 'none'; style-src '\(ContentSecurityPolicy.hashSource(of: style))'; "
        if !script.isEmpty { policy += "script-src '\(ContentSecurityPolicy.hashSource(of: script))'; " }
        policy += "base-uri 'none'; form-action 'none'"
        let parts = [
            data.isEmpty ? "" : "<script type=\"application/json\" id=\"data\">\(data)</script>\n",
            script.isEmpty ? "" : "<script>\(script)</script>\n",
        ]
        let page: HTML = """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta http-equiv="Content-Security-Policy" content="\(HTML(trusted: policy))">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <meta name="referrer" content="no-referrer">
            <meta name="generator" content="Instrument \(InstrumentVersion.current)">
            <title>\(title)</title>
            <style>\(HTML(trusted: style))</style>
            </head>
            <body>
            \(body)
            \(HTML(trusted: parts.joined()))</body>
            </html>

            """
        html = page.markup
    }
}
