import { join } from 'node:path'

/** The name of the system user and of the systemd unit. */
export const user = 'davit'
export const service = 'davit.service'

export type Layout = ReturnType<typeof layoutIn>

/** The paths of an installation; tests use another root. */
export const layoutIn = (root = '/') => ({
  root,
  executable: join(root, 'usr/local/bin/davit'),
  /** The home of the user, with everything that Davit stores. */
  home: join(root, 'var/lib/davit'),
  data: join(root, 'var/lib/davit/data'),
  /** Only readable by root, as it may contain secrets; systemd passes it to Davit. */
  settings: join(root, 'etc/davit/davit.env'),
  unit: join(root, 'etc/systemd/system', service),
  /** Only readable by root, since upgrades keep backups and copies of the database there. */
  upgrades: join(root, 'var/lib/davit-upgrade'),
  /** Journals of moves to and from another server, and a sealed backup in transit. */
  moves: join(root, 'var/lib/davit-move'),
  /** Locked by davit install, davit uninstall, davit join and davit leave. */
  lock: join(root, 'run/davit-install'),
  /** Of a server that joined another one’s Davit: what was done here, Davit’s key, and the firewall. */
  joined: join(root, 'etc/davit/joined.json'),
  keys: join(root, 'var/lib/davit/.ssh/authorized_keys'),
  members: join(root, 'var/lib/davit/members'),
  firewall: join(root, 'usr/local/lib/davit/firewall'),
  firewallUnit: join(root, 'etc/systemd/system/davit-firewall.service'),
})

/**
 * The unit must be able to use Docker, write its data, and write control groups, to
 * limit builds. It restarts without limit, for example until its address exists at boot,
 * except after status 2: a restart doesn't fix invalid settings.
 */
export const unitText = ({ executable, home, settings }: Layout) => `[Unit]
Description=Davit
After=network-online.target docker.service
Wants=network-online.target
StartLimitIntervalSec=0

[Service]
Type=notify
WatchdogSec=90
TimeoutStartSec=600
TimeoutStopSec=30
Restart=always
RestartSec=5
RestartPreventExitStatus=2
User=${user}
WorkingDirectory=${home}
EnvironmentFile=${settings}
ExecStart=${executable} serve
UMask=0077
OOMScoreAdjust=-500
AmbientCapabilities=CAP_DAC_OVERRIDE
CapabilityBoundingSet=CAP_DAC_OVERRIDE
NoNewPrivileges=true
ProtectSystem=strict
ReadWritePaths=${home}
ProtectHome=true
PrivateTmp=true
PrivateDevices=true
ProtectClock=true
ProtectHostname=true
ProtectKernelLogs=true
ProtectKernelModules=true
ProtectKernelTunables=true
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK
RestrictNamespaces=true
RestrictRealtime=true
RestrictSUIDSGID=true
LockPersonality=true
SystemCallArchitectures=native

[Install]
WantedBy=multi-user.target
`
