import { z } from 'zod'
import type { Command, Process } from '../db/schema.ts'
import { accessProcess } from '../logs/log-line.tsx'
import { containerLimits, processLimits } from '../platform/limits.ts'
import { joinWords, wordsOf } from '../platform/shell-words.ts'
import { camelCase, snakeCase } from '../web/body.ts'
import { command, line } from '../web/fields.ts'
import { countReplicas, onceNames } from './processes.ts'

const { memoryMb, cpus, stopTimeout } = containerLimits
const { processes: most, replicas: maxReplicas, instances: mostInstances } = processLimits

const wholeNumber = (min: number, max: number) => {
  const rule = `must be a whole number from ${min} to ${max}.`
  return z.int(rule).min(min, rule).max(max, rule)
}

const cpusRule = `must be a number from 0.05 to ${cpus}.`

const settings = z.object(
  {
    name: line('lower-case letters, digits and hyphens, such as worker', { max: 40 })
      .regex(
        /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/,
        'must be lower-case letters, digits and hyphens, such as worker.',
      )
      .refine(
        (name) => !(onceNames as readonly string[]).includes(name),
        'is reserved for one-off commands, such as the release command. Choose another one.',
      )
      .refine(
        (name) => name !== accessProcess,
        'is reserved for request lines in the log. Choose another one.',
      ),
    command: command().nullish(),
    replicas: wholeNumber(1, maxReplicas).nullish(),
    memoryMb: wholeNumber(16, memoryMb).nullish(),
    cpus: z.number(cpusRule).min(0.05, cpusRule).max(cpus, cpusRule).nullish(),
    stopSeconds: wholeNumber(0, stopTimeout).nullish(),
    init: z.boolean('must be true or false.').nullish(),
  },
  {
    error: ({ code, keys }) =>
      code === 'unrecognized_keys'
        ? `has the unknown setting ${(keys as string[])[0]!.slice(0, 40)}.`
        : 'must be an object with a name.',
  },
)

type Settings = z.ZodObject<(typeof settings)['shape']>

const processOf = ({
  name,
  command,
  replicas,
  memoryMb,
  cpus,
  stopSeconds,
  init,
}: z.output<typeof settings>): Process => ({
  name,
  command: command ?? null,
  replicas: replicas ?? 1,
  memoryMb: memoryMb ?? null,
  cpus: cpus ?? null,
  ...(stopSeconds != null && { stopSeconds }),
  ...(init != null && { init }),
})

/** In a form there is one process per line, in the format of `processLines`. Unknown settings are ignored. */
export const processes = () => processList(settings)

/** Refuses unknown settings, as a file has no form that shows what was understood. */
export const strictProcesses = () => processList(settings.strict())

function processList(one: Settings) {
  const { $schema: _, ...sentAs } = z.toJSONSchema(z.array(one), { io: 'input' })
  return z
    .preprocess(
      (value) => (typeof value === 'string' ? readLines(value) : value),
      z
        .array(z.unknown(), 'must be a list of processes.')
        .min(1, 'must have at least one process.')
        .max(most, `can have at most ${most} entries.`),
    )
    .transform((entries, context): Process[] => {
      const checked = entries.map((entry, at) => checkOne(one, { entry, at, context }))
      return checked.every((one) => one !== null) ? checked : z.NEVER
    })
    .superRefine((all, { addIssue }) => {
      const refuse = (message: string) => addIssue({ code: 'custom', message })
      const names = all.map(({ name }) => name)
      const twice = names.find((name, at) => names.indexOf(name) < at)
      if (twice) refuse(`name ${twice} twice. Each process must have its own name.`)
      if (countReplicas({ processes: all }) > mostInstances)
        refuse(`can have at most ${mostInstances} replicas in total.`)
    })
    .meta({ sentAs })
}

