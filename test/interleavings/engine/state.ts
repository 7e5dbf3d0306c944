import type { ContainerOptions, ContainerState, RestartPolicy } from '../../../src/docker/index.ts'

/** What moves a fake engine's time: the real clock, or one that a schedule moves. */
export type Clock = {
  /** Milliseconds since 1970. */
  now: () => number
  /** Calls back after so many milliseconds, unless the answer is called before. */
  after: (milliseconds: number, work: () => void) => () => void
}

export type FakeImage = {
  id: string
  tags: string[]
  digests: string[]
  labels: Record<string, string>
  command: string[]
  exposedPorts: number[]
  /** `['CMD', 'true']` passes, everything else fails. */
  health: string[] | null
  createdAt: number
}

export type FakeNetwork = {
  id: string
  name: string
  labels: Record<string, string>
  subnet: string
}

export type FakeVolume = { name: string; labels: Record<string, string> }

/** A container's place on a network; the address is its own while it runs. */
export type Endpoint = { aliases: string[]; wanted: string | null; address: string | null }

export type FakeContainer = {
  id: string
  name: string
  options: ContainerOptions
  imageId: string
  command: string[]
  state: ContainerState
  exitCode: number
  error: string | null
  createdAt: number
  startedAt: number | null
  finishedAt: number | null
  restartCount: number
  policy: RestartPolicy
  /** Whether someone asked for its end: then only someone starts it again. */
  stoppedByHand: boolean
  health: 'starting' | 'healthy' | 'unhealthy' | null
  endpoints: Map<string, Endpoint>
  /** Ports of the host that it holds while it runs. */
  held: { container: number; protocol: 'tcp' | 'udp'; host: number; address: string }[]
  files: string[]
  /** What its process still has ahead of it. */
  timers: (() => void)[]
  /** Those who wait for its end. */
  waiting: Set<() => void>
}

/** What a command comes to, as far as the tests use it. */
export type Behaviour = {
  /** Null: it can't be started. */
  endsAfter: number | null
  exitCode: number
  /** Ignores SIGTERM. */
  stubborn: boolean
}

/** Reads a command as a shell would, of the few that the tests use; what is not known is refused. */
export function behaviourOf(command: string[]): Behaviour {
  const shell = /^sh -c (?:exec )?(sleep [\d.]+)$/.exec(command.join(' '))
  if (shell) return behaviourOf(shell[1]!.split(' '))
  const text = command.join(' ')
  const forever = { endsAfter: Infinity, exitCode: 0, stubborn: false }
  if (text.startsWith('/no/')) return { ...forever, endsAfter: null }
  if (text === 'true' || text === 'pidof sleep') return { ...forever, endsAfter: 1 }
  if (text === 'false') return { ...forever, endsAfter: 1, exitCode: 1 }
  if (command[0] === 'sleep') {
    const seconds = Number(command[1])
    return { ...forever, endsAfter: seconds >= 1_000_000 ? Infinity : seconds * 1000 }
  }
  const [, wait = '0', code] = /^sh -c (?:sleep ([\d.]+); )?exit (\d+)$/.exec(text) ?? []
  if (code) return { ...forever, endsAfter: Number(wait) * 1000 + 1, exitCode: Number(code) }
  if (/(^|exec )(httpd -f|docker-entrypoint\.sh) /.test(text)) return forever
  if (/^sh -c trap '' TERM; /.test(text)) return { ...forever, stubborn: true }
  throw new Error(`The fake engine does not know what the command ${text} does.`)
}

/** Whether its policy says that it runs again. Only `unless-stopped` minds who ended it, when the engine starts. */
export function mayStart({ policy, exitCode, restartCount }: FakeContainer) {
  if (policy.name !== 'on-failure') return policy.name !== 'no'
  const { maximumRetries: most } = policy
  return exitCode !== 0 && (most === 0 || restartCount < most)
}
