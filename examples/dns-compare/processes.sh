# shellcheck shell=bash
# Starting and ending processes. Sourced by `run`.

declare -A started=() # name -> process

# start NAME COMMAND…: in the background, its output in a file.
start() {
    local name=$1
    shift
    "$@" >"$work/$name.log" 2>&1 &
    started[$name]=$!
}

# end NAME: and wait until it is gone.
end() {
    local process=${started[$1]:-}
    if [[ -n $process ]]; then
        unset "started[$1]"
        kill -TERM "$process" 2>/dev/null || true
        wait "$process" 2>/dev/null || true
    fi
}

end_all() {
    local name
    for name in "${!started[@]}"; do end "$name"; done
}

# await_port NAME PORT: until something has the UDP port; 10 s at most. No query is sent.
await_port() {
    local hex tries
    hex=$(printf ':%04X ' "$2")
    for ((tries = 0; tries < 200; tries++)); do
        if grep -q "$hex" /proc/net/udp; then return; fi
        if ! kill -0 "${started[$1]}" 2>/dev/null; then break; fi
        sleep 0.05
    done
    echo "$1 does not listen:" >&2
    cat "$work/$1.log" >&2
    return 1
}

# cpu NAME: what it has used, in hundredths of a second.
cpu() {
    local stat
    stat=$(<"/proc/${started[$1]}/stat")
    # shellcheck disable=SC2086 # the words behind the name, which may hold blanks
    set -- ${stat##*) }
    echo $(((${12} + ${13}) * 100 / $(getconf CLK_TCK)))
}
