// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, AlwaysUseLowerCamelCase, NoLeadingUnderscores

public import AVFoundation
public import SwiftUI

/// Shows a player. Declared in the overlay of AVKit and SwiftUI.
@MainActor @preconcurrency
public struct VideoPlayer<VideoOverlay: View>: View {  // _AVKit_SwiftUI.swiftinterface
    public let player: AVPlayer?  // For tests.
    private let overlay: VideoOverlay

    // _AVKit_SwiftUI.swiftinterface
    public init(player: AVPlayer?, @ViewBuilder videoOverlay: () -> VideoOverlay) {
        (self.player, overlay) = (player, videoOverlay())
    }

    public var body: some View { overlay }  // _AVKit_SwiftUI.swiftinterface
}

extension VideoPlayer where VideoOverlay == EmptyView {
    // _AVKit_SwiftUI.swiftinterface
    public init(player: AVPlayer?) { self.init(player: player) { EmptyView() } }
}
