/// The scripts that run in pages.
enum PageScripts {
    private static let observerSource = String(decoding: PackageResources.observer_js, as: UTF8.self)
    private static let adsSource = String(decoding: PackageResources.ads_js, as: UTF8.self)
    private static let searchSource = String(decoding: PackageResources.search_js, as: UTF8.self)
    private static let playersSource = String(decoding: PackageResources.players_js, as: UTF8.self)

    /// A function whose `this` is a media element; returns what the page's player says of it.
    static let players = "function () { return (\(playersSource)).call(this, \(searchSource)) }"

    /// Observes a document, in the world and with the names of one connection.
    static func observer(_ names: ChromeModel.Names) -> String {
        "(\(observerSource))(globalThis[\"\(names.binding)\"], \"\(names.interface)\", \"\(names.signal)\")"
    }

    /// Tells the observer of a document what its ads do, from the page's own world.
    static func ads(_ names: ChromeModel.Names) -> String { "(\(adsSource))(\"\(names.signal)\", \(searchSource))" }
}
