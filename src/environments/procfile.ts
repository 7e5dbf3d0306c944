import type { ProcfileEntry } from '../db/schema.ts'
import { isFromCode } from './code-settings.ts'
import { processes } from './process-form.ts'
import type { Environment } from './store.ts'
import { procfileLines } from '../platform/procfile.ts'
import type { ProcfileLine } from '../platform/procfile.ts'
import { joinWords, scriptOf } from '../platform/shell-words.ts'
import { command } from '../web/fields.ts'

export type Procfile = { entries: ProcfileEntry[]; note: string | null }

/**
 * Reads lines of the form `name: command`, at most one per name. An invalid line, or a command that can't be
 * run, is skipped and named in the note: a Procfile never fails a deployment.
 */
export function readProcfile(text: string): Procfile {
  const entries = new Map<string, ProcfileEntry>()
  const ignored: string[] = []
  for (const line of procfileLines(text)) {
    const entry = readLine(line)
    const problem =
      typeof entry === 'string'
        ? entry
        : entries.has(entry.name)
          ? `names ${entry.name} again`
          : entries.size === maxProcesses
            ? `is the ${maxProcesses + 1}th process`
            : null
    if (problem !== null) ignored.push(`line ${line.number} ${problem}`)
    else if (typeof entry !== 'string') entries.set(entry.name, entry)
  }
  return { entries: [...entries.values()], note: noteOf(ignored) }
}

const maxProcesses = 20
const mostNamed = 5

const releaseCommand = command()
const onlyProcess = processes()

function readLine({ name, command: given }: ProcfileLine): ProcfileEntry | string {
  if (!/^[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?$/.test(name)) return 'isn’t “name: command”'
  const asked = inShell(given)
  const canRun = [given, asked].every((command) =>
    name === 'release'
      ? releaseCommand.safeParse(command).success
      : onlyProcess.safeParse([{ name, command }]).success,
  )
  return canRun ? { name, command: asked } : 'can’t be run'
}

/** A Procfile's commands are shell lines, Davit's are lists of words. */
function inShell(line: string) {
  const script = scriptOf(line)
  return script === null ? line : `sh -c ${joinWords([script])}`
}

function noteOf(ignored: string[]) {
  if (ignored.length === 0) return null
  const named = ignored.slice(0, mostNamed)
  const rest = ignored.length - named.length
  const all = rest > 0 ? [...named, `${rest} more`] : named
  return `Skipped in the Procfile: ${all.join(', ')}.`
}

type Settings = Pick<Environment, 'processes' | 'releaseCommand' | 'procfile' | 'ownSettings'>

export type ProcfileOffer = Pick<Environment, 'processes' | 'releaseCommand'> & {
  names: string[]
  /** True when the environment lacks some of them. */
  isNew: boolean
}

/** Applies the Procfile: processes keep their limits, and others stay. Null when nothing would change. */
export function procfileOffer(settings: Settings): ProcfileOffer | null {
  const { procfile, releaseCommand } = settings
  if (!procfile || procfile.length === 0) return null
  if (['processes', 'releaseCommand'].some((name) => isFromCode(settings, name))) return null
  const release = procfile.find(({ name }) => name === 'release')
  const asked = procfile.filter((entry) => entry !== release)
  const given = new Map(asked.map(({ name, command }) => [name, command]))
  const before = new Set(settings.processes.map(({ name }) => name))
  const added = asked.filter(({ name }) => !before.has(name))
  const names = procfile.map(({ name }) => name)
  const taken = {
    processes: [
      ...settings.processes.map((kept) => ({
        ...kept,
        command: given.get(kept.name) ?? kept.command,
      })),
      ...added.map((entry) => ({ ...entry, replicas: 1, memoryMb: null, cpus: null })),
    ],
    releaseCommand: release?.command ?? releaseCommand,
  }
  if (Bun.deepEquals(taken, { processes: settings.processes, releaseCommand })) return null
  return {
    ...taken,
    names,
    isNew: added.length > 0 || (release !== undefined && releaseCommand === null),
  }
}
