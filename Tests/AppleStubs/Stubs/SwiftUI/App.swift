// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, AlwaysUseLowerCamelCase, NoLeadingUnderscores

// documentation/swiftui/scene
@MainActor @preconcurrency
public protocol Scene {}

@MainActor @preconcurrency
public protocol App {  // documentation/swiftui/app
    associatedtype Body: Scene  // documentation/swiftui/app/body-swift.associatedtype
    @MainActor @preconcurrency var body: Self.Body { get }  // documentation/swiftui/app/body-swift.property
    @MainActor @preconcurrency init()  // documentation/swiftui/app/init()
}

extension App {
    // documentation/swiftui/app/main(). Here it renders the only window once: there is no run loop.
    public static func main() {
        let scene = Self().body
        guard let window = scene as? any RenderedScene else { return }
        window.render()
    }
}

@MainActor
protocol RenderedScene { func render() }

public struct WindowGroup<Content: View>: Scene, RenderedScene {  // documentation/swiftui/windowgroup
    private let content: Content
    // documentation/swiftui/windowgroup/init(content:)
    public init(@ViewBuilder content: () -> Content) { self.content = content() }

    func render() {
        for element in Renderer.render(content) {
            if case .appear(let action) = element { action() }
        }
    }
}
