import { AppError } from './errors.ts'

/**
 * Limits for each user: more than normal use needs, and few enough that one user can't use up the disk, ports
 * or networks that everyone shares. `assets/docs/limits.md` names them.
 */
export const limits = {
  projects: 500,
  /** In all projects: each holds a port of the host. */
  environments: 1000,
  /** For each environment; an engine accepts no more than 2 MB of them. */
  variables: 500,
  services: 200,
  /** For each environment: its containers join the network of each linked service. */
  links: 20,
  /** In all environments and services. */
  domains: 1000,
  /** Characters of all their options and certificates, which the edge holds in memory. */
  domainSettings: 1_000_000,
  tokens: 100,
  sources: 50,
  registries: 50,
  targets: 50,
  channels: 50,
  /** Open invitations by one admin. */
  invites: 100,
  /** Open ones, of all admins. */
  joinCodes: 50,
  /** Waiting deployments. A push beyond them stays in the inbox and can be deployed from there. */
  deployments: 100,
  /** Of one environment, and of those how many a davit.yaml may have. */
  schedules: 100,
  codeSchedules: 20,
  /** Of one environment. */
  freezes: 50,
  drains: 5,
  /** Uploads that arrive or whose deployment hasn’t ended: each may fill DAVIT_REPOSITORY_SIZE. */
  uploads: 5,
  /** Unfinished one-off commands: each uses the memory of a container. */
  runs: 5,
  /** One more login ends the session that was used longest ago. */
  sessions: 100,
} as const

/** Seconds for which a new version can be watched after the switch. */
export const longestWatch = 3600

/** Percent of the requests that a new version can get a share of, and seconds after which it is taken back. */
export const shareLimits = { percent: { min: 1, max: 50 }, seconds: 24 * 3600 }

/** Limits of one container, whether it is an app's or of a Compose file. */
export const containerLimits = {
  memoryMb: 4_194_304,
  cpus: 512,
  /** Processes and threads. */
  pids: 4096,
  /** Seconds between the stop signal and SIGKILL: stopping and deleting wait for that. */
  stopTimeout: 300,
  /** Open files; the kernel's default for a process. */
  openFiles: 1_048_576,
  /** Minimum milliseconds between two health checks: each one starts a process. */
  healthInterval: 1000,
  /** Bytes of its labels, and of its command: every list of containers includes both. */
  listed: 32 * 1024,
} as const

/** For each environment. */
export const processLimits = {
  processes: 20,
  replicas: 20,
  /** Replicas of all processes: during a roll-out the network must hold the old and the new ones. */
  instances: 30,
} as const

/** Seconds that a one-off command may take, unless it has its own timeout. */
export const usualTimeout = 3600

export type Limited = Exclude<keyof typeof limits, 'sessions' | 'codeSchedules'>

const said: Record<Limited, string> = {
  projects: 'You have % projects, the maximum. Delete one first.',
  environments: 'Your projects have % environments, the maximum. Delete one first.',
  variables: 'This environment has % variables, the maximum. Delete some first.',
  links: 'This environment has % links, the maximum. Remove one first.',
  services: 'You have % services, the maximum. Delete one first.',
  domains: 'You have % domains, the maximum. Remove some first.',
  domainSettings:
    'The headers, certificates and other options of your domains have more than % characters together, the maximum. Shorten or remove some first.',
  tokens: 'You have % API tokens, the maximum. Revoke one first.',
  sources: 'You have % git sources, the maximum. Remove one first.',
  registries: 'You have % registries, the maximum. Remove one first.',
  targets: 'You have % backup targets, the maximum. Remove one first.',
  channels: 'You have % channels, the maximum. Remove one first.',
  invites: 'You have % open invitations, the maximum. Revoke one first.',
  joinCodes: 'There are % open codes for servers, the maximum. Withdraw one first.',
  deployments: 'You have % queued deployments, the maximum. Wait until some have ended.',
  schedules: 'This environment has % schedules, the maximum. Delete one first.',
  freezes: 'This environment has % freezes, the maximum. Remove one first.',
  drains: 'This environment has % log drains, the maximum. Delete one first.',
  uploads: 'You have % uploads that aren’t deployed yet, the maximum. Wait until one has ended.',
  runs: 'You have % runs that haven’t ended, the maximum. Wait until one ends, or cancel one.',
}

export function refuseMore(what: Limited, count: number) {
  if (count < limits[what]) return
  const message = whyNoMore(what)
  throw what === 'deployments' || what === 'uploads' || what === 'runs'
    ? new AppError('too_many', message, { retryAfter: 60 })
    : new AppError('conflict', message)
}

export const whyNoMore = (what: Limited) => said[what].replace('%', String(limits[what]))
