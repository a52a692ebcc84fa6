package import InstrumentHTTP
internal import InstrumentXML

/// A document of an ad server, by its root element.
package enum AdDocumentKind: Hashable, Sendable {
    /// A VAST response.
    case vast(VASTResponse)
    /// A VMAP document.
    case vmap(VMAPDocument)

    /// Reads a document of either kind.
    /// - Throws: ``VASTError``.
    package init(parsing bytes: [UInt8], limits: AdLimits = AdLimits()) throws(VASTError) {
        let root = try MarkupElement(adDocument: bytes, as: "the document", limits: limits)
        if root.localName == "VMAP" {
            self = .vmap(try VMAPDocument(root, limits))
        } else {
            self = .vast(try VASTResponse(root, limits))
        }
    }
}

extension AdResolver {
    /// The ads of a break: those of the response in the document, or of the tag.
    package func ads(
        of adBreak: AdBreak,
        at url: HTTPURL?,
        macros: MacroValues = MacroValues()
    ) async -> AdSelection {
        var values = macros
        // The list of VAST 4: 1 pre-roll, 2 mid-roll, 3 post-roll.
        values["BREAKPOSITION"] = .text(["pre": "1", "mid": "2", "post": "3"][adBreak.role(in: nil)] ?? "4")
        var selection: AdSelection
        switch adBreak.source {
        case .response(let response):
            selection = await ads(of: response, at: url, macros: values, followsWrappers: adBreak.followsRedirects)
        case .tag(let tag):
            let follows = adBreak.followsRedirects
            selection = await ads(at: tag, relativeTo: url, macros: values, followsWrappers: follows)
        case .custom:
            selection = AdSelection()
            selection.failures = [AdFailure(.undefined, "custom ad data is not supported", urls: [])]
        case nil: selection = AdSelection()
        }
        if !adBreak.allowsMultipleAds { selection.keepOne() }
        // The break learns of every failure that leaves it without an ad.
        if selection.ads.isEmpty, let failure = selection.failures.last, !adBreak.errorURLs.isEmpty {
            selection.failures.append(AdFailure(failure.code, "the break has no ad", urls: adBreak.errorURLs))
        }
        return selection
    }
}

extension AdSelection {
    /// Keeps the first ad; the other stand-alone ads may replace it.
    fileprivate mutating func keepOne() {
        fallbacks = ads.dropFirst().filter { $0.sequence == nil } + fallbacks
        ads = Array(ads.prefix(1))
    }
}
