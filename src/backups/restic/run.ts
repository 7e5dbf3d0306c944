import { isIP } from 'node:net'
import type { Writable } from 'node:stream'
import type { Config } from '../../config.ts'
import type { Db } from '../../db/index.ts'
import { isContainerGone } from '../../docker/failures.ts'
import { EngineError } from '../../docker/index.ts'
import type { ContainerOptions, Docker } from '../../docker/index.ts'
import type { Streams } from '../../docker/piped-streams.ts'
import { Failure } from '../../platform/errors.ts'
import { canonicalHost, resolveHost } from '../../platform/hosts.ts'
import type { Lookup } from '../../platform/hosts.ts'
import type { Secrets } from '../../platform/secrets.ts'
import type { KeyedLock } from '../../platform/semaphore.ts'
import { pullImage } from '../../runtime/images/pull-image.ts'
import { runForBackup } from '../../runtime/backup-containers.ts'
import { volumesFolder } from '../../runtime/volume-streams.ts'
import type { KeptContainer } from '../../runtime/backup-containers.ts'
import { explain, isFinal } from './explain.ts'
import { Messages } from './messages.ts'
import type { Progress } from './messages.ts'
import { sharers } from './repository.ts'
import type { Repository, Target } from './repository.ts'
import { markedRun, storingRun } from './scripts.ts'
import { Watch } from './watch.ts'

export type ResticDeps = {
  config: Config
  db: Db
  docker: Docker
  secrets: Secrets
  instanceId: string
  /** By repository: who only adds and reads shares it, who removes has it alone. */
  repositories: KeyedLock
  /** Resolves the hosts of targets. */
  lookup?: Lookup
  /** Writes a line of the job's log. */
  say?: (line: string) => void
  /** True to read all from the target: the cache has copies of what may be damaged or gone there. */
  isUncached?: boolean
  /** True for one container for all commands but those with volumes, until the repository is disposed of. */
  inOne?: boolean
  /** Milliseconds: for opening a repository, and without any progress. */
  timeouts?: { open: number; stall: number }
}

export type Opened = ResticDeps & {
  target: Target
  repository: Repository
  /** In which commands without volumes run; by default each has a container of its own. */
  kept?: KeptContainer
}

type Command = {
  args: string[]
  signal: AbortSignal
  /** True for a command that removes something, which no other may run beside. */
  isAlone?: boolean
  /** True when it may leave out files that it can't read. */
  isPartial?: boolean
  /** True for one that must end within the time for opening a repository. */
  isQuick?: boolean
  stdin?: (to: Writable, signal: AbortSignal) => Promise<void>
  /** True when its input can be written a second time. */
  isRepeatable?: boolean
  /** From so many bytes of input on it stores what it gets, at once by default. */
  storesFrom?: number
  /** Reads what it prints, instead of its messages being read. */
  stdout?: (from: AsyncIterable<Uint8Array>, signal: AbortSignal) => Promise<void>
  progress?: ((progress: Progress) => void) | undefined
  volumes?: ContainerOptions['volumes']
  scratch?: ContainerOptions['scratch']
  capabilities?: string[]
  /** Processors that it may use, in place of the usual share. */
  cpus?: number
  /** Shell lines that are run in place of restic with these arguments. */
  script?: string
  env?: Record<string, string>
}

export type Result = { exitCode: number; messages: Messages }

const MiB = 2 ** 20

/** How often restic may try a request that no retry helps, or anything while someone waits. */
const maxRetries = 3

/** restic's exit code when it stored all but files that it couldn't read. */
const unread = 3

/** In memory, for files that are stored or read together. */
export const gatheringFolder = '/files'

/** MiB of one of them, of all, and of one that comes last in any case; and how many. */
export const gatheringLimits = { one: 4, all: 64, last: 80, count: 200 }

const usualTimeouts = { open: 60_000, stall: 15 * 60_000 }

/**
 * Runs restic to its end, in the container that is kept or one of its own. Throws a Failure that says what to
 * do when it fails. A lock that a killed container left is removed, once nothing else of this Davit uses the
 * repository.
 */
