# From what dnsperf says of each query to one line:
# scenario forwarder run answered lost servfail p50 p99 p99.9 max queries/s cpu, times in ms, CPU in s for 100,000 queries.
/^> NOERROR/ { latency[++answered] = $NF * 1000 }
/^> SERVFAIL/ { servfail++ }
/Run time \(s\)/ { seconds = $NF }

function sort(low, high,    left, right, pivot, kept) {
    while (low < high) {
        left = low; right = high; pivot = latency[int((low + high) / 2)]
        while (left <= right) {
            while (latency[left] < pivot) left++
            while (latency[right] > pivot) right--
            if (left <= right) {
                kept = latency[left]; latency[left] = latency[right]; latency[right] = kept
                left++; right--
            }
        }
        if (right - low < high - left) { sort(low, right); low = left } else { sort(left, high); high = right }
    }
}

function at(share,    place) {
    place = int(answered * share)
    if (place < answered * share) place++
    return answered ? latency[place] : 0
}

END {
    sort(1, answered)
    lost = queries - answered - servfail
    printf "%s %d %d %d %.3f %.3f %.3f %.3f %.0f %.2f\n", what, answered, lost, servfail,
        at(0.5), at(0.99), at(0.999), at(1), seconds ? (answered + servfail) / seconds : 0, used / queries / 10
}
