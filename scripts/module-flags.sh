# For scripts that read the built modules themselves: `flags FOLDER` prints the options for the modules in a folder of products
# (.build/debug): where they are, and the module maps of the C targets and system libraries that they import. Sourced, not run.
flags() {
    printf '%s\n' -I "$1/Modules"
    find "$1/" Sources/System .build/checkouts/*/Sources -maxdepth 2 -name module.modulemap | sed 's/^/-Xcc\n-fmodule-map-file=/'
    find .build/checkouts -type d -path '*/Sources/*/include' | sed 's/^/-Xcc\n-I\n-Xcc\n/'
}
