# shellcheck shell=bash
# The report. Sourced by `run`.

write_report() {
    cat <<EOF
# dns-forwarder beside other forwarders

Written by \`examples/dns-compare/run\`; each number is the median of $RUNS runs of $QUERIES queries, the runs of the forwarders
taking turns. Caches are off and no name is asked twice. The four upstream servers are the small ones that come with dns-forwarder,
which answer at once. Lost is a query that had no answer within 5 s. Latencies are those of answered queries, in
milliseconds; CPU is the forwarder's, in seconds for 100,000 queries. Below each table stands what this project set out to reach, and
whether these numbers reach it.

EOF
    local scenario
    for scenario in $SCENARIOS; do
        printf '## %s\n\n' "$(describe "$scenario")"
        echo "| | answered | lost | SERVFAIL | p50 | p99 | p99.9 | max | queries/s | CPU |"
        echo "|---|---|---|---|---|---|---|---|---|---|"
        local forwarder
        for forwarder in $FORWARDERS; do medians "$scenario" "$forwarder" | tee -a "$work/medians" | row; done
        awk -v scenario="$scenario" -f "$here/goals.awk" "$work/medians"
        echo
    done
    if [[ -e $here/notes.md ]]; then
        cat "$here/notes.md"
        echo
    fi
    echo "## Measured with"
    echo
    versions
    echo "- $(nproc) cores, $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), Linux $(uname -r | cut -d. -f1,2)"
    echo "- load average before the runs: $(printf '%s\n' "${loads[@]}" | sort -n | awk '
        { load[NR] = $1 } END { print "from " load[1] " to " load[NR] ", " load[int((NR + 1) / 2)] " in the middle" }')"
    printf '\ndns-forwarder had these settings, besides the list of servers:\n\n```json\n%s\n```\n' "$(<"$here/settings.jsonc")"
    printf '\nThe settings of the others are in `examples/dns-compare/forwarders.sh`.\n'
}

# medians SCENARIO FORWARDER: of each column of the results.
medians() {
    awk -v scenario="$1" -v forwarder="$2" '
        $1 == scenario && $2 == forwarder { runs++; for (i = 4; i <= 12; i++) value[i, runs] = $i + 0 }
        function median(i,    j, k, kept) {
            for (j = 2; j <= runs; j++) {
                kept = value[i, j]
                for (k = j - 1; k >= 1 && value[i, k] > kept; k--) value[i, k + 1] = value[i, k]
                value[i, k + 1] = kept
            }
            return value[i, int((runs + 1) / 2)]
        }
        END {
            printf "%s %s", scenario, forwarder
            for (i = 4; i <= 12; i++) printf " %s", median(i)
            print ""
        }' "$work/results"
}

# One line of medians as a row of the table.
row() {
    awk '{
        printf "| %s | %d | %d | %d |", $2, $3, $4, $5
        for (i = 6; i <= 9; i++) printf " %.2f |", $i
        printf " %d | %.2f |\n", $10, $11
    }'
}