export async function runRestic(opened: Opened, command: Command): Promise<Result> {
  try {
    return await inTurn(opened, command)
  } catch (error) {
    const isLocked = error instanceof Failure && error.code === 'target_locked'
    if (!isLocked) throw error
    await removeStaleLocks(opened, command) // for the next backup, if not for this one
    if (command.stdin && !command.isRepeatable) throw error
    return inTurn(opened, command)
  }
}

/**
 * Removes locks that are older than half an hour, and all when each is of this Davit: it alone uses the
 * repository then. restic itself takes a process of a container for one of another, for their ids are alike.
 */
export const removeStaleLocks = (opened: Opened, { signal }: Pick<Command, 'signal'>) =>
  inTurn(opened, { args: [], signal, isAlone: true, isQuick: true, script: unlockScript })

const unlockScript = `exec 2>&1
ids=$(restic "$@" --no-lock list locks) || exit
all=--remove-all
for id in $ids; do
case $(restic "$@" --no-lock cat lock "$id") in *"\\"$HOSTNAME\\""*) ;; *) all= ;; esac
done
restic "$@" unlock $all`

function inTurn(opened: Opened, command: Command) {
  const { repositories, repository } = opened
  const weight = command.isAlone ? sharers : 1
  return repositories.run(repository.where, command.signal, () => runOnce(opened, command), weight)
}

async function runOnce(opened: Opened, command: Command): Promise<Result> {
  const { timeouts = usualTimeouts, repository } = opened
  const { stdin, stdout, isQuick = false, storesFrom = 0 } = command
  const messages = new Messages(command.progress)
  const complete = `/tmp/complete-${crypto.randomUUID()}`
  const env = { ...command.env, DAVIT_COMPLETE: complete }
  try {
    const run = await containerFor(opened, { ...command, env })
    using watch = new Watch(command.signal, {
      ...(isQuick ? { total: timeouts.open } : { stall: timeouts.stall }),
      late: () => explain(opened, { messages, exitCode: null }),
    })
    messages.onProgress = () => watch.progressed()
    // restic tries for 15 minutes, even with a wrong key
    messages.onRetry = (count) => {
      const failure = explain(opened, { messages, exitCode: null })
      if (count >= maxRetries ? isQuick || isFinal(failure) : isQuick && isFinal(failure))
        watch.end(failure)
    }
    const { exitCode, oomKilled } = await run({
      signal: watch.signal,
      isMarked: stdout !== undefined,
      onStderr: (bytes) => messages.pushStderr(bytes),
      ...(stdin && {
        async stdin(to, signal, id) {
          await stdin(watch.writing(to), signal)
          watch.written()
          if (watch.bytes >= storesFrom) await markComplete(opened, id, { complete, signal })
        },
      }),
      stdout: stdout
        ? (from, signal) => stdout(watch.reading(from), signal)
        : (from) => messages.readAll(from),
      ...repository.channel?.(watch.signal),
    })
    messages.end()
    const isDone = exitCode === 0 || (exitCode === unread && command.isPartial)
    if (isDone && !messages.hasLeft) return { exitCode, messages }
    throw explain(opened, { messages, exitCode, oomKilled })
  } catch (error) {
    if (command.signal.aborted) throw command.signal.reason
    if (!isMissingDirectory(error)) throw error
    messages.end(error.message)
    throw explain(opened, { messages, exitCode: null })
  }
}

/** The one that is kept, if there is one and it has what the command needs. */
async function containerFor(opened: Opened, command: Command) {
  const { repository, kept } = opened
  const { args, stdin, stdout, script, env, volumes, scratch, capabilities, cpus, signal } = command
  const run = script ?? (stdin ? storingRun : stdout ? markedRun : 'restic "$@" 2>&1')
  const entrypoint = ['sh', '-c', `${repository.setup}\n${run}`, 'restic']
  const withArgs = [...repository.options, ...args]
  if (kept && !volumes && !scratch && !capabilities && !cpus) {
    await kept.open({ signal })
    return (streams: Watched) =>
      kept.run({ ...streams, command: [...entrypoint, ...withArgs], ...(env && { env }) })
  }
  const options = { ...(await optionsOf(opened, command)), ...(cpus && { cpus }) }
  return (streams: Watched) =>
    runForBackup(opened, {
      ...{ ...options, ...streams, entrypoint, command: withArgs },
      env: { ...options.env, ...env },
    })
}

