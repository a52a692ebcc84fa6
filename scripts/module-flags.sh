# For scripts that read the built modules themselves: `flags FOLDER` prints the options for the modules in a folder of products
# (.build/debug): where they are, and the module maps of the C targets and system libraries that they import, with the folders of headers
# that only pkg-config knows. Sourced, not run.
flags() {
    printf '%s\n' -I "$1/Modules"
    find "$1/" Sources/System .build/checkouts/*/Sources -maxdepth 2 -name module.modulemap | sed 's/^/-Xcc\n-fmodule-map-file=/'
    pkg-config --cflags-only-I gstreamer-1.0 gstreamer-base-1.0 | tr ' ' '\n' | sed -n 's/^-I/-Xcc\n-I/p'
    find .build/checkouts -type d -path '*/Sources/*/include' | sed 's/^/-Xcc\n-I\n-Xcc\n/'
}
