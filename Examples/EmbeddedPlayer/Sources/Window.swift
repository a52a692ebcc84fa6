import CGTK
import Instrument

/// The window: the picture with the figures over it, and the controls. Used on the main thread alone.
final class Window {
    private let window, picture, overlay, playButton, position, address: UnsafeMutablePointer<GtkWidget>
    private let player: MediaPlayer
    private var isMoving = false

    init?(_ player: MediaPlayer, showing figures: Figures) {
        guard let window = gtk_window_new(), let picture = gtk_picture_new(), let overlay = gtk_label_new(""),
            let playButton = gtk_button_new_with_label("Pause"), let address = gtk_entry_new(),
            let position = gtk_scale_new_with_range(GTK_ORIENTATION_HORIZONTAL, 0, 1, 0.001),
            let full = gtk_button_new_with_label("Full screen"), let layers = gtk_overlay_new(),
            let column = gtk_box_new(GTK_ORIENTATION_VERTICAL, 4), let row = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 4)
        else { return nil }
        (self.window, self.picture, self.overlay, self.player) = (window, picture, overlay, player)
        (self.playButton, self.position, self.address) = (playButton, position, address)
        gtk_window_set_title(cast(window), "Embedded player")
        gtk_window_set_default_size(cast(window), 720, 480)
        gtk_overlay_set_child(OpaquePointer(layers), picture)
        gtk_overlay_add_overlay(OpaquePointer(layers), overlay)
        gtk_widget_set_halign(overlay, GTK_ALIGN_START)
        gtk_widget_set_valign(overlay, GTK_ALIGN_START)
        for name in ["osd", "monospace"] { gtk_widget_add_css_class(overlay, name) }
        for widget in [layers, picture] { gtk_widget_set_vexpand(widget, 1) }
        for widget in [position, address] { gtk_widget_set_hexpand(widget, 1) }
        gtk_entry_set_placeholder_text(cast(address), "Address or file")
        for widget in [playButton, position, full] { gtk_box_append(cast(row), widget) }
        for widget in [address, layers, row] { gtk_box_append(cast(column), widget) }
        gtk_window_set_child(cast(window), column)
        on(address, "activate") { [self] in open(String(cString: gtk_editable_get_text(OpaquePointer(address)))) }
        on(playButton, "clicked") { player.run(!player.isPlaying) }
        on(position, "value-changed") { [self] in
            guard !isMoving, let duration = player.measured.status.duration else { return }
            player.seek(to: duration * gtk_range_get_value(cast(position)))
        }
        on(full, "clicked") {
            let isFull = gtk_window_is_fullscreen(cast(window)) != 0
            if isFull { gtk_window_unfullscreen(cast(window)) } else { gtk_window_fullscreen(cast(window)) }
            Analytics()(AppEvent.fullScreen)
        }
        player.onEnd = { gtk_label_set_text(OpaquePointer(overlay), $0 ?? "The end") }
        every(33) { [self] in showPicture() }
        every(250) { [self] in show(figures) }
        gtk_window_present(cast(window))
    }

    func open(_ source: String) {
        gtk_editable_set_text(OpaquePointer(address), source)
        if !source.isEmpty { player.open(source) }
    }

    func onClose(_ body: @escaping () -> Void) { on(window, "destroy", body) }

    /// Asks whether the app may measure, and calls `body` with the answer.
    func askForConsent(_ body: @escaping (Consent) -> Void) {
        guard let dialog = gtk_window_new(), let column = gtk_box_new(GTK_ORIENTATION_VERTICAL, 12) else { return }
        gtk_window_set_transient_for(cast(dialog), cast(window))
        gtk_window_set_title(cast(dialog), "Consent")
        gtk_window_set_modal(cast(dialog), 1)
        gtk_box_append(cast(column), gtk_label_new("May this app measure how well your films play?"))
        for (label, consent) in [("Allow", Consent.granted), ("Refuse", .denied)] {
            guard let button = gtk_button_new_with_label(label) else { continue }
            gtk_box_append(cast(column), button)
            on(button, "clicked") {
                gtk_window_destroy(cast(dialog))
                body(consent)
            }
        }
        gtk_window_set_child(cast(dialog), column)
        gtk_window_present(cast(dialog))
    }

    private func showPicture() {
        guard player.isPlaying, let texture = player.picture() else { return }
        gtk_picture_set_paintable(OpaquePointer(picture), texture)
        g_object_unref(UnsafeMutableRawPointer(texture))
    }

    private func show(_ figures: Figures) {
        let status = player.measured.status
        if player.isPlaying { gtk_label_set_text(OpaquePointer(overlay), figures.text(of: status)) }
        gtk_button_set_label(cast(playButton), player.isPlaying ? "Pause" : "Play")
        guard let now = status.position, let duration = status.duration, duration > .zero else { return }
        isMoving = true
        gtk_range_set_value(cast(position), now / duration)
        isMoving = false
    }
}

/// A closure that C calls.
private final class Callback {
    let body: () -> Void
    init(_ body: @escaping () -> Void) { self.body = body }
    static func call(_ context: UnsafeMutableRawPointer?) {
        if let context { Unmanaged<Callback>.fromOpaque(context).takeUnretainedValue().body() }
    }
}

/// Calls `body` for a signal of a widget.
private func on(_ widget: UnsafeMutablePointer<GtkWidget>, _ signal: String, _ body: @escaping () -> Void) {
    let call: @convention(c) (UnsafeMutableRawPointer?, UnsafeMutableRawPointer?) -> Void = { Callback.call($1) }
    let context = Unmanaged.passRetained(Callback(body)).toOpaque()
    g_signal_connect_data(widget, signal, unsafeBitCast(call, to: GCallback.self), context, nil, .init(0))
}

private let again: GSourceFunc = { context in
    Callback.call(context)
    return 1
}

/// Calls `body` at each interval in milliseconds.
func every(_ milliseconds: UInt32, _ body: @escaping () -> Void) {
    g_timeout_add(milliseconds, again, Unmanaged.passRetained(Callback(body)).toOpaque())
}

/// Calls `body` on the main thread for a signal of the system.
func onSignal(_ number: Int32, _ body: @escaping () -> Void) {
    g_unix_signal_add(number, again, Unmanaged.passRetained(Callback(body)).toOpaque())
}
