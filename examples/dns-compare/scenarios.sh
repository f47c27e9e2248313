# shellcheck shell=bash
# What happens, and what is measured of it. Sourced by `run`.

# describe SCENARIO
describe() {
    case $1 in
        well) echo "All upstreams well, $RATE queries/s" ;;
        flat-out) echo "All upstreams well, as fast as it goes, 100 queries at a time" ;;
        hole-first) echo "The first upstream is a black hole from the start, $RATE queries/s" ;;
        hole-last) echo "The last upstream is a black hole from the start, $RATE queries/s" ;;
        dying) echo "The busiest upstream turns into a black hole after 3 s and is back after 7 s, $RATE queries/s" ;;
        refusing) echo "The port of the first upstream refuses from the start, $RATE queries/s" ;;
        all-dead) echo "All upstreams are black holes from 3 s to 8 s, $RATE queries/s" ;;
    esac
}

# before SCENARIO: the faults that are there from the start.
before() {
    case $1 in
        hole-first) deaf "${upstreams[0]}" ;;
        hole-last) deaf "${upstreams[-1]}" ;;
        refusing) end "upstream-${upstreams[0]}" ;;
    esac
}

# during SCENARIO: the faults that come under load.
during() {
    local victim
    case $1 in
        dying)
            sleep 1
            victim=$(busiest 2)
            deaf "$victim"
            sleep 4
            well "$victim"
            ;;
        all-dead)
            sleep 3
            deaf "${upstreams[@]}"
            sleep 5
            well "${upstreams[@]}"
            ;;
    esac
}

# measure SCENARIO FORWARDER RUN: adds a line to the results.
measure() {
    local scenario=$1 forwarder=$2 run=$3 upstream used faults
    local load=(-Q "$RATE" -q 65000)
    if [[ $scenario == flat-out ]]; then load=(-q 100); fi
    for upstream in "${upstreams[@]}"; do start_upstream "$upstream"; done
    before "$scenario"
    "start_$forwarder"
    await_port "$forwarder" $port
    sleep 1.5 # for those who check their servers first
    used=$(cpu "$forwarder")
    during "$scenario" &
    faults=$!
    dnsperf -s 127.0.0.1 -p $port -d "$work/queries" -n 1 -t 5 -v "${load[@]}" >"$work/dnsperf.log" 2>&1
    wait $faults
    used=$(($(cpu "$forwarder") - used))
    awk -v queries="$QUERIES" -v used="$used" -v what="$scenario $forwarder $run" \
        -f "$here/measure.awk" "$work/dnsperf.log" >>"$work/results"
    end "$forwarder"
    for upstream in "${upstreams[@]}"; do end "upstream-$upstream"; done
}
