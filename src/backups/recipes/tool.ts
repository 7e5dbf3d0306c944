import type { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { EngineError } from '../../docker/index.ts'
import type { PipedOptions } from '../../docker/piped.ts'
import { Failure } from '../../platform/errors.ts'
import { KeptContainer } from '../../runtime/backup-containers.ts'
import type { BackupDeps } from '../../runtime/backup-containers.ts'
import type { BackupEngine } from '../../services/compose/declaration.ts'

export type ToolDeps = BackupDeps & {
  /** How long a tool waits for someone else's change of a table. By default 30 s. */
  lockTimeoutMs?: number
}

/** A server of a workload. */
export type Source = {
  component: string
  engine: BackupEngine
  /** Its credentials, for the tool. */
  env: Record<string, string>
}

export type Target = {
  source: Source
  /** The container in which it runs. */
  containerId: string
  ownerId: string
  /** In which its tools run, for as long as that is open; by default for as long as one call needs them. */
  tools?: KeptContainer
}

export type Tool = Omit<Target, 'tools'> & {
  tools: KeptContainer
  /** A constant text for a shell; values are in `env`. */
  script: string
  env?: Record<string, string>
  signal: AbortSignal
} & Pick<PipedOptions, 'stdin' | 'stdout' | 'isMarked' | 'maxStderr'>

const mebibyte = 2 ** 20

/** The end of each script whose output is marked. */
export const marked = '&& printf %s "$DAVIT_END" && { read -r _ || :; }'

/** A container of the image that runs, for the server's own tools, which shares the network of the server. */
export const toolsOf = (deps: ToolDeps, { source, containerId, ownerId }: Target) =>
  new KeptContainer(deps, async ({ signal }) => {
    const server = await serverIn(deps, { source, containerId, signal })
    return {
      ...{ does: 'dump', ownerId, isOnline: { sharedWith: containerId } },
      image: server.imageId,
      env: { LC_ALL: 'C', DAVIT_LOCK_MS: String(deps.lockTimeoutMs ?? 30_000), ...source.env },
      // a loaded copy of an in-memory database needs as much as the database
      memoryBytes: Math.max(512 * mebibyte, server.memoryLimit ?? 0),
      cpus: 2,
      pidsLimit: 256,
      init: true,
    }
  })

export async function withTools<Call extends Target, Result>(
  deps: ToolDeps,
  call: Call,
  work: (call: Call & { tools: KeptContainer }) => Promise<Result>,
): Promise<Result> {
  if (call.tools) return work({ ...call, tools: call.tools })
  await using tools = toolsOf(deps, call)
  return await work({ ...call, tools })
}

/** Throws a Failure when the tool didn't succeed. Returns what it wrote to its error stream. */
export async function runTool(deps: ToolDeps, tool: Tool): Promise<string> {
  const { source, containerId: _, ownerId: __, tools, script, env = {}, ...streams } = tool
  const { startedAt } = await serverIn(deps, tool)
  const command = ['sh', '-c', script]
  const run = tools.run({ ...streams, command, env }).catch(async (error) => {
    // one that starts again and again takes the network along that its tools are to share
    if (!(error instanceof EngineError)) throw error
    const now = await serverIn(deps, tool)
    throw Number(now.startedAt) === Number(startedAt) ? error : restarted(source)
  })
  const { exitCode, oomKilled, stderr } = await run
  if (exitCode !== 0) throw oomKilled ? tooLittleMemory(source) : explained(source, stderr)
  return stderr
}

async function serverIn(
  { docker }: ToolDeps,
  { source, containerId, signal }: Pick<Tool, 'source' | 'containerId' | 'signal'>,
) {
  const server = await docker.inspectContainer(containerId, { signal })
  if (server?.state !== 'running') throw notRunning(source)
  return server
}

/** Bytes of what is counted. */
const maxHead = 16 * mebibyte

type Printing = Omit<Tool, 'stdout' | 'isMarked'>

/** Runs a tool whose output is one JSON value a line, and returns them. */
export async function linesOf<T>(deps: ToolDeps, tool: Printing) {
  return jsonLines<T>(await textOf(deps, tool))
}

/** Runs a tool, and returns its output. */
export async function textOf(deps: ToolDeps, tool: Printing) {
  const chunks: Uint8Array[] = []
  let size = 0
  await runTool(deps, {
    ...tool,
    script: `{ ${tool.script}\n} ${marked}`,
    isMarked: true,
    async stdout(from) {
      for await (const chunk of from) {
        if ((size += chunk.length) > maxHead) throw tooMuch()
        chunks.push(chunk)
      }
    },
  })
  return Buffer.concat(chunks).toString()
}

const tooMuch = () => new Error(`What is counted of a database has more than ${maxHead} bytes.`)

/** Without ending the stream that it writes to. */
export const passOn = (
  from: AsyncIterable<Uint8Array>,
  { to, signal }: { to: Writable; signal: AbortSignal },
) => pipeline(from, to, { signal, end: false })

export function jsonLines<T>(text: string) {
  return text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as T]))
}

