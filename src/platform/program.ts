/** Every program that Davit starts: test/architecture.test.ts repeats this list. */
export const programs = [
  'git',
  'open',
  'xdg-open',
  'apt-get',
  'davit',
  'dnf',
  'dpkg',
  'iptables',
  'journalctl',
  'ssh',
  'sshd',
  'sync',
  'systemctl',
  'useradd',
  'userdel',
  'usermod',
] as const

export type ProgramName = (typeof programs)[number]

export type Program = {
  /** Passed as a list; no shell reads it. Untrusted text must not be able to become an option. */
  argv: [ProgramName, ...string[]]
  file?: string
  cwd?: string
  env: Record<string, string>
  /** Its whole input, or `stream` to write it while the program runs. */
  input?: Uint8Array<ArrayBuffer> | 'stream' | undefined
  signal: AbortSignal
  /** Milliseconds after which it is ended. */
  deadline: number
  /** Milliseconds without error output after which it is ended. */
  silence?: number | undefined
  timedOut?: (milliseconds: number) => Error
  /** Milliseconds that it may take to end before it is killed. */
  grace?: number
  onLine?: (line: string) => void
}

export type RunningProgram = ReturnType<typeof startProgram>

export class ProgramTimeout extends Error {}

export class ProgramMissing extends Error {}

/**
 * Starts a program in its own process group, which ends as a whole: by `stop`, the signal, the deadline or
 * silence. Throws ProgramMissing when it isn't installed.
 */
export function startProgram(program: Program) {
  program.signal.throwIfAborted()
  const child = spawn(program)
  let stopped: { reason: unknown } | undefined
  let over = false
  const stop = (reason: unknown) => {
    if (stopped || over) return
    stopped = { reason }
    killGroup(child, program.grace ?? 1_000)
  }

  const abort = () => stop(program.signal.reason)
  program.signal.addEventListener('abort', abort, { once: true })
  const endAfter = (milliseconds: number | undefined) =>
    milliseconds === undefined
      ? undefined
      : setTimeout(() => stop((program.timedOut ?? timeoutOf(program))(milliseconds)), milliseconds)
  const deadline = endAfter(program.deadline)
  const silence = endAfter(program.silence)

  const onLine = program.onLine ?? (() => {})
  const reading = eachLine(child.stderr, { onChunk: () => silence?.refresh(), onLine })
  /** Resolves with its exit status; rejects with the reason for which it was ended. */
  const ended = Promise.all([child.exited, reading])
    .finally(() => {
      over = true
      program.signal.removeEventListener('abort', abort)
      clearTimeout(deadline)
      clearTimeout(silence)
    })
    .then(([status]) => {
      if (stopped) throw stopped.reason
      return status
    })
  return { output: child.stdout, ...inputOf(child), ended, stop }
}

function inputOf({ stdin }: ReturnType<typeof spawn>) {
  const sink = () => {
    if (typeof stdin === 'object') return stdin
    throw new Error('this program takes no input while it runs')
  }
  return {
    /** Writes streamed input. Resolves when there is room for more; throws when the program has ended. */
    async write(bytes: Uint8Array) {
      await Promise.all([sink().write(bytes), sink().flush()]) // each may hear of a broken pipe
    },
    async endInput() {
      await sink().end()
    },
  }
}

/** Runs a program to its end. Returns its exit status and the last 1,000 lines of both streams. */
export async function runProgram(program: Program) {
  const lines: string[] = []
  const onLine = (line: string) => {
    program.onLine?.(line)
    lines.push(line)
    if (lines.length > 1_000) lines.shift()
  }
  const running = startProgram({ ...program, onLine })
  const [status] = await Promise.all([running.ended, eachLine(running.output, { onLine })])
  return { status, lines }
}

/** Calls back with each line; one longer than 64 KiB is cut. */
async function eachLine(
  stream: ReadableStream<Uint8Array>,
  { onChunk, onLine }: { onChunk?: () => void; onLine: (line: string) => void },
) {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of stream) {
    onChunk?.()
    const lines = (rest + decoder.decode(chunk, { stream: true })).split(/\r\n|\n|\r/)
    rest = lines.pop()!.slice(0, longestLine)
    for (const line of lines) if (line) onLine(line.slice(0, longestLine))
  }
  if (rest) onLine(rest)
}

const longestLine = 65_536

function spawn({ argv: [name, ...args], file = name, cwd, env, input }: Program) {
  if (!programs.includes(name)) throw new Error(`${name} isn’t one of the programs to start`)
  try {
    return Bun.spawn([file, ...args], {
      ...(cwd === undefined ? {} : { cwd }),
      env,
      stdin: input === 'stream' ? 'pipe' : (input ?? 'ignore'),
      stdout: 'pipe',
      stderr: 'pipe',
      detached: true, // its own process group: the programs that it starts must end with it
    })
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') throw cause
    throw new ProgramMissing(`${name} isn’t installed`, { cause })
  }
}

const timeoutOf =
  ({ argv: [name] }: Program) =>
  (milliseconds: number) =>
    new ProgramTimeout(`${name} didn’t finish within ${Math.ceil(milliseconds / 1000)} s`)

/** SIGTERM first, so that it can remove its lock files. */
function killGroup(child: Bun.Subprocess, grace: number) {
  const kill = (signal: NodeJS.Signals) => {
    try {
      process.kill(-child.pid, signal)
    } catch {
      // the whole group has ended
    }
  }
  kill('SIGTERM')
  const force = setTimeout(() => kill('SIGKILL'), grace)
  child.exited.then(() => {
    clearTimeout(force)
    kill('SIGKILL')
  })
}
