// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, AlwaysUseLowerCamelCase, NoLeadingUnderscores

/// The part of SwiftUI that the environment and the example use. ``Renderer`` is a test's.
@MainActor @preconcurrency
public protocol View {  // documentation/swiftui/view
    associatedtype Body: View  // documentation/swiftui/view/body-swift.associatedtype
    // documentation/swiftui/view/body-swift.property
    @ViewBuilder @MainActor @preconcurrency var body: Self.Body { get }
}

extension Never: View {
    // documentation/swiftui/view/body-swift.property
    public var body: Never { fatalError("a primitive view has no body") }
}

/// A view that the renderer knows.
@MainActor
protocol PrimitiveView: View where Body == Never {
    func render(in environment: EnvironmentValues, _ log: inout [RenderedElement])
}

extension PrimitiveView {
    // documentation/swiftui/view/body-swift.property
    public var body: Never { fatalError("a primitive view has no body") }
}

@MainActor
@resultBuilder
public enum ViewBuilder {  // documentation/swiftui/viewbuilder
    public static func buildBlock() -> EmptyView { EmptyView() }  // documentation/swiftui/viewbuilder/buildblock()
    // documentation/swiftui/viewbuilder/buildblock(_:)
    public static func buildBlock<Content: View>(_ content: Content) -> Content { content }
    // documentation/swiftui/viewbuilder/buildblock(_:)
    public static func buildBlock<each Content: View>(_ content: repeat each Content) -> TupleView<
        (repeat each Content)
    > {
        var views: [any View] = []
        repeat views.append(each content)
        return TupleView(views)
    }
    // documentation/swiftui/viewbuilder/buildexpression(_:)
    public static func buildExpression<Content: View>(_ content: Content) -> Content { content }
    // documentation/swiftui/viewbuilder/buildif(_:)
    public static func buildIf<Content: View>(_ content: Content?) -> Content? { content }
    // documentation/swiftui/viewbuilder/buildeither(first:)
    public static func buildEither<First: View, Second: View>(first: First) -> ConditionalContent<First, Second> {
        ConditionalContent(view: first)
    }
    // documentation/swiftui/viewbuilder/buildeither(second:)
    public static func buildEither<First: View, Second: View>(second: Second) -> ConditionalContent<First, Second> {
        ConditionalContent(view: second)
    }
}

public struct EmptyView: View, PrimitiveView {  // documentation/swiftui/emptyview
    public init() {}  // documentation/swiftui/emptyview/init()
    func render(in environment: EnvironmentValues, _ log: inout [RenderedElement]) {}
}

public struct TupleView<Content>: View, PrimitiveView {  // documentation/swiftui/tupleview
    private let views: [any View]
    init(_ views: [any View]) { self.views = views }
    func render(in environment: EnvironmentValues, _ log: inout [RenderedElement]) {
        for view in views { Renderer.render(view, in: environment, &log) }
    }
}

// For tests: SwiftUI's type has another name, _ConditionalContent.
public struct ConditionalContent<First: View, Second: View>: View, PrimitiveView {
    let view: any View
    func render(in environment: EnvironmentValues, _ log: inout [RenderedElement]) {
        Renderer.render(view, in: environment, &log)
    }
}

extension Optional: View where Wrapped: View {
    // documentation/swiftui/view/body-swift.property
    public var body: Never { fatalError("a primitive view has no body") }
}
extension Optional: PrimitiveView where Wrapped: View {
    func render(in environment: EnvironmentValues, _ log: inout [RenderedElement]) {
        if let view = self { Renderer.render(view, in: environment, &log) }
    }
}

public struct Text: View, PrimitiveView {  // documentation/swiftui/text
    private let text: String
    // documentation/swiftui/text/init(_:)
    public init(_ text: String) { self.text = text }
    func render(in environment: EnvironmentValues, _ log: inout [RenderedElement]) { log.append(.text(text)) }
}

public struct VStack<Content: View>: View, PrimitiveView {  // documentation/swiftui/vstack
    private let content: Content
    // documentation/swiftui/vstack/init(alignment:spacing:content:)
    public init(@ViewBuilder content: () -> Content) { self.content = content() }
    func render(in environment: EnvironmentValues, _ log: inout [RenderedElement]) {
        Renderer.render(content, in: environment, &log)
    }
}

public struct Button<Label: View>: View, PrimitiveView {  // documentation/swiftui/button
    private let action: @MainActor () -> Void
    private let label: Label

    // documentation/swiftui/button/init(action:label:)
    public init(action: @escaping @MainActor () -> Void, @ViewBuilder label: () -> Label) {
        (self.action, self.label) = (action, label())
    }

    func render(in environment: EnvironmentValues, _ log: inout [RenderedElement]) {
        log.append(.button(action))
        Renderer.render(label, in: environment, &log)
    }
}

extension Button where Label == Text {
    // documentation/swiftui/button/init(_:action:)
    public init(_ title: String, action: @escaping @MainActor () -> Void) {
        self.init(action: action) { Text(title) }
    }
}

nonisolated struct ModifiedView<Content: View>: View, PrimitiveView {
    let content: Content
    var transform: (inout EnvironmentValues) -> Void = { _ in }
    var appear: (() -> Void)?
    var disappear: (() -> Void)?

    @MainActor
    func render(in environment: EnvironmentValues, _ log: inout [RenderedElement]) {
        var environment = environment
        transform(&environment)
        if let appear { log.append(.appear(appear)) }
        if let disappear { log.append(.disappear(disappear)) }
        Renderer.render(content, in: environment, &log)
    }
}

extension View {
    // documentation/swiftui/view/transformenvironment(_:transform:)
    nonisolated public func transformEnvironment<V>(
        _ keyPath: WritableKeyPath<EnvironmentValues, V>,
        transform: @escaping (inout V) -> Void
    ) -> some View {
        ModifiedView(content: self, transform: { transform(&$0[keyPath: keyPath]) })
    }

    // documentation/swiftui/view/environment(_:_:)
    nonisolated public func environment<V>(_ keyPath: WritableKeyPath<EnvironmentValues, V>, _ value: V) -> some View {
        ModifiedView(content: self, transform: { $0[keyPath: keyPath] = value })
    }

    // documentation/swiftui/view/onappear(perform:)
    nonisolated public func onAppear(perform action: (() -> Void)? = nil) -> some View {
        ModifiedView(content: self, appear: action)
    }

    // documentation/swiftui/view/ondisappear(perform:)
    nonisolated public func onDisappear(perform action: (() -> Void)? = nil) -> some View {
        ModifiedView(content: self, disappear: action)
    }
}

// For tests: the modifiers of a rendered hierarchy, outermost first.
public enum RenderedElement {
    case text(String)
    case button(@MainActor () -> Void)
    case appear(() -> Void)
    case disappear(() -> Void)
}

// For tests: walks a hierarchy as SwiftUI would: sets the environment of each view, then asks for its body.
@MainActor
public enum Renderer {
    public static func render(_ view: some View) -> [RenderedElement] {
        var log: [RenderedElement] = []
        render(view, in: EnvironmentValues(), &log)
        return log
    }

    static func render(_ view: some View, in environment: EnvironmentValues, _ log: inout [RenderedElement]) {
        if let primitive = view as? any PrimitiveView { return primitive.render(in: environment, &log) }
        for child in Mirror(reflecting: view).children {
            (child.value as? any EnvironmentReader)?.read(environment)
        }
        render(view.body, in: environment, &log)
    }
}
