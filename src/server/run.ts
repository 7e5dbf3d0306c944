import { Failure } from '../platform/errors.ts'
import { ProgramMissing, runProgram, startProgram } from '../platform/program.ts'
import type { Program } from '../platform/program.ts'
import { neverAborted } from '../platform/pause.ts'

export type Work = { signal: AbortSignal; say: (line: string) => void }

type Call = { argv: Program['argv']; file?: string; minutes?: number } & Partial<Work>

const systemPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/** Ignores empty and relative entries: they would be the folder that root is currently in. */
export const searchPath = (own = '') =>
  [...own.split(':').filter((folder) => folder.startsWith('/')), systemPath].join(':')

/** No program may prompt, or restart services by itself. */
const environment = () => ({
  PATH: searchPath(process.env.PATH),
  HOME: '/root',
  LC_ALL: 'C',
  DEBIAN_FRONTEND: 'noninteractive',
  NEEDRESTART_SUSPEND: '1',
})

/** A missing program ends with status 127. */
export async function tryRun({ argv, file, minutes = 1, signal }: Call) {
  try {
    return await runProgram({
      argv,
      ...(file === undefined ? {} : { file }),
      env: environment(),
      signal: signal ?? neverAborted(),
      deadline: minutes * 60_000,
      grace: 20_000, // a package manager finishes its current package
    })
  } catch (error) {
    if (!(error instanceof ProgramMissing)) throw error
    return { status: 127, lines: [error.message] }
  }
}

/** If the status isn't 0, shows the last lines of output and throws a Failure with the decisive one. */
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

/** In milliseconds. Moving a server's data may take days. */
const longest = 14 * 24 * 3600 * 1000

/** Starts a program whose input and output the caller streams. */
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

export const hasProgram = (name: string) => Bun.which(name, { PATH: environment().PATH }) !== null
