import { createWriteStream, openSync, rmSync } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { askLine, isTerminal } from '../cli/ask.ts'
import { UsageError, print, readMany } from '../cli/command.ts'
import type { Command } from '../cli/command.ts'
import { AppError } from '../platform/errors.ts'
import { Server } from './call.ts'
import { follow } from './follow.ts'
import { interruption } from './interruption.ts'
import { lastLines } from './logs.ts'
import { answer, note, printJsonLine, printLine, table } from './say.ts'
import { loginFor } from './servers.ts'
import { findApp, targetOptions, targetUsage } from './target.ts'
import type { Backup } from './types.ts'

const usage = `davit backups [list | create [SERVICE] | prove ID | restore ID [--new] [--name NAME] [--on SERVER] [--database NAME] [--no-backup] [--yes] | download ID [FILE] [--output FILE] | cancel ID] [--detach] ${targetUsage}`

const options = {
  ...targetOptions,
  new: { type: 'boolean' },
  name: { type: 'string' },
  database: { type: 'string' },
  'no-backup': { type: 'boolean' },
  on: { type: 'string' },
  yes: { type: 'boolean' },
  output: { type: 'string' },
  detach: { type: 'boolean' },
} as const

type Values = ReturnType<typeof readMany<typeof options>>['values']

/**
 * The numbers of words of each, and its options beside --server and --json. What is ignored could restore over another
 * environment than meant.
 */
const verbs: Record<string, { words: number[]; takes: string[] }> = {
  list: { words: [0, 1], takes: [] },
  create: { words: [1, 2], takes: ['detach'] },
  prove: { words: [2], takes: ['detach'] },
  restore: {
    words: [2],
    takes: ['new', 'name', 'database', 'no-backup', 'on', 'yes', 'detach'],
  },
  download: { words: [2, 3], takes: ['output'] },
  cancel: { words: [2], takes: [] },
}

function refuseIgnored(values: Values, { verb, id }: { verb: string; id: string | undefined }) {
  const ofFolder = verb === 'create' && id === undefined ? ['project', 'env'] : []
  const known = ['server', 'json', ...ofFolder, ...verbs[verb]!.takes]
  const ignored = Object.keys(values).find((name) => !known.includes(name))
  if (ignored === undefined) return
  const what = id === undefined ? verb : `${verb} ${id}`
  throw new UsageError(`--${ignored} isn’t for davit backups ${what}.`)
}

export const backups: Command = async (args, env) => {
  const { values, words } = readMany(args, { usage, options })
  const [verb = 'list', id, file] = words
  if (!Object.hasOwn(verbs, verb) || !verbs[verb]!.words.includes(words.length))
    throw new UsageError(`usage: ${usage}`)
  refuseIgnored(values, { verb, id })
  if (verb === 'create' && id === undefined) {
    const { server, environment } = await findApp(values, env)
    return begin(server, values, `/envs/${environment.id}/backups`)
  }
  const server = new Server(await loginFor(values, env))
  if (verb === 'list') return list(server, values)
  if (verb === 'create')
    return begin(server, values, `/services/${await serviceIn(server, id!)}/backups`)
  const path = `/backups/${encodeURIComponent(id!)}`
  if (verb === 'download') return download(server, `${path}/download`, { file, ...values })
  if (verb === 'cancel') return shown(await server.post<Backup>(`${path}/cancel`), values)
  const body = verb === 'restore' ? await restoreBody(server, path, values) : {}
  return begin(server, values, `${path}/${verb}`, body)
}

async function list(server: Server, { json }: Values) {
  const items = await server.list<Backup>('/backups')
  if (json || items.length > 0)
    return answer(json, { items }, ...table([heads, ...items.map(rowOf)]))
  note('There are no backups.')
  return 0
}

const heads = ['ID', 'OF', 'AT', 'STATE', 'PROVEN']

const rowOf = ({ id, subject, createdAt, status, proven }: Backup) => [
  ...[id, subject.name, createdAt, status],
  proven ? (proven.error === null ? proven.at : 'failed') : '',
]

