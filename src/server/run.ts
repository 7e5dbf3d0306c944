import { Failure } from '../platform/errors.ts'
import { ProgramMissing, runProgram, startProgram } from '../platform/program.ts'
import type { Program } from '../platform/program.ts'

/** How a step talks while it works, and when it must stop. */
export type Work = { signal: AbortSignal; say: (line: string) => void }

type Call = { argv: Program['argv']; file?: string; minutes?: number } & Partial<Work>

const systemPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/** Where programs are looked for. An empty or relative entry would be the folder that root is in just now. */
export const searchPath = (own = '') =>
  [...own.split(':').filter((folder) => folder.startsWith('/')), systemPath].join(':')

/** What a program of the system needs; none may ask a question, or restart services by itself. */
const environment = () => ({
  PATH: searchPath(process.env.PATH),
  HOME: '/root',
  LC_ALL: 'C',
  DEBIAN_FRONTEND: 'noninteractive',
  NEEDRESTART_SUSPEND: '1',
})

/** Runs a program of the system: its status and its lines. A missing program ends with status 127. */
export async function tryRun({ argv, file, minutes = 1, signal }: Call) {
  try {
    return await runProgram({
      argv,
      ...(file === undefined ? {} : { file }),
      env: environment(),
      signal: signal ?? new AbortController().signal,
      deadline: minutes * 60_000,
      grace: 20_000, // a package manager finishes the package that it is at
    })
  } catch (error) {
    if (!(error instanceof ProgramMissing)) throw error
    return { status: 127, lines: [error.message] }
  }
}

/** The same; when its status isn't 0 it shows the last lines, and throws a Failure with the decisive one. */
export async function run(call: Call & { todo: string }) {
  const { status, lines } = await tryRun(call)
  if (status === 0) return lines
  for (const line of lines.slice(-15)) call.say?.(`    ${line}`)
  const said = lines.findLast((line) => /^(E|Error|fatal):/i.test(line)) ?? lines.at(-1)
  throw new Failure(
    'program_failed',
    `${call.argv.slice(0, 2).join(' ')} failed: ${said?.trim() || `it ended with status ${status}`}`,
    call.todo,
  )
}

/** Milliseconds: what moves a server's data may take days. */
const longest = 14 * 24 * 3600 * 1000

/** Starts a program of the system whose input and output the caller moves. */
export const openProgram = ({
  argv,
  signal,
  onLine,
}: {
  argv: Program['argv']
  signal: AbortSignal
  onLine: (line: string) => void
}) => {
  const agent = process.env.SSH_AUTH_SOCK
  const env = { ...environment(), ...(agent && { SSH_AUTH_SOCK: agent }) }
  return startProgram({ argv, env, input: 'stream', signal, deadline: longest, onLine })
}

/** Whether a program is installed. */
export const hasProgram = (name: string) => Bun.which(name, { PATH: environment().PATH }) !== null