/** Splits lines of JSON, which an empty line ends, from the data that follows; that goes to `to`. */
export async function splitHead<T>(
  from: AsyncIterable<Uint8Array>,
  { to, signal }: { to: Writable; signal: AbortSignal },
): Promise<T[]> {
  const pieces: Buffer[] = []
  let [size, isOver] = [0, false]
  await pipeline(
    async function* () {
      for await (const chunk of from) {
        if (isOver) {
          yield chunk
          continue
        }
        const last = pieces.at(-1)?.subarray(-1) ?? Buffer.alloc(0) // the line may end in two chunks
        const end = Buffer.concat([last, chunk]).indexOf('\n\n') - last.length
        isOver = end >= -last.length
        pieces.push(Buffer.from(isOver ? chunk.subarray(0, end + 2) : chunk))
        if ((size += pieces.at(-1)!.length) > maxHead) throw tooMuch()
        if (isOver && chunk.length > end + 2) yield chunk.subarray(end + 2)
      }
    },
    to,
    { signal, end: false },
  )
  // without its end the tool has failed, and its exit code is the reason
  return isOver ? jsonLines<T>(Buffer.concat(pieces).toString()) : []
}

const notRunning = ({ component }: Source) =>
  new Failure(
    'dump_not_running',
    `${component} doesn’t run, so that its data can’t be read or written.`,
    'Start the service, and see its log when it doesn’t stay up.',
  )

const restarted = ({ component }: Source) =>
  new Failure(
    'dump_away',
    `${component} was restarted while its tool was to begin.`,
    'See its log, then try again.',
  )

const tooLittleMemory = ({ component }: Source) =>
  new Failure(
    'dump_memory',
    `The tool of ${component} needed more memory than it may use.`,
    'Give the service more memory: its tools get as much.',
  )

/** By what the tools of all servers say; the first that fits. */
const reasons = [
  {
    code: 'dump_login',
    pattern:
      /password authentication failed|access denied for user|WRONGPASS|NOAUTH|AuthenticationFailed|invalid username-password/i,
    what: 'refuses the password that Davit has',
    hint: 'It was changed in the server by hand. Enter the current one in the settings of the service.',
  },
  {
    code: 'dump_locked',
    pattern: /lock timeout|lock wait timeout|could not obtain lock|definition has changed/i,
    what: 'had a table that another program was changing',
    hint: 'Wait until that change has ended, such as a migration, then try again.',
  },
  {
    code: 'dump_disk_full',
    pattern: /no space left|disk full|not enough (disk )?space/i,
    what: 'has no room left on its disk',
    hint: 'Free some: a restore needs as much again as the database.',
  },
  {
    code: 'dump_rights',
    pattern: /superuser|permission denied|must be owner|you need .*privilege|not authorized/i,
    what: 'doesn’t let its user do that',
    hint: 'Give the service the password of its administrator, such as POSTGRES_PASSWORD or MYSQL_ROOT_PASSWORD.',
  },
  {
    code: 'dump_away',
    pattern:
      /terminating connection|server closed the connection|connection (to server .*)?(refused|failed|reset)|lost connection|can't connect|could not connect|server has gone away|starting up|shutting down|i\/o error|LOADING/i,
    what: 'was restarted or isn’t ready',
    hint: 'See its log, then try again.',
  },
]

function explained({ component }: Source, output: string) {
  const lines = output.split('\n').flatMap((line) => line.trim() || [])
  const line = lines.findLast((one) => /error|fatal|fail|denied|refuse/i.test(one)) ?? lines.at(-1)
  const quoted = (line ?? 'it said nothing').slice(0, 500)
  const reason = reasons.find(({ pattern }) => pattern.test(output))
  return reason
    ? new Failure(reason.code, `${component} ${reason.what}: ${quoted}`, reason.hint)
    : new Failure(
        'dump_failed',
        `The tool of ${component} failed: ${quoted}`,
        'See the log of the service. The same command in its terminal shows more.',
      )
}
