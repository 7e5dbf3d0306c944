import { Failure } from '../platform/errors.ts'

/** What every git process of this installation has in common. */
export type GitSetup = {
  /** A directory of Davit's own, so that no settings of the operator's account are read. */
  home: string
  allowLocal: boolean
  /** Milliseconds after which a command ends, and of silence after which a transfer does. */
  deadlines: { command: number; transfer: number; silence: number }
}

export type GitCommand = {
  command: string
  /** Constants of ours. */
  options?: string[]
  /** Text from outside: names, hashes, addresses. None may look like an option. */
  values?: string[]
  mirror?: string
  config?: string[]
  env?: Record<string, string>
  /** Hidden in all that git says. */
  secrets?: string[]
  input?: Uint8Array<ArrayBuffer>
  /** Bytes of output after which it ends with `tooMuch`. */
  most?: number
  tooMuch?: () => Error
  /** Bytes of output after which it is ended, because no more is needed. */
  enough?: number
  signal: AbortSignal
  /** It talks to another machine: it may take longer, but not be silent. */
  transfer?: boolean
  /** Hears each line of git's error output as it comes. */
  log?: (line: string) => void
}

/** git ended with an error; `lines` are the last of what it said. */
export class GitError extends Error {
  constructor(
    readonly command: string,
    readonly lines: string[],
  ) {
    super(`git ${command}: ${lines.join(' / ')}`)
  }

  says(pattern: RegExp): boolean {
    return this.lines.some((line) => pattern.test(line))
  }
}

/** Runs git to its end and returns what it wrote; throws GitError, or the signal's reason. */
export async function runGit(setup: GitSetup, command: GitCommand): Promise<Buffer> {
  const { transfer, command: longest } = setup.deadlines
  const git = startGit(setup, command, command.transfer ? transfer : longest)
  const ended = git.ended.catch((error) => {
    if (error !== hadEnough) throw error
  })
  const [output] = await Promise.all([readAll(git, command), ended])
  return output
}

const hadEnough = Symbol('enough of its output was read')

/** What git writes, as it writes it; the process ends with the stream, whichever side ends it. */
export function streamGit(
  setup: GitSetup,
  command: GitCommand & { onFailure: (error: GitError) => Promise<Error> },
): ReadableStream<Uint8Array> {
  const git = startGit(setup, command, setup.deadlines.transfer)
  git.ended.catch(() => {}) // Seen by whoever reads; nobody may be reading yet.
  const reader = git.output.getReader()
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await reader.read()
      if (!done) return controller.enqueue(value)
      await git.ended.catch(async (error) => {
        throw error instanceof GitError ? await command.onFailure(error) : error
      })
      controller.close()
    },
    cancel: (reason) => git.stop(reason),
  })
}

type RunningGit = {
  output: ReadableStream<Uint8Array>
  ended: Promise<void>
  stop: (reason: unknown) => void
}

function startGit(setup: GitSetup, command: GitCommand, most: number): RunningGit {
  command.signal.throwIfAborted()
  const child = spawn(setup, command)
  let stopped: { reason: unknown } | undefined
  let over = false
  const stop = (reason: unknown) => {
    if (stopped || over) return
    stopped = { reason }
    killGroup(child)
  }

  const abort = () => stop(command.signal.reason)
  command.signal.addEventListener('abort', abort, { once: true })
  const deadline = setTimeout(() => stop(timedOut(command, most)), most)
  const quiet = setup.deadlines.silence
  const silence = command.transfer ? setTimeout(() => stop(timedOut(command, quiet)), quiet) : null

  const lines: string[] = []
  const reading = eachLine(
    child.stderr,
    () => silence?.refresh(),
    (text) => {
      const line = masked(text, command.secrets ?? [])
      command.log?.(line)
      lines.push(line)
      if (lines.length > 20) lines.shift()
    },
  )

  const ended = Promise.all([child.exited, reading])
    .finally(() => {
      over = true
      command.signal.removeEventListener('abort', abort)
      clearTimeout(deadline)
      clearTimeout(silence ?? undefined)
    })
    .then(([code]) => {
      if (stopped) throw stopped.reason
      if (code !== 0) throw new GitError(command.command, lines)
    })
  return { output: child.stdout, ended, stop }
}

