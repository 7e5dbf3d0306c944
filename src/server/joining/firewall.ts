import type { Layout } from '../layout.ts'

/** Of apps, which requests from the edges of other servers reach. */
export const appPorts = '20000:29999'

type Place = {
  /** Of this server, among the servers. */
  address: string
  /** Of Davit’s own. */
  cluster: string
  /** Whence Davit’s ssh comes. */
  from: string
  sshPort: number
}

/**
 * Lets only members of the swarm reach the ports of apps and the networks across servers, by rules in
 * chains of their own. Who is a member the local engine knows; while it doesn't respond, those of before.
 * Containers of this server are let through, since its own edge is one of them.
 */
export const firewallScript = (
  layout: Layout,
  { address, cluster, from, sshPort }: Place,
) => `#!/bin/sh
# Written by davit join, and removed by davit leave: see /docs/servers of Davit.
set -u
table() { iptables --wait 10 "$@" 2>/dev/null; }

members() {
  seen=$(docker network inspect ingress --format '{{range .Peers}}{{println .IP}}{{end}}' 2>/dev/null)
  [ -n "$seen" ] && printf '%s\\n' "$seen" >${layout.members}
  { echo ${cluster}; cat ${layout.members} 2>/dev/null; } | grep -E '^[0-9.]+$' | sort -u
}

rules() {
  echo '*filter'
  printf ':%s - [0:0]\\n' DAVIT-MEMBERS DAVIT-FORWARD DAVIT-INPUT
  echo '-A DAVIT-MEMBERS -i lo -j RETURN'
  echo '-A DAVIT-MEMBERS -i br-+ -j RETURN'
  echo '-A DAVIT-MEMBERS -i docker+ -j RETURN'
  for member in $1; do echo "-A DAVIT-MEMBERS -s $member -j RETURN"; done
  echo '-A DAVIT-MEMBERS -j DROP'
  echo '-A DAVIT-FORWARD -p tcp -m conntrack --ctdir ORIGINAL --ctorigdst ${address} --ctorigdstport ${appPorts} -g DAVIT-MEMBERS'
  echo '-A DAVIT-INPUT -s ${from} -d ${address} -p tcp --dport ${sshPort} -j ACCEPT'
  for member in $1; do
    echo "-A DAVIT-INPUT -s $member -d ${address} -p tcp --dport 7946 -j ACCEPT"
    echo "-A DAVIT-INPUT -s $member -d ${address} -p udp -m multiport --dports 4789,7946 -j ACCEPT"
  done
  echo '-A DAVIT-INPUT -d ${address} -p udp --dport 4789 -g DAVIT-MEMBERS'
  echo '-A DAVIT-INPUT -d ${address} -p tcp --dport ${appPorts} -g DAVIT-MEMBERS'
  echo COMMIT
}

jump() { table -C "$1" -j "$2" || table -I "$1" 1 -j "$2"; }

apply() {
  now=$(members)
  if [ "$now" != "\${before:-}" ] || ! table -S DAVIT-MEMBERS >/dev/null; then
    rules "$now" | iptables-restore --noflush --wait 10 && before=$now
  fi
  table -N DOCKER-USER
  jump DOCKER-USER DAVIT-FORWARD
  jump INPUT DAVIT-INPUT
}

case "$1" in
  apply) apply ;;
  watch) while :; do apply; sleep 10; done ;;
  remove)
    table -D DOCKER-USER -j DAVIT-FORWARD
    table -D INPUT -j DAVIT-INPUT
    for chain in DAVIT-FORWARD DAVIT-INPUT DAVIT-MEMBERS; do table -F $chain; done
    for chain in DAVIT-FORWARD DAVIT-INPUT DAVIT-MEMBERS; do table -X $chain; done
    ;;
esac
`

/** Its rules are there before Docker starts a container, and again within seconds when something flushed them. */
export const firewallUnit = ({ firewall }: Layout) => `[Unit]
Description=Firewall of a server of Davit
Before=docker.service
After=network-pre.target

[Service]
ExecStartPre=/bin/sh ${firewall} apply
ExecStart=/bin/sh ${firewall} watch
ExecStopPost=/bin/sh ${firewall} remove
Restart=always
RestartSec=5

[Install]
WantedBy=multi-user.target
`
