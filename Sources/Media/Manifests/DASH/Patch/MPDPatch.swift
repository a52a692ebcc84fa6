internal import Instrument
internal import InstrumentHTTP
internal import InstrumentText
internal import InstrumentXML

/// A patch of an MPD (ISO/IEC 23009-1, 5th edition, 5.15): the MPD to which it belongs, and its operations (RFC 5261).
struct MPDPatch {
    private let root: MarkupElement
    /// The prefix of elements of MPDs in the patch, which an MPD has only where its root has the same one.
    private let prefix: String?

    init(parsing bytes: [UInt8], at url: HTTPURL, limits: ManifestLimits) throws(ManifestError) {
        do {
            root = try MarkupReader.read(bytes, as: "the MPD patch", limits: MarkupLimits(limits))
        } catch {
            throw ManifestError(error, at: url)
        }
        guard root.name == "Patch" else {
            let message = "the root element of an MPD patch must be `Patch`; check the server's answer"
            throw ManifestError(.notAManifest, message, line: root.line)
        }
        guard root.children.count <= limits.patchOperations else {
            let message = "an MPD patch must have at most \(limits.patchOperations) operations"
            throw ManifestError(.limitExceeded, message)
        }
        prefix = root.attributes.first { name, value in
            name.hasPrefix("xmlns:") && value.hasPrefix("urn:mpeg:dash:schema:mpd:")
        }.map { String($0.key.dropFirst(6)) + ":" }
    }

    /// Returns the root of the MPD with all changes; if one fails, throws, and nothing is changed.
    func applied(to manifest: MarkupElement, limits: ManifestLimits) throws(ManifestError) -> MarkupElement {
        try checkOrigin(manifest)
        var work = Work(root: manifest, limits: limits, prefix: prefix)
        for operation in root.children { try work.perform(operation) }
        // A patch should change the time itself; one that does not is still the MPD of the time that the patch names.
        if work.root["publishTime"] == manifest["publishTime"] {
            work.root.attributes["publishTime"] = root["publishTime"]
        }
        guard Self.isSameTime(work.root["publishTime"], root["publishTime"]) else {
            throw unrelated("the patched MPD has another publishTime than the patch")
        }
        try work.root.checkSize(limits)
        return work.root
    }

    private func checkOrigin(_ manifest: MarkupElement) throws(ManifestError) {
        guard let id = manifest["id"], root["mpdId"] == id else {
            throw unrelated("`mpdId` of the patch is not `id` of the MPD")
        }
        guard Self.isSameTime(manifest["publishTime"], root["originalPublishTime"]) else {
            throw unrelated("`originalPublishTime` of the patch is not `publishTime` of the MPD")
        }
        guard let old = Self.time(manifest["publishTime"]), let new = Self.time(root["publishTime"]), new >= old else {
            throw unrelated("`publishTime` of the patch must not be before that of the MPD")
        }
    }

    private func unrelated(_ message: String) -> ManifestError {
        ManifestError(.unrelatedReload, message + "; load the whole MPD", line: root.line)
    }

    private static func time(_ text: String?) -> WallTime? { text.flatMap { CalendarText.wallTime($0) } }

    private static func isSameTime(_ first: String?, _ second: String?) -> Bool {
        guard let first, let second else { return false }
        return first == second || time(first).map { $0 == time(second) } ?? false
    }
}

/// An MPD while a patch changes it.
private struct Work {
    var root: MarkupElement
    let limits: ManifestLimits
    let prefix: String?
    private var steps = 0

    init(root: MarkupElement, limits: ManifestLimits, prefix: String?) {
        (self.root, self.limits, self.prefix) = (root, limits, prefix)
    }

    /// The selected node.
    private struct Place {
        var path: [Int]
        var target: MPDSelector.Target
        var line: Int
    }

    mutating func perform(_ operation: MarkupElement) throws(ManifestError) {
        try ManifestError.checkCancellation()
        let place = try place(of: operation)
        switch operation.name {
        case "add": try add(operation, place)
        case "replace": try replace(operation, place)
        case "remove": try remove(place)
        default: throw defect("an operation must be `add`, `replace` or `remove`", operation.line)
        }
    }

    private func defect(_ message: String, _ line: Int) -> ManifestError {
        ManifestError(.malformed, message, line: line)
    }

    private mutating func spend(_ count: Int) throws(ManifestError) {
        steps = steps.saturatingAdd(count)
        guard steps <= limits.patchSteps else {
            throw ManifestError(.limitExceeded, "the patch looks at more than \(limits.patchSteps) elements of the MPD")
        }
    }
}

// MARK: Selectors
extension Work {
    /// The one node that the selector of an operation selects.
    private mutating func place(of operation: MarkupElement) throws(ManifestError) -> Place {
        guard let text = operation["sel"], let selector = MPDSelector(text, depth: limits.depth) else {
            let message = "`sel` must be a path of elements, with positions or attributes as conditions"
            throw defect(message, operation.line)
        }
        var counts = [Int](repeating: 0, count: selector.steps.first?.conditions.count ?? 0)
        var found: [[Int]] = []
        if let first = selector.steps.first, first.names(root), first.admits(root, counts: &counts) {
            try collect(selector.steps.dropFirst(), in: root, behind: [], &found)
        }
        guard found.count == 1, let path = found.first else {
            let problem = found.isEmpty ? "nothing" : "more than one element"
            throw defect("`sel` must select one node of the MPD (found \(problem))", operation.line)
        }
        return Place(path: path, target: selector.target, line: operation.line)
    }

