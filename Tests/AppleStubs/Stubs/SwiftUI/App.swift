// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, AlwaysUseLowerCamelCase, NoLeadingUnderscores

@MainActor @preconcurrency
public protocol Scene {}

@MainActor @preconcurrency
public protocol App {
    associatedtype Body: Scene
    @MainActor @preconcurrency var body: Self.Body { get }
    @MainActor @preconcurrency init()
}

extension App {
    /// Renders the app's only window once: there is no run loop here.
    public static func main() {
        let scene = Self().body
        guard let window = scene as? any RenderedScene else { return }
        window.render()
    }
}

@MainActor
protocol RenderedScene { func render() }

public struct WindowGroup<Content: View>: Scene, RenderedScene {
    private let content: Content
    public init(@ViewBuilder content: () -> Content) { self.content = content() }

    func render() {
        for element in Renderer.render(content) {
            if case .appear(let action) = element { action() }
        }
    }
}
