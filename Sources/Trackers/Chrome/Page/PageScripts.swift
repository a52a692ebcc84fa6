/// The scripts that run in pages.
enum PageScripts {
    private static let observerSource = String(decoding: PackageResources.observer_js, as: UTF8.self)
    /// A function whose `this` is a media element; returns what the page's player says of it.
    static let players = playersSource

    /// Observes a document, in the world and with the names of one connection.
    static func observer(_ names: ChromeModel.Names) -> String {
        "(\(observerSource))(globalThis[\"\(names.binding)\"], \"\(names.interface)\")"
    }

    private static let playersSource = String(decoding: PackageResources.players_js, as: UTF8.self)
}
