package import InstrumentHTTP
package import InstrumentXML

/// The elements of an MPD that are elsewhere (xlink; ISO/IEC 23009-1, section 5.5), as far as they were loaded.
///
/// Parse an MPD, load what ``Presentation/missingElements`` names, and parse the MPD again with it, until nothing is
/// missing: remote elements may refer to others. Elements for `onRequest` are loaded with the MPD, too. The number of
/// elements is limited, so that elements that refer to themselves end.
package struct RemoteElements: Hashable, Sendable {
    /// The largest number of remote elements of one MPD; the same element in several places counts once.
    private static let mostElements = 64
    /// Elements within elements that are elsewhere.
    private static let mostLevels = 4
    /// The largest number of places, so that few elements that refer to each other cannot fill many places.
    private static let mostPlaces = 1_000
    private static let mostNotices = 16

    private enum Content: Hashable {
        case elements([MarkupElement])
        case failure(String)
    }

    private var contents: [HTTPURL: Content] = [:]

    /// Creates a set without elements.
    package init() {}

    /// Takes a response.
    ///
    /// - Parameters:
    ///   - bytes: one element, or several of the same name without a root.
    ///   - requested: the address in ``Presentation/missingElements``.
    ///   - url: the address after redirects, which is the base of references to further elements.
    package mutating func take(_ bytes: [UInt8], of requested: HTTPURL, at url: HTTPURL, limits: ManifestLimits) {
        // A stream that names ever new elements.
        if contents.count >= 4 * Self.mostElements { contents = [:] }
        let content = ManifestContent(bytes)
        if [.page, .empty, .json].contains(content) { return fail(requested, "\(content)") }
        do throws(ManifestError) {
            contents[requested] = .elements(try Self.elements(of: bytes, at: url, limits))
        } catch {
            contents[requested] = .failure(error.message)
        }
    }

    /// Takes the reason why an element could not be loaded: the default content of its place is used.
    package mutating func fail(_ requested: HTTPURL, _ reason: String) { contents[requested] = .failure(reason) }
}

extension RemoteElements {
    private static func elements(
        of bytes: [UInt8],
        at url: HTTPURL,
        _ limits: ManifestLimits
    ) throws(ManifestError) -> [MarkupElement] {
        let limits = MarkupLimits(limits)
        var elements: [MarkupElement] = []
        do {
            let root = try MarkupReader.read(bytes, as: "the remote element", limits: limits)
            // Some servers answer with an MPD whose periods are meant.
            elements = root.name == "MPD" ? Array(root.all("Period")) : [root]
        } catch {
            // Several elements are no document before they have a root.
            let start = Self.endOfDeclaration(in: bytes)
            let wrapped = Array("<elements>".utf8) + bytes[start...] + Array("</elements>".utf8)
            guard let root = try? MarkupReader.read(wrapped, as: "the remote element", limits: limits) else {
                throw ManifestError(error, at: url)
            }
            elements = root.children
        }
        let base = ReferenceBase(url: url)
        return elements.map { $0.withLinks(from: base) }
    }

    private static func endOfDeclaration(in bytes: [UInt8]) -> Int {
        let start = bytes.firstIndex(of: UInt8(ascii: "<")) ?? 0
        guard bytes[start...].starts(with: "<?xml".utf8) else { return start }
        return (bytes[start...].firstIndex(of: UInt8(ascii: ">")) ?? start - 1) + 1
    }
}

// MARK: Places
extension RemoteElements {
    /// Returns an MPD with the elements that were loaded.
    package func resolved(_ root: MarkupElement, at url: HTTPURL) -> MarkupElement { resolve(root, at: url).root }

    /// What the places of an MPD's remote elements hold, and which elements have to be loaded.
    struct Resolution {
        var root: MarkupElement
        var missing: [HTTPURL] = []
        fileprivate var used: Set<HTTPURL> = []
        fileprivate var placeCount = 0
        var notices = NoticeList(limit: RemoteElements.mostNotices)
    }

    /// Puts the remote elements into their places. A place whose element is not known keeps its default content. A
    /// place without any is left out, except a period of a known duration: its time passes without media.
    func resolve(_ root: MarkupElement, at url: HTTPURL) -> Resolution {
        var resolution = Resolution(root: root)
        guard root.hasLinks else { return resolution }
        let linked = root.withLinks(from: ReferenceBase(url: url))
        resolution.root = resolved(linked, within: [url], into: &resolution)
        var seen: Set<HTTPURL> = []
        resolution.missing = resolution.missing.filter { seen.insert($0).inserted }
        let room = max(0, Self.mostElements - resolution.used.count)
        if resolution.missing.count > room {
            resolution.notices.add(.remoteElementLimit, "\(Self.mostElements)")
            resolution.missing.removeLast(resolution.missing.count - room)
        }
        return resolution
    }

