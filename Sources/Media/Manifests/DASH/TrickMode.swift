package import Instrument
package import InstrumentHTTP
package import InstrumentXML

extension Presentation {
    /// Returns the pictures for fast forward of an MPD as a presentation: of each period the adaptation sets whose
    /// `EssentialProperty` is the trick mode (DASH-IF Interoperability Points 4.3 section 3.2.9), which players leave
    /// out of usual playback. Nil for an MPD without such sets, and where it cannot be read.
    ///
    /// The names of the renditions begin with `keyframes/`.
    ///
    /// - Parameter root: the root of the MPD, whose elements that are elsewhere are in their places.
    package static func trickMode(
        of root: MarkupElement,
        at url: HTTPURL,
        now: WallTime,
        clockOffset: Int64 = 0,
        limits: ManifestLimits = ManifestLimits()
    ) -> Presentation? {
        guard let sets = DASHManifest(root: root, url: url, limits: limits).trickModeSets,
            var presentation = try? sets.presentation(now: now, clockOffset: clockOffset)
        else { return nil }
        for index in presentation.renditions.indices {
            let name = presentation.renditions[index].id.description
            presentation.renditions[index].id = Rendition.ID("keyframes/\(name)")
        }
        return presentation
    }
}

extension MarkupElement {
    /// Returns the element with other children of a name; those that become nil are left out.
    fileprivate func replacingChildren(_ name: String, _ change: (MarkupElement) -> MarkupElement?) -> MarkupElement {
        var element = MarkupElement(name: self.name, attributes: attributes, line: line)
        element.text = text
        for child in children {
            if child.name != name { element.append(child) } else if let new = change(child) { element.append(new) }
        }
        return element
    }

    /// The adaptation set without the property of the trick mode; nil for another set.
    fileprivate var withoutTrickMode: MarkupElement? {
        var set = self
        for place in children.indices.reversed() where children[place].isTrickModeProperty {
            set.replaceChild(at: place)
        }
        return set.children.count < children.count ? set : nil
    }

    private var isTrickModeProperty: Bool {
        name == "EssentialProperty" && self["schemeIdUri"] == EssentialProperties.trickMode
    }
}

extension DASHManifest {
    /// The MPD with the sets of the trick mode alone; nil without one.
    fileprivate var trickModeSets: DASHManifest? {
        let hasSets = root.all("Period").contains { period in
            period.all("AdaptationSet").contains { $0.withoutTrickMode != nil }
        }
        guard hasSets else { return nil }
        return replacing(
            root.replacingChildren("Period") { period in
                period.replacingChildren("AdaptationSet") { $0.withoutTrickMode }
            }
        )
    }
}
