# shellcheck shell=bash
# The report. Sourced by `run`.

write_report() {
    cat <<EOF
# dns-forwarder beside other forwarders

Written by \`examples/dns-compare/run\`; each number is the median of $RUNS runs of $QUERIES queries, the runs of the forwarders
taking turns. Caches are off and no name is asked twice. The four upstream servers are the small ones that come with dns-forwarder,
which answer at once. Lost is a query that had no answer within 5 s. Latencies are those of answered queries, in
milliseconds; CPU is the forwarder's, in seconds for 100,000 queries.

EOF
    local scenario
    for scenario in $SCENARIOS; do
        printf '## %s\n\n' "$(describe "$scenario")"
        echo "| | answered | lost | SERVFAIL | p50 | p99 | p99.9 | max | queries/s | CPU |"
        echo "|---|---|---|---|---|---|---|---|---|---|"
        local forwarder
        for forwarder in $FORWARDERS; do medians "$scenario" "$forwarder"; done
        echo
    done
    if [[ -e $here/notes.md ]]; then
        cat "$here/notes.md"
        echo
    fi
    echo "## Measured with"
    echo
    versions
    echo "- $(nproc) cores, $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), Linux $(uname -r)"
    echo "- load average before the runs: $(printf '%s\n' "${loads[@]}" | sort -n | awk '
        { load[NR] = $1 } END { print "from " load[1] " to " load[NR] ", " load[int((NR + 1) / 2)] " in the middle" }')"
    printf '\ndns-forwarder had these settings, besides the list of servers:\n\n```json\n%s\n```\n' "$(<"$here/settings.jsonc")"
    printf '\nThe settings of the others are in `examples/dns-compare/forwarders.sh`.\n'
}

# medians SCENARIO FORWARDER: a row of the table.
medians() {
    awk -v scenario="$1" -v forwarder="$2" '
        $1 == scenario && $2 == forwarder { runs++; for (i = 4; i <= 13; i++) value[i, runs] = $i }
        function median(i,    j, k, kept) {
            for (j = 2; j <= runs; j++) {
                kept = value[i, j]
                for (k = j - 1; k >= 1 && value[i, k] > kept; k--) value[i, k + 1] = value[i, k]
                value[i, k + 1] = kept
            }
            return value[i, int((runs + 1) / 2)]
        }
        END {
            printf "| %s | %d | %d | %d |", forwarder, median(4), median(5), median(6)
            for (i = 7; i <= 10; i++) printf " %.2f |", median(i)
            printf " %d | %.2f |\n", median(11), median(12)
        }' "$work/results"
}
