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

# cpu NAME: the microseconds that its threads have run.
cpu() {
    cat /proc/"${started[$1]}"/task/*/schedstat 2>/dev/null | awk '{ ran += $1 } END { printf "%.0f\n", ran / 1000 }'
}