    /// Collects the paths of the selected elements, up to two.
    private mutating func collect(
        _ steps: ArraySlice<MPDSelector.Step>,
        in element: MarkupElement,
        behind path: [Int],
        _ found: inout [[Int]]
    ) throws(ManifestError) {
        guard let step = steps.first else {
            found.append(path)
            return
        }
        try spend(element.children.count)
        var counts = [Int](repeating: 0, count: step.conditions.count)
        for (place, child) in element.children.enumerated()
        where step.names(child) && step.admits(child, counts: &counts) {
            try collect(steps.dropFirst(), in: child, behind: path + [place], &found)
            if found.count > 1 { return }
        }
    }
}

// MARK: Operations
extension Work {
    private mutating func add(_ operation: MarkupElement, _ place: Place) throws(ManifestError) {
        guard place.target == .element else { throw defect("`add` must select an element", place.line) }
        if let type = operation["type"] { return try addAttribute(type, of: operation, place) }
        let new = operation.children.map(renamed)
        guard !new.isEmpty else { throw defect("`add` must contain an element", place.line) }
        switch operation["pos"] {
        case nil: try change(place.path, place) { $0.insert(new, at: .max) }
        case "prepend": try change(place.path, place) { $0.insert(new, at: 0) }
        case "before": try changeParent(place) { parent, child in parent.insert(new, at: child) }
        case "after": try changeParent(place) { parent, child in parent.insert(new, at: child + 1) }
        default: throw defect("`pos` must be `before`, `after` or `prepend`", place.line)
        }
    }

    private mutating func addAttribute(
        _ type: String,
        of operation: MarkupElement,
        _ place: Place
    ) throws(ManifestError) {
        let name: String
        if type.hasPrefix("@") {
            name = String(type.dropFirst())
        } else if type.hasPrefix("namespace::") {
            name = "xmlns:" + type.dropFirst(11)
        } else {
            throw defect("`type` must begin with `@` or `namespace::`", place.line)
        }
        let value = String(operation.text.trimmingWhitespace)
        let line = place.line
        try change(place.path, place) { element throws(ManifestError) in
            guard !name.isEmpty, element[name] == nil else {
                throw ManifestError(.malformed, "`add` must name an attribute that does not exist", line: line)
            }
            element.attributes[name] = value
        }
    }

    private mutating func replace(_ operation: MarkupElement, _ place: Place) throws(ManifestError) {
        let value = String(operation.text.trimmingWhitespace)
        let line = place.line
        switch place.target {
        case .element:
            let new = operation.children.map(renamed)
            guard new.count == 1 else { throw defect("`replace` must contain one element", line) }
            try changeParent(place) { parent, child in parent.replaceChild(at: child, with: new) }
        case .attribute(let name):
            try change(place.path, place) { element throws(ManifestError) in
                guard element.attributes.updateValue(value, forKey: name) != nil else {
                    throw ManifestError(.malformed, "`replace` must name an attribute that exists", line: line)
                }
            }
        case .text: try change(place.path, place) { $0.text = value }
        }
    }

    private mutating func remove(_ place: Place) throws(ManifestError) {
        let line = place.line
        switch place.target {
        case .element: try changeParent(place) { parent, child in parent.replaceChild(at: child) }
        case .attribute(let name):
            try change(place.path, place) { element throws(ManifestError) in
                guard element.attributes.removeValue(forKey: name) != nil else {
                    throw ManifestError(.malformed, "`remove` must name an attribute that exists", line: line)
                }
            }
        case .text: try change(place.path, place) { $0.text = "" }
        }
    }

    private mutating func change(
        _ path: [Int],
        _ place: Place,
        _ body: (inout MarkupElement) throws(ManifestError) -> Void
    ) throws(ManifestError) {
        var moved = 0
        _ = try root.change(at: path[...]) { element throws(ManifestError) in
            moved = element.children.count
            try body(&element)
        }
        try spend(moved)
    }

    /// Changes the parent of the selected element, and passes the element's place in it.
    private mutating func changeParent(
        _ place: Place,
        _ body: (inout MarkupElement, Int) -> Void
    ) throws(ManifestError) {
        guard let child = place.path.last else {
            throw defect("a patch must not replace or remove the root of the MPD", place.line)
        }
        try change(Array(place.path.dropLast()), place) { element throws(ManifestError) in body(&element, child) }
    }

    /// An element of the patch as an element of the MPD: without the prefix of the MPD's namespace in the patch.
    private func renamed(_ element: MarkupElement) -> MarkupElement {
        guard let prefix else { return element }
        let name = element.name.hasPrefix(prefix) ? String(element.name.dropFirst(prefix.count)) : element.name
        var copy = MarkupElement(name: name, attributes: element.attributes, line: element.line)
        (copy.text, copy.isTextIncomplete) = (element.text, element.isTextIncomplete)
        copy.insert(element.children.map(renamed), at: 0)
        return copy
    }
}

extension MarkupElement {
    /// Checks that an MPD that patches have changed is no larger than one that is loaded as a whole may be.
    fileprivate func checkSize(_ limits: ManifestLimits) throws(ManifestError) {
        var (elements, bytes) = (0, 0)
        func visit(_ element: MarkupElement, depth: Int) throws(ManifestError) {
            elements += 1
            bytes += element.name.utf8.count + element.text.utf8.count
            for (name, value) in element.attributes { bytes += name.utf8.count + value.utf8.count }
            guard elements <= limits.elements, bytes <= limits.bytes, depth <= limits.depth,
                element.attributes.count <= limits.attributes
            else { throw ManifestError(.limitExceeded, "the patched MPD exceeds the limits of an MPD") }
            for child in element.children { try visit(child, depth: depth + 1) }
        }
        try visit(self, depth: 1)
    }
}
