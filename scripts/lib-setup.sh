# Sourced by scripts/run and scripts/test: installs what is missing. Needs $root and lib-java.sh. Every step says what it does, and
# does nothing if it was done before.

say() {
    echo "== $*"
}

apt_updated=no

# Installs the named Debian packages; returns 1, after saying why, if that cannot be done.
apt_install() {
    if ! command -v apt-get > /dev/null; then
        echo "   not a Debian system: install $* by hand"
        return 1
    fi
    if [ "$(id -u)" != 0 ]; then
        echo "   not root: install $* by hand (apt-get install $*)"
        return 1
    fi
    if [ "$apt_updated" = no ]; then
        apt-get update -qq > "$root/target/apt.log" 2>&1 || true
        apt_updated=yes
    fi
    if ! DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >> "$root/target/apt.log" 2>&1; then
        echo "   apt-get could not install $* (see target/apt.log)"
        return 1
    fi
}

setup_maven() {
    if ! command -v mvn > /dev/null; then
        say "installing Maven"
        apt_install maven || exit 4
    fi
}

setup_jdk() {
    if ! find_jdk > /dev/null; then
        say "installing a JDK 25"
        apt_install openjdk-25-jdk-headless || true
    fi
    use_jdk
}

# The C side of DPDK ports. Without it everything else works.
setup_dpdk() {
    if ! { command -v cc && command -v make && command -v pkg-config && pkg-config --exists libdpdk; } > /dev/null; then
        say "installing DPDK and a C compiler, for DPDK ports"
        apt_install gcc libc6-dev make pkg-config libdpdk-dev dpdk || true
    fi
    "$root/scripts/build-shim" | sed 's/^/   /' || echo "   the shim could not be built: UDP only"
    if [ -f "$root/pmd-shim/build/libmetaroce_pmd.so" ] && [ -x "$root/scripts/hugepages" ]; then
        "$root/scripts/hugepages" | sed 's/^/   /' || echo "   no hugepages: DPDK uses ordinary memory"
    fi
}

# Pictures have letters.
setup_fonts() {
    if ! { command -v fc-list && [ -n "$(fc-list)" ]; } > /dev/null; then
        say "installing a font, for pictures"
        apt_install fontconfig fonts-dejavu-core || true
    fi
}

# DPDK's own program, the yardstick of poll loops. Without it only Java is measured.
setup_testpmd() {
    if [ -f "$root/pmd-shim/build/libmetaroce_pmd.so" ] && ! command -v dpdk-testpmd > /dev/null; then
        say "installing dpdk-testpmd, to compare with"
        apt_install dpdk-dev || true
    fi
}

# What tests need to make network interfaces of their own.
setup_interfaces() {
    if ! { command -v ip && command -v ethtool; } > /dev/null; then
        say "installing iproute2 and ethtool, for tests on interfaces of their own"
        apt_install iproute2 ethtool || true
    fi
}

# Ciphers of encrypted connections. Without it the JDK's serve.
setup_libcrypto() {
    if ! { PATH=$PATH:/sbin ldconfig -p | grep -q 'libcrypto\.so\.3'; } 2> /dev/null; then
        say "installing OpenSSL's library, for encryption without garbage"
        apt_install libssl3 || true
    fi
}

# Everything a build and its tests or demonstration need.
setup() {
    mkdir -p "$root/target"
    setup_jdk
    setup_maven
    setup_dpdk
    setup_libcrypto
    say "JDK: $JAVA_HOME"
}
