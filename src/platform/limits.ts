import { AppError } from './errors.ts'

/**
 * How many of each one user may have: more than honest work needs, and few enough that one user fills
 * neither the disk nor the ports and networks that all share. The README names them under “How many of each”.
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
  /** Milliseconds between two looks at its health at the least: each is a process of the engine's. */
  healthInterval: 1000,
  /** Bytes of its labels, and of its command: every list of containers carries both. */
  listed: 32 * 1024,
} as const

/** Of what runs in one environment. */
export const processLimits = {
  processes: 20,
  /** Of one process. */
  replicas: 20,
  /** Replicas of all its processes: as many old and new ones have room beside each other in a network. */
  instances: 30,
} as const

type Limited = Exclude<keyof typeof limits, 'sessions'>

const said: Record<Limited, string> = {
  projects: 'You have % projects, which is the most. Delete one first.',
  environments: 'Your projects have % environments, which is the most. Delete one first.',
  variables: 'This environment has % variables, which is the most. Delete some first.',
  links: 'This environment has % links, which is the most. Remove one first.',
  services: 'You have % services, which is the most. Delete one first.',
  tokens: 'You have % API tokens, which is the most. Revoke one first.',
  sources: 'You have % git sources, which is the most. Remove one first.',
  registries: 'You have % registries, which is the most. Remove one first.',
  invites: 'You have made % open invitations, which is the most. Withdraw one first.',
  deployments: 'You have % deployments waiting, which is the most. Wait until some are done.',
  runs: 'You have % runs that have not ended, which is the most. Wait until one ends, or cancel one.',
}

/** Refuses one more of what there are `count` already, where that is the most. */
export function refuseMore(what: Limited, count: number) {
  if (count < limits[what]) return
  const message = whyNoMore(what)
  throw what === 'deployments' || what === 'runs'
    ? new AppError('too_many', message, { retryAfter: 60 })
    : new AppError('conflict', message)
}

/** Why there can be no more of them, in a sentence. */
export const whyNoMore = (what: Limited) => said[what].replace('%', String(limits[what]))