async function serviceIn(server: Server, name: string) {
  type Services = { instances: { id: string; name: string }[] }
  const { instances } = await server.get<Services>('/services?limit=500')
  const found = instances.find((one) => one.name === name || one.id === name)
  if (found) return found.id
  const names = instances.map((one) => one.name).join(', ') || 'none'
  throw new AppError('not_found', `${server.url} has no service ${name}. There are: ${names}.`)
}

/** Asks before something is replaced. */
async function restoreBody(server: Server, path: string, values: Values) {
  const { new: isNew, name, on: place, database, yes } = values
  if (!isNew && !yes) {
    const { subject } = await server.get<Backup>(path)
    if (!isTerminal()) throw new UsageError(`this replaces the data of ${subject.name}: add --yes.`)
    const typed = await askLine(`Replace the data of ${subject.name}? Type its name: `)
    if (typed !== subject.name) throw new AppError('conflict', 'Nothing was restored.')
  }
  return {
    into: isNew ? 'new' : 'same',
    backupFirst: !values['no-backup'],
    ...(name !== undefined && { name }),
    ...(place !== undefined && { server: place }),
    ...(database !== undefined && { database }),
  }
}

/** Starts it and follows its log; the status is 0 when it ends well. */
async function begin(server: Server, values: Values, path: string, body = {}): Promise<number> {
  const ofBackup = /^\/backups\/[^/]+/.exec(path)?.[0]
  const before = ofBackup
    ? await lastLines(server, `${ofBackup}/logs`, { filter: [], limit: 1 })
    : []
  const started = await server.post<Backup>(path, body)
  if (values.detach) return shown(started, values)
  const at = `/backups/${started.id}`
  using interrupted = interruption()
  const { signal } = interrupted
  const after = before.at(-1)?.seq ?? 0
  try {
    for await (const line of follow(server, `${at}/logs?format=json`, { signal, after }))
      if (values.json) printJsonLine(line)
      else printLine(line, process.stderr)
  } catch (error) {
    if (!signal.aborted) throw error
    note(`It goes on. Cancel it: davit backups cancel ${started.id}`)
    return interrupted.status
  }
  const ended = await server.get<Backup>(at)
  const verb = ofBackup ? path.slice(ofBackup.length + 1) : 'create'
  if (values.json) printJsonLine(ended)
  else print(ended.id)
  return hasSucceeded(verb, ended) ? 0 : 1
}

function hasSucceeded(verb: string, { status, proven, restore, untested }: Backup) {
  if (verb === 'prove') return untested === null && proven?.error === null
  return (verb === 'restore' ? restore?.status : status) === 'succeeded'
}

/** To a file, or to standard output where that is none. A file that isn't whole is removed. */
async function download(
  server: Server,
  path: string,
  { file, output }: Values & { file: string | undefined },
) {
  if (output === undefined && process.stdout.isTTY)
    throw new UsageError('a backup can’t be shown on a terminal: name a file with --output.')
  using interrupted = interruption()
  const { signal } = interrupted
  const query = file === undefined ? '' : `?file=${encodeURIComponent(file)}`
  const to = output === undefined ? process.stdout : createFile(output)
  try {
    const { body } = await server.ask(`${path}${query}`, { signal })
    await pipeline(Readable.fromWeb(body as never), to, { signal })
    return 0
  } catch (error) {
    if (output !== undefined) rmSync(output, { force: true })
    if (signal.aborted) return interrupted.status
    if (error instanceof AppError) throw error
    const why = (error as Error).message
    throw new AppError('unavailable', `The download broke off: ${why}`, { cause: error })
  }
}

/** Before anything is asked for. */
function createFile(path: string) {
  try {
    return createWriteStream(path, { fd: openSync(path, 'wx', 0o600) })
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    const why = code === 'EEXIST' ? 'exists already' : `can’t be written (${code})`
    throw new UsageError(`the file ${path} ${why}. Name another with --output.`, { cause })
  }
}

const shown = (backup: Backup, { json }: Values) => answer(json, backup, backup.id)
