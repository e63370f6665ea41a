# Sourced by the scripts: finds a JDK 25 and builds the command. Needs $root.

# Prints the home of a JDK 25 or newer: $JAVA_HOME, the javac on the PATH, or one under /usr/lib/jvm. Fails if there is none.
find_jdk() {
    local candidate javac version
    javac=$(command -v javac || true)
    for candidate in "${JAVA_HOME:-}" "${javac:+$(dirname "$(dirname "$(readlink -f "$javac")")")}" /usr/lib/jvm/*; do
        if [ -n "$candidate" ] && [ -x "$candidate/bin/javac" ] && [ -r "$candidate/release" ]; then
            version=$(sed -n 's/^JAVA_VERSION="\([0-9]*\).*/\1/p' "$candidate/release")
            if [ "${version:-0}" -ge 25 ]; then
                echo "$candidate"
                return 0
            fi
        fi
    done
    return 1
}

# Sets and exports JAVA_HOME, or ends with the way to get a JDK.
use_jdk() {
    if ! JAVA_HOME=$(find_jdk); then
        echo "error: no JDK 25 found in JAVA_HOME, on the PATH or under /usr/lib/jvm." >&2
        echo "       Debian has it as openjdk-25-jdk from release 13 on; for older releases unpack a build of OpenJDK 25 (Temurin, Zulu," >&2
        echo "       Corretto, ...) under /usr/lib/jvm, or set JAVA_HOME." >&2
        exit 4
    fi
    export JAVA_HOME
}

# Maven without chatter; works offline once everything was fetched.
maven() {
    # Maven's own libraries use what JDK 25 warns about; nothing of ours does.
    MAVEN_OPTS="${MAVEN_OPTS:-} --sun-misc-unsafe-memory-access=allow --enable-native-access=ALL-UNNAMED" \
        mvn --batch-mode --no-transfer-progress --file "$root/pom.xml" "$@"
}

# The jar of the command that is built last: what it stands on lies beside it, in simulator/target/lib.
built_jar="$root/simulator/target/metaroce-simulator-0.1.0-SNAPSHOT.jar"
# The same of scripts/bench.
benchmarks_jar="$root/benchmarks/target/metaroce-benchmarks-0.1.0-SNAPSHOT.jar"

# What the virtual machine learnt of the command in a run of some seconds: its classes, and what is called how often (an AOT cache of
# JDK 25). The first second of later runs moves a fifth more by it.
aot_cache="$root/target/metaroce.aot"

# Whether there is such a file for the command as it is built.
is_trained() { [ "$aot_cache" -nt "$built_jar" ]; }

# Lets it learn, if it has not yet: data both ways on loopback, checked, some of it lost, in some ten seconds. Without it all works, but
# starts slower. What it does not see here it takes to be rare: trained without loss, the first seconds with loss are a tenth slower.
train_command() {
    local log="$root/target/train.log"
    if is_trained; then
        return 0
    fi
    echo "letting the virtual machine learn the transport, for quicker starts ..." >&2
    rm -f "$aot_cache"
    if ! METAROCE_JAVA_OPTIONS="-XX:AOTCacheOutput=$aot_cache" timeout 60 "$root/scripts/metaroce" perf --local --bidirectional --planes 4 --verify \
            --loss 0.01 --warmup 0 --seconds 5 > "$log" 2>&1 || ! is_trained; then
        echo "   it did not (see $log)" >&2
    fi
}

# is_built JAR DIRECTORY...: whether the jar was built after the last change of these sources.
is_built() {
    [ -f "$1" ] && [ -z "$(find "$root/pom.xml" "${@:2}" -name target -prune -o -path '*/src/test' -prune -o -type f -newer "$1" -print -quit)" ]
}

# build_module MODULE JAR DIRECTORY...: builds the module, and what it needs, if anything in the directories changed.
build_module() {
    local module=$1 log="$root/target/build.log"
    shift
    if is_built "$@"; then
        return 0
    fi
    mkdir -p "$root/target"
    # Two commands started at once must not build into the same directory.
    exec 9> "$root/target/build.lock"
    flock 9
    if is_built "$@"; then
        exec 9>&-
        return 0
    fi
    echo "building (the first time Maven fetches libraries) ..." >&2
    # Offline first: quick, and works without a network where nothing is missing.
    if ! maven --quiet --offline --projects "$module" --also-make package -Dmaven.test.skip=true > "$log" 2>&1 &&
            ! maven --quiet --projects "$module" --also-make package -Dmaven.test.skip=true > "$log" 2>&1; then
        echo "error: the build failed; the end of $log:" >&2
        tail -n 30 "$log" >&2
        exit 1
    fi
    # A jar that had nothing new to take in keeps its old time.
    touch "$1"
    exec 9>&-
}

# Builds the command if anything changed.
build_command() {
    build_module simulator "$built_jar" "$root"/native-bindings "$root"/dataplane "$root"/simulator/src "$root"/simulator/pom.xml
}

# Builds the command and the benchmarks if anything changed.
build_benchmarks() {
    build_module benchmarks "$benchmarks_jar" "$root"/native-bindings "$root"/dataplane "$root"/simulator/src "$root"/simulator/pom.xml \
        "$root"/benchmarks/src "$root"/benchmarks/pom.xml
    build_command
}