/** The first error names the process. A file's checker finds its place by `inside`. */
function checkOne(
  one: Settings,
  { entry, at, context: { addIssue } }: { entry: unknown; at: number; context: z.RefinementCtx },
) {
  const refuse = (message: string, key: PropertyKey[] = []) => {
    addIssue({ code: 'custom', message, params: { inside: [at, ...key] } })
    return null
  }
  const unread = Object(entry)[unreadLine]
  if (unread)
    return refuse(
      `line ${unread} must be like “worker x2 256MiB 0.5CPU 30s no-init: npm run worker”.`,
    )
  const checked = one.safeParse(isObject(entry) ? underJsonNames(entry) : entry)
  if (checked.success) return processOf(checked.data)
  const [issue] = checked.error.issues
  const { path, message } = issue!
  const name = Object(entry).name
  const unknown = issue!.code === 'unrecognized_keys' ? issue!.keys.slice(0, 1) : []
  if (path[0] === undefined) return refuse(`have an entry that ${message}`, unknown)
  if (typeof name !== 'string' || name.trim() === '') return refuse('have an entry without a name.')
  const key = [snakeCase(String(path[0]))]
  return refuse(`have an entry ${name.slice(0, 40)} whose ${String(path[0])} ${message}`, key)
}

const isObject = (entry: unknown): entry is object =>
  typeof entry === 'object' && entry !== null && !Array.isArray(entry)

/** JSON uses `stop_seconds`. */
const underJsonNames = (entry: object) =>
  Object.fromEntries(Object.entries(entry).map(([name, value]) => [camelCase(name), value]))

/** Marks an invalid line, with its number. */
const unreadLine = Symbol('unread line')

/** A line only ends outside quotes. */
const lines = /(?:[^\\'"\n]|\\[^]|'[^']*'|"(?:[^"\\]|\\[^])*"|['"\\])+/g

const lineForm = /^\s*(?<name>[^\s:]+)(?<settings>(?:\s[^:]*)?):(?<command>[^]*)$/

/** One setting before the colon, after any other. */
const settingForm =
  /\s+(?:x(?<replicas>\d{1,9})|(?<memoryMb>\d{1,9})\s?Mi?B|(?<cpus>\d{1,9}(?:\.\d{1,6})?)\s?CPUs?|(?<stopSeconds>\d{1,9})\s?s|(?<init>(?:no-)?init))(?=\s|$)/giy

/** Null if one is unknown or written twice. */
function readSettings(text: string) {
  const found = [...text.matchAll(settingForm)]
  const given = found.flatMap(({ groups }) =>
    Object.entries(groups!).filter(([, value]) => value !== undefined),
  )
  const isWhole = found.reduce((length, [all]) => length + all.length, 0) === text.trimEnd().length
  const settings = Object.fromEntries(
    given.map(([key, value]) => [
      key,
      key === 'init' ? value.toLowerCase() === 'init' : Number(value),
    ]),
  )
  return isWhole && Object.keys(settings).length === given.length ? settings : null
}

function readLines(text: string) {
  let number = 1
  let counted = 0
  return [...text.matchAll(lines)].flatMap(({ 0: line, index }) => {
    number += text.slice(counted, index).split('\n').length - 1
    counted = index
    if (line.trim() === '') return []
    const { name, command, settings: typed = '' } = lineForm.exec(line)?.groups ?? {}
    const settings = readSettings(typed)
    if (command === undefined || !settings) return { [unreadLine]: number }
    return {
      name,
      command: command.trim() === '' ? null : command.trimStart(),
      ...settings,
    }
  })
}

/** Formats processes for a form, one per line: `worker x2 256MiB 0.5CPU 30s: npm run worker`. */
export const processLines = (all: Process[]) => all.map(lineOf).join('\n')

function lineOf({ name, command, replicas, memoryMb, cpus, stopSeconds, init }: Process) {
  const head = [
    name,
    replicas > 1 ? `x${replicas}` : [],
    memoryMb === null ? [] : `${memoryMb}MiB`,
    cpus === null ? [] : `${cpus}CPU`,
    stopSeconds === undefined ? [] : `${stopSeconds}s`,
    init === undefined ? [] : init ? 'init' : 'no-init',
  ]
  return `${head.flat().join(' ')}:${command === null ? '' : ` ${commandLine(command)}`}`
}

export const commandLine = (command: Command) =>
  typeof command === 'string' && !command.includes('\n') ? command : joinWords(wordsOf(command))
