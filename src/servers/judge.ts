import type { Docker } from '../docker/index.ts'

type Engine = {
  info: Pick<Awaited<ReturnType<Docker['info']>>, 'version' | 'rootless'>
  state: Pick<Awaited<ReturnType<Docker['swarmState']>>, 'hasOverlay' | 'hasLiveRestore'>
}

/** The first version whose Swarm has no known fault that Davit would meet. */
const oldestDocker = 25

/** Whether all managers of its swarm are, or were, at that address. */
export const isManagedAt = (address: string, { managers }: { managers: string[] }) =>
  managers.length > 0 && managers.every((manager) => manager === address)

/** Seconds by which two clocks may differ: certificates and logs depend on them. */
const clockTolerance = 30

/** What keeps a server’s Docker out of a swarm, as predicates. */
export const whyUnfit = ({ info, state }: Engine): string[] => [
  ...(Number.parseInt(info.version) < oldestDocker
    ? [`has Docker ${info.version}, but needs ${oldestDocker} or newer.`]
    : []),
  ...(info.rootless ? ['has a rootless Docker, which can’t join.'] : []),
  ...(state.hasOverlay ? [] : ['has a Docker without overlay networks.']),
  ...(state.hasLiveRestore
    ? ['has live-restore in Docker’s daemon.json, which a swarm excludes.']
    : []),
]

/** Null when both clocks agree. */
export function whyApart(time: Date, now = new Date()) {
  const seconds = Math.abs(time.getTime() - now.getTime()) / 1000
  return seconds > clockTolerance
    ? `has a clock that differs by ${Math.round(seconds)} s. Let both servers get the time (NTP).`
    : null
}

export const whyOtherMachine = (arch: string, own: string) =>
  arch === own
    ? null
    : `is a machine of ${arch}, which can’t run images that are built here for ${own}.`
