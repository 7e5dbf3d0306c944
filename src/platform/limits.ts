import { AppError } from './errors.ts'

/**
 * How many of each one user may have: more than normal use needs, and few enough that one user can't
 * use up the disk, ports or networks that everyone shares. `assets/docs/limits.md` names them.
 */
export const limits = {
  projects: 500,
  /** Over all projects: each holds a port of the host. */
  environments: 1000,
  /** Of one environment; an engine takes no more of them than fit into 2 MB. */
  variables: 500,
  services: 200,
  /** Of one environment: its containers are on the network of each. */
  links: 20,
  /** Over all environments and services. */
  domains: 1000,
  /** Characters of all their options and certificates, which the edge holds in memory. */
  domainSettings: 1_000_000,
  tokens: 100,
  sources: 50,
  registries: 50,
  /** Open invitations that one admin has made. */
  invites: 100,
  /**
   * Waiting deployments, of which each environment has one at most. A push beyond them stays in the
   * inbox, from where it can be deployed.
   */
  deployments: 100,
  /** One-off commands that have not ended: each holds the memory of a container. */
  runs: 5,
  /** One more login ends the session that was seen longest ago. */
  sessions: 100,
} as const

/** What one container may be given, whether it is an app's or a Compose file asks for it. */
export const containerLimits = {
  memoryMb: 4_194_304,
  cpus: 512,
  /** Processes and threads. */
  pids: 4096,
  /** Seconds between the signal to stop and SIGKILL: whoever stops or deletes it waits so long. */
  stopTimeout: 300,
  /** Open files; what the kernel gives a process by default. */
  openFiles: 1_048_576,
  /** Least milliseconds between two health checks: each one starts a process. */
  healthInterval: 1000,
  /** Bytes of its labels, and of its command: every list of containers carries both. */
  listed: 32 * 1024,
} as const

/** Of what runs in one environment. */
export const processLimits = {
  processes: 20,
  /** Of one process. */
  replicas: 20,
  /** Replicas of all its processes: during a roll-out the network must hold the old and the new ones. */
  instances: 30,
} as const

type Limited = Exclude<keyof typeof limits, 'sessions'>

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
  invites: 'You have % open invitations, the maximum. Revoke one first.',
  deployments: 'You have % queued deployments, the maximum. Wait until some have ended.',
  runs: 'You have % runs that haven’t ended, the maximum. Wait until one ends, or cancel one.',
}

/** Refuses one more where `count` is already the maximum. */
export function refuseMore(what: Limited, count: number) {
  if (count < limits[what]) return
  const message = whyNoMore(what)
  throw what === 'deployments' || what === 'runs'
    ? new AppError('too_many', message, { retryAfter: 60 })
    : new AppError('conflict', message)
}

/** Why there can be no more of them, in a sentence. */
export const whyNoMore = (what: Limited) => said[what].replace('%', String(limits[what]))
