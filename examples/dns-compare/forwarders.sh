# shellcheck shell=bash
# The forwarders, each with its cache off and with settings that compare. Sourced by `run`.

upstreams=(5301 5302 5303 5304)
port=5400

start_dns-forwarder() {
    local servers
    servers=$(printf '"127.0.0.1:%s", ' "${upstreams[@]}")
    cat >"$work/dns-forwarder.json" <<EOF
{
"remoteDnsServers": [$servers],
$(<"$here/settings.jsonc")
}
EOF
    start dns-forwarder "$BINARY" --config "$work/dns-forwarder.json" --listen "127.0.0.1:$port"
}

start_dnsmasq() {
    start dnsmasq dnsmasq --keep-in-foreground --conf-file=/dev/null --user=root --pid-file= \
        --no-hosts --no-resolv --bind-interfaces --listen-address=127.0.0.1 --port=$port \
        --cache-size=0 --dns-forward-max=10000 "${upstreams[@]/#/--server=127.0.0.1#}"
}

start_unbound() {
    {
        cat <<EOF
server:
  interface: 127.0.0.1@$port
  num-threads: $(nproc)
  outgoing-range: 8192
  num-queries-per-thread: 4096
  msg-cache-size: 0
  rrset-cache-size: 0
  cache-max-ttl: 0
  module-config: "iterator"
  do-not-query-localhost: no
  username: ""
  chroot: ""
  directory: "$work"
  pidfile: ""
  use-syslog: no
remote-control:
  control-enable: no
forward-zone:
  name: "."
EOF
        printf '  forward-addr: 127.0.0.1@%s\n' "${upstreams[@]}"
    } >"$work/unbound.conf"
    start unbound unbound -d -c "$work/unbound.conf"
}

start_dnsdist() {
    {
        cat <<EOF
setLocal("127.0.0.1:$port")
setSecurityPollSuffix("")
setServerPolicy(leastOutstanding)
setMaxUDPOutstanding(65535)
EOF
        printf 'newServer{address="127.0.0.1:%s", checkInterval=1}\n' "${upstreams[@]}"
    } >"$work/dnsdist.conf"
    start dnsdist dnsdist --supervised --disable-syslog -C "$work/dnsdist.conf"
}

# start_upstream PORT: one of the small servers that come with dns-forwarder.
start_upstream() {
    start "upstream-$1" "$BINARY" --threads 1 --upstream-only "127.0.0.1:$1"
    await_port "upstream-$1" "$1"
}

# deaf PORT…, well PORT…: it is there and answers nothing; it answers.
deaf() { for upstream in "$@"; do kill -USR1 "${started[upstream-$upstream]}"; done; }
well() { for upstream in "$@"; do kill -USR2 "${started[upstream-$upstream]}"; done; }

# busiest SECONDS: the upstream that does most in that time.
busiest() {
    local upstream before=() most=-1 found=${upstreams[0]} index=0 used
    for upstream in "${upstreams[@]}"; do before+=("$(cpu "upstream-$upstream")"); done
    sleep "$1"
    for upstream in "${upstreams[@]}"; do
        used=$(($(cpu "upstream-$upstream") - before[index]))
        if ((used > most)); then most=$used found=$upstream; fi
        index=$((index + 1))
    done
    echo "$found"
}
