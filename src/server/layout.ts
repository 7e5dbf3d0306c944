import { join } from 'node:path'

/** The system user that Davit runs as, and its systemd unit. */
export const user = 'davit'
export const service = 'davit.service'

export type Layout = ReturnType<typeof layoutIn>

/** Where an installation has its files; tests give another root than the server's. */
export const layoutIn = (root = '/') => ({
  root,
  executable: join(root, 'usr/local/bin/davit'),
  /** The home of the user, which has all that Davit stores. */
  home: join(root, 'var/lib/davit'),
  data: join(root, 'var/lib/davit/data'),
  /** Read by systemd, which is root: it may have secrets. */
  settings: join(root, 'etc/davit/davit.env'),
  unit: join(root, 'etc/systemd/system', service),
  /** Of upgrades: only root may read it, since it has backups and copies of the database. */
  upgrades: join(root, 'var/lib/davit-upgrade'),
  /** Of moves to and from another server: journals, and a sealed backup on its way. */
  moves: join(root, 'var/lib/davit-move'),
  /** Locked by davit install and davit uninstall. */
  lock: join(root, 'run/davit-install'),
})

/**
 * The unit of an installation. What it must be able to do: talk to Docker, write its data, and limit what
 * builds use, for which it writes to control groups. It is started again for as long as it takes, such as until its
 * address is up at boot; bad settings, with which it ends with status 2, don’t get better by that.
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
