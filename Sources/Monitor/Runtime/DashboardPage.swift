internal import Instrument
internal import InstrumentHTTP
internal import InstrumentMonitor
internal import InstrumentPageDesign
internal import InstrumentText

/// The dashboard: one page without outside resources. Its markup, style and script are the files of the folder `Page`,
/// which are in the program.
package enum DashboardPage {
    private static let body = String(decoding: PackageResources.dashboard_html, as: UTF8.self)
    private static let style = PageDesign.tokens + String(decoding: PackageResources.dashboard_css, as: UTF8.self)
    /// The parts of the script; a part uses names of the parts before it while it is loaded.
    private static let script = [
        PackageResources.dom_js, PackageResources.units_js, PackageResources.store_js, PackageResources.rows_js,
        PackageResources.places_js, PackageResources.overview_js, PackageResources.timeline_js,
        PackageResources.requests_js, PackageResources.actions_js, PackageResources.panel_js, PackageResources.page_js,
    ].map { String(decoding: $0, as: UTF8.self) }.joined()

    /// The page with a policy that allows its own script and style only, by their hashes. Pictures are evidence that
    /// the script has read from the monitor.
    package static let reply: ServerReply = {
        let html =
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>Instrument monitor</title>\n"
            + "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
            + "<link rel=\"icon\" href=\"data:,\">\n<style>\(style)</style>\n</head>\n\(body)<script>\(script)</script>\n</html>\n"
        let policy =
            "default-src 'none'; script-src '\(ContentSecurityPolicy.hashSource(of: script))'; style-src '\(ContentSecurityPolicy.hashSource(of: style))'; connect-src 'self'; "
            + "img-src data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        return ServerReply(
            200,
            "text/html; charset=utf-8",
            Array(html.utf8),
            headers: [("Content-Security-Policy", policy), ("X-Frame-Options", "DENY")]
        )
    }()
}
