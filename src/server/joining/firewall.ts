import type { Layout } from '../layout.ts'

/** Of apps, which requests from the edges of other servers reach. */
export const appPorts = '20000:29999'

type FirewallOptions = {
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
 * Containers of this server are let through, since its own edge is one of them. Where Docker doesn't
 * use DOCKER-USER, the rules of FORWARD hold.
 */
export const firewallScript = (
  layout: Layout,
  { address, cluster, from, sshPort }: FirewallOptions,
) => `#!/bin/sh
# Written by davit join, and removed by davit leave: see /docs/servers of Davit.
set -u
table() { iptables --wait 10 "$@" 2>/dev/null; }

members() {
  seen=$(docker network inspect ingress --format '{{range .Peers}}{{println .IP}}{{end}}' 2>/dev/null)
  [ -n "$seen" ] && printf '%s\\n' "$seen" >${layout.members}
  { echo ${cluster}; cat ${layout.members} 2>/dev/null; } | grep -E '^[0-9.]+$' | sort -u
}

# bridges that Docker didn't make
bridges() { sed -n 's/^ *\\(br-[^:]*\\):.*/\\1/p' /proc/net/dev | grep -Ev '^br-[0-9a-f]{12}$'; }

rules() {
  echo '*filter'
  printf ':%s - [0:0]\\n' DAVIT-MEMBERS DAVIT-FORWARD DAVIT-INPUT
  echo '-A DAVIT-MEMBERS -i lo -j RETURN'
  for member in $1; do echo "-A DAVIT-MEMBERS -s $member -j RETURN"; done
  for bridge in $2; do echo "-A DAVIT-MEMBERS -i $bridge -j DROP"; done
  for bridge in br-+ docker0 docker_gwbridge; do echo "-A DAVIT-MEMBERS -i $bridge -j RETURN"; done
  echo '-A DAVIT-MEMBERS -j DROP'
  echo '-A DAVIT-FORWARD -p tcp -m conntrack --ctdir ORIGINAL --ctorigdst ${address} --ctorigdstport ${appPorts} -g DAVIT-MEMBERS'
  echo '-A DAVIT-INPUT -s ${from} -d ${address} -p tcp --dport ${sshPort} -j ACCEPT'
  for member in $1; do
    echo "-A DAVIT-INPUT -s $member -d ${address} -p tcp --dport 7946 -j ACCEPT"
    echo "-A DAVIT-INPUT -s $member -d ${address} -p udp -m multiport --dports 4789,7946 -j ACCEPT"
    echo "-A DAVIT-INPUT -s $member -d ${address} -p esp -j ACCEPT"
  done
  echo '-A DAVIT-INPUT -p tcp -m conntrack --ctstate ESTABLISHED,RELATED -j RETURN'
  echo '-A DAVIT-INPUT -d ${address} -p udp --dport 4789 -g DAVIT-MEMBERS'
  echo '-A DAVIT-INPUT -d ${address} -p tcp --dport ${appPorts} -g DAVIT-MEMBERS'
  echo COMMIT
}

jump() { table -C "$1" -j "$2" || table -I "$1" 1 -j "$2"; }

apply() {
  now=$(members) others=$(bridges)
  if [ "$now $others" != "\${before:-}" ] || ! table -S DAVIT-MEMBERS >/dev/null; then
    rules "$now" "$others" | iptables-restore --noflush --wait 10 && before="$now $others"
  fi
  table -N DOCKER-USER
  jump DOCKER-USER DAVIT-FORWARD
  jump FORWARD DAVIT-FORWARD
  jump INPUT DAVIT-INPUT
}

case "$1" in
  apply) apply ;;
  watch) while :; do apply; sleep 10; done ;;
esac
`

const chains = ['DAVIT-FORWARD', 'DAVIT-INPUT', 'DAVIT-MEMBERS']

/** The arguments of iptables that remove its rules, in order. Those that find nothing fail. */
export const firewallRemoval = [
  ['-D', 'DOCKER-USER', '-j', 'DAVIT-FORWARD'],
  ['-D', 'FORWARD', '-j', 'DAVIT-FORWARD'],
  ['-D', 'INPUT', '-j', 'DAVIT-INPUT'],
  ...chains.map((chain) => ['-F', chain]),
  ...chains.map((chain) => ['-X', chain]),
].map((rule) => ['--wait', '10', ...rule])

/**
 * Its rules are there before Docker starts a container, and again within seconds when something flushed
 * them. They stay when it stops: only leaving ends them.
 */
export const firewallUnit = ({ firewall }: Layout) => `[Unit]
Description=Firewall of a server of Davit
Before=docker.service
After=network-pre.target

[Service]
ExecStartPre=/bin/sh ${firewall} apply
ExecStart=/bin/sh ${firewall} watch
Restart=always
RestartSec=5

[Install]
WantedBy=multi-user.target
`
