// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, AlwaysUseLowerCamelCase, NoLeadingUnderscores

public import AVFoundation
public import SwiftUI

/// Shows a player. Declared in SwiftUI's overlay of AVKit.
public struct VideoPlayer<VideoOverlay: View>: View {
    public let player: AVPlayer?
    private let overlay: VideoOverlay

    public init(player: AVPlayer?, @ViewBuilder videoOverlay: () -> VideoOverlay) {
        (self.player, overlay) = (player, videoOverlay())
    }

    public var body: some View { overlay }
}

extension VideoPlayer where VideoOverlay == EmptyView {
    public init(player: AVPlayer?) { self.init(player: player) { EmptyView() } }
}