type Watched = Streams & { signal: AbortSignal }

/** The engine refuses to mount it. */
const isMissingDirectory = (error: unknown): error is EngineError =>
  error instanceof EngineError && error.message.includes('bind source path does not exist')

/** Pulls it when it is missing, like any image of the target's owner. */
async function pulledImage(opened: Opened, { signal }: Pick<Command, 'signal'>) {
  const { config, target, say } = opened
  const { resticImage: image } = config
  const onPull = () => say?.(`Pulling the image ${image}`)
  const { name } = await pullImage(opened, { ownerId: target.ownerId, image, signal, onPull })
  return name
}

/** The container connects to the addresses that were checked, and doesn't look the name up again. */
async function pinnedHosts(
  { config, lookup, repository: { host } }: Opened,
  { signal }: Pick<Command, 'signal'>,
) {
  if (host === null) return []
  const { allowHosts: allow } = config
  const addresses = await resolveHost(host, { allow, signal, lookup })
  return isIP(canonicalHost(host)!) ? [] : addresses.map((address) => `${host}:${address}`)
}

/** Two small caps of its use: half of the processors, and of the memory. */
async function limitsOf({ docker }: Opened, { signal }: Pick<Command, 'signal'>) {
  const machine = await docker.machine({ signal })
  const cpus = Math.max(0.5, machine.cpus / 2)
  const memory = Math.min(Math.max(machine.memoryBytes / 2, 512 * MiB), 4096 * MiB)
  return { cpus, memoryBytes: Math.round(memory), pidsLimit: 256 }
}

/** Of a container that restic runs in. */
export async function optionsOf(
  opened: Opened,
  {
    signal,
    volumes = [],
    scratch = [],
    capabilities = [],
  }: Pick<Command, 'signal' | 'volumes' | 'scratch' | 'capabilities'>,
) {
  const { instanceId, target, repository, isUncached = false } = opened
  const end = instanceId.slice(-12)
  const hostname = `davit-${end}` // by which it knows its own locks
  return {
    image: await pulledImage(opened, { signal }),
    ...(await limitsOf(opened, { signal })),
    extraHosts: await pinnedHosts(opened, { signal }),
    ownerId: target.ownerId,
    does: 'restic',
    isOnline: repository.host !== null,
    env: {
      ...repository.env,
      ...{ RESTIC_CACHE_DIR: '/cache', RESTIC_PROGRESS_FPS: '1', HOME: '/tmp', TMPDIR: '/tmp' },
      HOSTNAME: hostname,
    },
    hostname,
    user: '0:0',
    capabilities: [...new Set([...repository.capabilities, ...capabilities])],
    ownVolumes: isUncached ? [] : [{ name: `davit-${end}-restic-${target.id}`, path: '/cache' }],
    volumes,
    scratch: isUncached ? [...scratch, '/cache'] : scratch,
    tmpfs: [
      { path: '/tmp', options: 'size=1g,mode=1777' },
      {
        path: gatheringFolder,
        options: `size=${gatheringLimits.all + gatheringLimits.last}m,mode=700`,
      },
      // restic sets its times, too
      ...(volumes.length > 0 ? [{ path: volumesFolder, options: 'size=1m' }] : []),
    ],
    readOnly: true,
    init: true,
    oomScoreAdj: 500,
    granted: repository.granted,
  }
}

async function markComplete(
  { docker }: Opened,
  id: string,
  { complete, signal }: { complete: string; signal: AbortSignal },
) {
  const command = ['touch', complete]
  await docker.runInContainer(id, { command, signal }).catch((error) => {
    if (!isContainerGone(error)) throw error // restic has ended, and says why
  })
}