    /// - Parameter places: the documents around the element, the MPD first.
    private func resolved(
        _ element: MarkupElement,
        within places: [HTTPURL],
        into resolution: inout Resolution
    ) -> MarkupElement {
        guard element.hasLinks else { return element }
        var children: [MarkupElement] = []
        for child in element.children {
            if let link = child.link {
                children += content(of: child, link, within: places, into: &resolution)
            } else {
                children.append(resolved(child, within: places, into: &resolution))
            }
        }
        return element.with(children)
    }

    private func content(
        of place: MarkupElement,
        _ link: String,
        within places: [HTTPURL],
        into resolution: inout Resolution
    ) -> [MarkupElement] {
        if link == MarkupElement.nothing { return [] }
        resolution.placeCount += 1
        guard resolution.placeCount <= Self.mostPlaces else { return [] }
        let failure: String
        switch (try? HTTPURL(link)).map({ ($0, contents[$0]) }) {
        case nil: failure = "its address is neither http nor https"
        case (let url, _)? where places.contains(url):
            failure = "its address is that of the document that it is in: an endless loop"
        case (let url, nil)?:
            resolution.missing.append(url)
            let isBeyond = resolution.used.count + resolution.missing.count > Self.mostElements
            failure = isBeyond ? "at most \(Self.mostElements) elements are loaded" : "it was not loaded"
        case (let url, .failure(let reason))?:
            resolution.used.insert(url)
            failure = reason
        case (let url, .elements(let elements))?:
            resolution.used.insert(url)
            let fitting = elements.filter { $0.name == place.name }
            guard places.count <= Self.mostLevels else {
                failure = "remote elements refer to each other more than \(Self.mostLevels) times"
                break
            }
            guard !fitting.isEmpty || elements.isEmpty else {
                failure = "found \(elements[0].name), expected \(place.name)"
                break
            }
            let taken = fitting.prefix(1).map { $0.taking(place, isOnly: fitting.count == 1) } + fitting.dropFirst()
            let parent = MarkupElement(name: "MPD", attributes: [:], line: place.line).with(taken)
            return resolved(parent, within: places + [url], into: &resolution).children
        }
        resolution.notices.add(.remoteElement, "\(place.name): \(failure)", line: place.line)
        if place.children.isEmpty { return place.name == "Period" && place["duration"] != nil ? [place] : [] }
        var place = place
        place.attributes["xlink:href"] = nil
        return [resolved(place, within: places, into: &resolution)]
    }
}

extension MarkupElement {
    /// The address that stands for no element (section 5.5.3).
    fileprivate static let nothing = "urn:mpeg:dash:resolve-to-zero:2013"

    private static let namespace = "http://www.w3.org/1999/xlink"

    /// Elements with many children that hold no links.
    private static let leaves: Set = ["SegmentTimeline", "SegmentURL", "Event", "ContentProtection", "BaseURL"]

    fileprivate var link: String? { attributes["xlink:href"] }

    /// Whether a child, or an element in it, is elsewhere.
    fileprivate var hasLinks: Bool {
        children.contains { !Self.leaves.contains($0.name) && ($0.hasReference || $0.hasLinks) }
    }

    private var hasReference: Bool { attributes.contains { $0.key.hasSuffix(":href") } }

    /// The element with absolute addresses of links, whatever the prefix of xlink is.
    fileprivate func withLinks(from base: ReferenceBase, prefix: String = "xlink") -> MarkupElement {
        let own = attributes.first { $0.key.hasPrefix("xmlns:") && $0.value == Self.namespace }
        let prefix = own.map { String($0.key.dropFirst(6)) } ?? prefix
        var result = self
        if let link = result.attributes.removeValue(forKey: prefix + ":href") {
            let url = link == Self.nothing ? nil : try? base.resolve(link)
            result.attributes["xlink:href"] = url?.secretText ?? link
        }
        guard hasLinks else { return result }
        return result.with(
            children.map { Self.leaves.contains($0.name) ? $0 : $0.withLinks(from: base, prefix: prefix) }
        )
    }

    /// The element with other children.
    fileprivate func with(_ children: [MarkupElement]) -> MarkupElement {
        var result = MarkupElement(name: name, attributes: attributes, line: line)
        (result.text, result.isTextIncomplete) = (text, isTextIncomplete)
        for child in children { result.append(child) }
        return result
    }

    /// The remote element with the times and the identifier of its place where it has none.
    fileprivate func taking(_ place: MarkupElement, isOnly: Bool) -> MarkupElement {
        var element = self
        for name in isOnly ? ["id", "start", "duration"] : ["id", "start"] where element[name] == nil {
            element.attributes[name] = place[name]
        }
        return element
    }
}
