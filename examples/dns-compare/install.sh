# shellcheck shell=bash
# What is needed from Debian. Sourced by `run`.

install_tools() {
    local tool missing=()
    for tool in dnsperf dnsmasq unbound dnsdist; do
        command -v "$tool" >/dev/null || missing+=("$tool")
    done
    if ((${#missing[@]} == 0)); then return; fi
    echo "installing ${missing[*]}" >&2
    # dnsmasq-base is dnsmasq without its service. Nothing that comes along is started: policy-rc.d forbids it meanwhile.
    local policy=/usr/sbin/policy-rc.d ours=
    if [[ ! -e $policy ]]; then
        ours=yes
        printf '#!/bin/sh\nexit 101\n' >$policy
        chmod +x $policy
    fi
    local failed=
    {
        apt-get update &&
            DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
                "${missing[@]/#dnsmasq/dnsmasq-base}"
    } >"$work/apt.log" 2>&1 || failed=yes
    if [[ -n $ours ]]; then rm -f $policy; fi
    if [[ -n $failed ]]; then
        tail -n 20 "$work/apt.log" >&2
        return 1
    fi
}

versions() {
    echo "- dns-forwarder: this repository, built with \`--release\`"
    echo "- dnsmasq $(dnsmasq --version | sed -n '1s/.*version \([^ ]*\).*/\1/p')"
    echo "- Unbound $(unbound -V | sed -n '1s/Version //p')"
    echo "- dnsdist $(dnsdist --version | sed -n '1s/dnsdist \([^ ]*\).*/\1/p')"
    echo "- dnsperf $(dnsperf -h 2>/dev/null | sed -n 's/^Version //p' | head -n 1)"
}