function spawn(setup: GitSetup, command: GitCommand) {
  const argv = [
    'git',
    ...[...safeConfig, ...(command.config ?? [])].flatMap((setting) => ['-c', setting]),
    command.command,
    ...(command.options ?? []),
    ...(command.values ?? []).map(plainValue),
  ]
  try {
    return Bun.spawn(argv, {
      cwd: setup.home,
      env: environment(setup, command),
      stdin: command.input ?? 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
      detached: true, // Its own process group: git's helpers must end with it.
    })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    throw new Failure(
      'git_missing',
      'git is not installed on the machine that Davit runs on.',
      'Install git 2.37 or newer, for example with: apt install git',
    )
  }
}

/** git reads what begins with “-” as an option, and some of its options run commands. */
function plainValue(text: string): string {
  if (text.startsWith('-') || text.includes('\0')) throw new Error(`Not a value for git: ${text}`)
  return text
}

// Nothing that a repository holds may run a program here, and only named hosts are talked to.
const safeConfig = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.attributesFile=/dev/null',
  'credential.helper=',
  'filter.lfs.required=false',
  'http.followRedirects=false',
  'http.lowSpeedLimit=1',
  'http.lowSpeedTime=25',
  'protocol.version=2',
]

// The shell that git starts expands the variables inside the quotes, and nothing in their values.
const sshCommand = [
  'ssh -F /dev/null -o BatchMode=yes -o ConnectTimeout=15 -o ServerAliveInterval=15',
  '-o "IdentityFile=\\"$DAVIT_SSH_KEY\\"" -o IdentitiesOnly=yes -o IdentityAgent=none',
  '-o StrictHostKeyChecking=accept-new',
  '-o "UserKnownHostsFile=\\"$HOME/known_hosts\\""',
  '-o "HostName=$DAVIT_SSH_ADDRESS" -o "HostKeyAlias=$DAVIT_SSH_HOST"',
].join(' ')

const environment = (setup: GitSetup, command: GitCommand) => ({
  PATH: process.env.PATH ?? '/usr/local/bin:/usr/bin:/bin',
  HOME: setup.home,
  LC_ALL: 'C',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_ATTR_NOSYSTEM: '1',
  GIT_TERMINAL_PROMPT: '0',
  GIT_ASKPASS: '/bin/true',
  SSH_ASKPASS: '/bin/true',
  GIT_ALLOW_PROTOCOL: setup.allowLocal ? 'https:http:ssh:file' : 'https:http:ssh',
  GIT_SSH_COMMAND: sshCommand,
  GIT_SSH_VARIANT: 'ssh',
  DAVIT_SSH_KEY: 'none',
  ...(command.mirror ? { GIT_DIR: command.mirror } : {}),
  ...command.env,
})

/** Asks first, so that git can remove its lock files. */
function killGroup(child: Bun.Subprocess) {
  const kill = (signal: NodeJS.Signals) => {
    try {
      process.kill(-child.pid, signal)
    } catch {
      // The whole group has ended.
    }
  }
  kill('SIGTERM')
  const force = setTimeout(() => kill('SIGKILL'), 1_000)
  child.exited.then(() => {
    clearTimeout(force)
    kill('SIGKILL')
  })
}

async function eachLine(
  stream: ReadableStream<Uint8Array>,
  onChunk: () => void,
  onLine: (line: string) => void,
) {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of stream) {
    onChunk()
    const lines = (rest + decoder.decode(chunk, { stream: true })).split(/\r\n|\n|\r/)
    rest = lines.pop()!.slice(0, 65_536)
    for (const line of lines) if (line) onLine(line.slice(0, 65_536))
  }
  if (rest) onLine(rest)
}

async function readAll(
  git: RunningGit,
  { most = mostOutput, tooMuch = tooLarge, enough = Infinity }: GitCommand,
): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of git.output) {
    chunks.push(chunk)
    size += chunk.length
    if (size > most) git.stop(tooMuch())
    if (size < enough) continue
    git.stop(hadEnough)
    break
  }
  return Buffer.concat(chunks).subarray(0, enough)
}

const mostOutput = 128 * 1024 * 1024

const masked = (line: string, secrets: string[]) =>
  secrets.reduce((text, secret) => text.replaceAll(secret, '***'), line)

const tooLarge = () =>
  new Failure(
    'repository_too_large',
    'The repository holds more files than Davit takes into a build.',
    'Keep what the build does not need in another repository.',
  )

const timedOut = (command: GitCommand, milliseconds: number) =>
  new Failure(
    'git_timeout',
    `git ${command.command} had no answer or was not done within ${Math.ceil(milliseconds / 1000)} seconds.`,
    'Try again; if it stays so, see whether the git server answers from this machine.',
  )
