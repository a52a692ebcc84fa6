internal import InstrumentManifests

extension SubtitleSelection {
    /// Chooses from the renditions of a variant, the best choice first; nil for none.
    ///
    /// - Parameter audioLanguage: the language of the audio; nil if unknown.
    func choice(from renditions: [Rendition], audioLanguage: String?) -> Rendition? {
        switch self {
        case .off: return nil
        case .language(let language):
            let found = renditions.filter { $0.isIn(language) }
            return found.first { !$0.isForced } ?? found.first
        case .declared:
            if let usual = renditions.first(where: { $0.isDefault && !$0.isForced }) { return usual }
            return renditions.first { rendition in
                rendition.isForced && rendition.isAutoselected && (audioLanguage.map(rendition.isIn) ?? true)
            }
        }
    }
}

extension Rendition {
    /// Whether the language is a given one, or a variety of that.
    fileprivate func isIn(_ language: String) -> Bool {
        let (wanted, found) = (language.lowercased(), self.language?.lowercased() ?? "")
        return found == wanted || found.hasPrefix(wanted + "-")
    }
}
