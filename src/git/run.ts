import { Failure } from '../platform/errors.ts'
import { ProgramMissing, startProgram } from '../platform/program.ts'
import type { Program, RunningProgram } from '../platform/program.ts'

/** Shared by every git process of this installation. */
export type GitSetup = {
  /** Davit's own, so that no git settings of the operator's account apply. */
  home: string
  allowLocal: boolean
  /** In milliseconds: `command` and `transfer` in total, `silence` without data. */
  deadlines: { command: number; transfer: number; silence: number }
}

export type GitCommand = {
  command: string
  /** Only constants of this program. */
  options?: string[]
  /** Untrusted text such as names, hashes and addresses. Anything that looks like an option is refused. */
  values?: string[]
  mirror?: string
  config?: string[]
  env?: Record<string, string>
  /** Replaced in git's output. */
  secrets?: string[]
  input?: Uint8Array<ArrayBuffer> | 'stream'
  /** Bytes of output after which the command fails with `tooMuch`. */
  max?: number
  tooMuch?: () => Error
  /** Bytes of output after which git is ended because no more is needed. */
  enough?: number
  signal: AbortSignal
  /** Uses the network: may take longer, but must keep sending data. */
  transfer?: boolean
  log?: (line: string) => void
}

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

/** Runs git on input that is made while it runs. What the input throws ends it, and is thrown. */
export async function feedGit(
  setup: GitSetup,
  { input, ...command }: Omit<GitCommand, 'input'> & { input: AsyncIterable<Uint8Array> },
): Promise<void> {
  const git = startGit(setup, { ...command, input: 'stream' }, setup.deadlines.transfer)
  const feed = async () => {
    try {
      for await (const piece of inPieces(input)) await git.write(piece)
      await git.endInput()
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EPIPE') git.stop(error) // git says why it ended
    }
  }
  await Promise.all([git.ended, feed(), new Response(git.output).arrayBuffer()])
}

/** Joins small chunks, as each write waits for git. */
async function* inPieces(chunks: AsyncIterable<Uint8Array>) {
  let small: Uint8Array[] = []
  let size = 0
  for await (const chunk of chunks) {
    small.push(chunk)
    size += chunk.length
    if (size < 64 * 1024) continue
    yield Buffer.concat(small)
    small = []
    size = 0
  }
  yield Buffer.concat(small)
}

/** The process ends with the stream, on either side. */
export function streamGit(
  setup: GitSetup,
  command: GitCommand & { onFailure: (error: GitError) => Promise<Error> },
): ReadableStream<Uint8Array> {
  const git = startGit(setup, command, setup.deadlines.transfer)
  git.ended.catch(() => {}) // The reader of the stream gets the error; there may be no reader yet.
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

function startGit(setup: GitSetup, command: GitCommand, max: number): RunningProgram {
  const lines: string[] = []
  const git = start({
    argv: [
      'git',
      ...[...safeConfig, ...(command.config ?? [])].flatMap((setting) => ['-c', setting]),
      command.command,
      ...(command.options ?? []),
      ...(command.values ?? []).map(plainValue),
    ],
    cwd: setup.home,
    env: environment(setup, command),
    input: command.input,
    signal: command.signal,
    deadline: max,
    silence: command.transfer ? setup.deadlines.silence : undefined,
    timedOut: (milliseconds) => timedOut(command, milliseconds),
    onLine(text) {
      const line = masked(text, command.secrets ?? [])
      command.log?.(line)
      lines.push(line)
      if (lines.length > 20) lines.shift()
    },
  })
  const ended = git.ended.then((status) => {
    if (status !== 0) throw new GitError(command.command, lines)
    return status
  })
  return { ...git, ended }
}

function start(program: Program) {
  try {
    return startProgram(program)
  } catch (error) {
    if (!(error instanceof ProgramMissing)) throw error
    throw new Failure(
      'git_missing',
      'git isn’t installed on this server.',
      'Install git 2.37 or newer, for example with: apt install git',
    )
  }
}

/** git reads a leading “-” as an option, and some options run commands. */
function plainValue(text: string): string {
  if (text.startsWith('-') || text.includes('\0')) throw new Error(`Not a value for git: ${text}`)
  return text
}

// Nothing in a repository may run a program here, and git only connects to the checked hosts.
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

// The shell that git starts expands the variables within the quotes, and nothing in their values.
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

async function readAll(
  git: RunningProgram,
  { max = maxOutput, tooMuch = tooLarge, enough = Infinity }: GitCommand,
): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of git.output) {
    chunks.push(chunk)
    size += chunk.length
    if (size > max) git.stop(tooMuch())
    if (size < enough) continue
    git.stop(hadEnough)
    break
  }
  return Buffer.concat(chunks).subarray(0, enough)
}

const maxOutput = 128 * 1024 * 1024

const masked = (line: string, secrets: string[]) =>
  secrets.reduce((text, secret) => text.replaceAll(secret, '***'), line)

const tooLarge = () =>
  new Failure(
    'repository_too_large',
    'The repository has more files than Davit accepts in a build.',
    'Move what the build doesn’t need to another repository.',
  )

const timedOut = (command: GitCommand, milliseconds: number) =>
  new Failure(
    'git_timeout',
    `git ${command.command} didn’t finish within ${Math.ceil(milliseconds / 1000)} seconds.`,
    'Try again. If it keeps failing, check that the git server responds from this server.',
  )
