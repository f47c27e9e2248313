# What dns-forwarder is to reach in a scenario, and whether it does. Reads lines of medians:
# scenario forwarder answered lost servfail p50 p99 p99.9 max queries/s cpu.
{ for (i = 3; i <= 11; i++) of[$1, $2, i] = $i; known[$1, $2] = 1 }

function goal(reached, what) { goals = goals (goals ? "; " : "") what ": " (reached ? "yes" : "**no**") }

# The best of the others in a column.
function best(column, highest,    names, i, value, found) {
    split("dnsmasq unbound dnsdist", names, " ")
    for (i = 1; i in names; i++) {
        if (!known[scenario, names[i]]) continue
        value = of[scenario, names[i], column]
        if (!found || (highest ? value > found_value : value < found_value)) { found = 1; found_value = value }
    }
    return found_value
}

END {
    if (!known[scenario, "dns-forwarder"] || !known[scenario, "dnsdist"] || !known[scenario, "dnsmasq"]) exit
    lost = of[scenario, "dns-forwarder", 4]; p99 = of[scenario, "dns-forwarder", 7]
    if (scenario == "well" || scenario == "flat-out") {
        goal(of[scenario, "dns-forwarder", 11] <= 2 * of[scenario, "dnsdist", 11], "CPU at most twice that of dnsdist")
        if (scenario == "flat-out")
            goal(of[scenario, "dns-forwarder", 10] >= of[scenario, "dnsmasq", 10], "as many queries/s as dnsmasq")
    } else {
        if (scenario != "all-dead") goal(lost == 0, "none lost")
        goal(of[scenario, "dns-forwarder", 3] >= best(3, 1), "as many answered as by the best of the others")
        goal(p99 <= best(7, 0), "p99 no worse than the best of theirs")
        if (scenario ~ /^hole/ && known["well", "dns-forwarder"])
            goal(p99 <= 2 * of["well", "dns-forwarder", 7], "p99 at most twice that of well servers")
        if (scenario == "dying")
            goal(of[scenario, "dns-forwarder", 8] <= of[scenario, "dnsdist", 8], "p99.9 no worse than that of dnsdist")
    }
    print "\n" goals "."
}
