import { askHidden, isTerminal, readGiven } from '../cli/ask.ts'
import { UsageError, readMany } from '../cli/command.ts'
import type { Command } from '../cli/command.ts'
import { AppError } from '../platform/errors.ts'
import type { Server } from './call.ts'
import { answer, note, table } from './say.ts'
import { looksSecret } from '../logs/secret-names.ts'
import { findApp, targetOptions, targetUsage } from './target.ts'
import type { AppEnvironment, Variable } from './types.ts'

const usage = `davit env [list | set NAME[=VALUE]… [--secret | --plain] [--build] | set --file FILE | unset NAME…] ${targetUsage}`

export const env: Command = async (args, environment) => {
  const {
    values,
    words: [verb = 'list', ...names],
  } = readMany(args, {
    usage,
    options: {
      ...targetOptions,
      secret: { type: 'boolean' },
      plain: { type: 'boolean' },
      build: { type: 'boolean' },
      file: { type: 'string' },
    },
  })
  const isSet = verb === 'set'
  const isWrong =
    !['list', 'set', 'unset'].includes(verb) ||
    (verb === 'list' && names.length > 0) ||
    (verb === 'unset' && names.length === 0) ||
    (isSet && (values.file === undefined) === (names.length === 0)) ||
    (values.secret && values.plain) ||
    (!isSet && (values.secret || values.plain || values.build || values.file !== undefined))
  if (isWrong) throw new UsageError(`usage: ${usage}`)
  const app = await findApp(values, environment)
  if (verb === 'list') return list(app, values.json)
  const changed = isSet
    ? values.file === undefined
      ? await set(app, names, values)
      : await setFile(app, values.file, values)
    : await unset(app, names)
  const done = `${changed.map(({ key }) => key).join(', ')} ${isSet ? 'set' : 'removed'}`
  const said = `${done} in ${app.environment.name}, from its next deployment on.`
  return answer(values.json, { items: changed }, said)
}

type App = { server: Server; environment: AppEnvironment }

const pathOf = ({ environment }: App) => `/envs/${environment.id}/variables`

async function list(app: App, json: boolean | undefined) {
  const all = await app.server.list<Variable>(pathOf(app))
  const items = all.sort((a, b) => (a.key < b.key ? -1 : 1))
  const rows = items.map(({ key, value, secret }) => [key, secret ? '(secret)' : value!])
  if (json || rows.length > 0) return answer(json, { items }, ...table(rows))
  note(`${app.environment.name} has no variables.`)
  return 0
}

type Marks = Partial<Record<'secret' | 'plain' | 'build', boolean | undefined>>

async function set(app: App, named: string[], marks: Marks) {
  const given = named.map((text) => {
    const at = text.indexOf('=')
    return at === -1
      ? { key: text, value: null }
      : { key: text.slice(0, at), value: text.slice(at + 1) }
  })
  if (given.filter(({ value }) => value === null).length > 1 && !isTerminal())
    throw new UsageError('only one value can be piped in. Set them one by one, or with --file.')
  const before = await app.server.list<Variable>(pathOf(app))
  const items: Variable[] = []
  for (const { key, value } of given)
    items.push(await setOne(app, before, { key, value: value ?? (await readValue(key)), ...marks }))
  return items
}

/** Of a person it isn't shown, as it may be secret. */
async function readValue(key: string) {
  if (isTerminal()) return askHidden(`${key} (hidden): `)
  const text = readGiven(0).replace(/\r?\n$/, '')
  if (text !== '') return text
  throw new UsageError(`nothing was piped in for ${key}. For an empty value: ${key}=`)
}

function setOne(
  app: App,
  before: Variable[],
  { key, value, secret, plain, build }: Marks & { key: string; value: string },
) {
  const known = before.find((variable) => variable.key === key)
  const isSecret = secret || (plain ? false : known ? undefined : isNamedSecret(key))
  const marks = {
    ...(isSecret !== undefined && { secret: isSecret }),
    ...(build && { buildTime: build }),
  }
  if (!known) return app.server.post<Variable>(pathOf(app), { key, value, ...marks })
  // the API keeps the value of a secret that is sent empty
  if (known.secret && value === '')
    throw new AppError(
      'invalid',
      `${key} is secret, and can’t be made empty. Remove it: davit env unset ${key}`,
    )
  const path = `${pathOf(app)}/${known.id}`
  return app.server.json<Variable>(path, { method: 'PUT', body: { value, ...marks } })
}

function isNamedSecret(key: string) {
  const isSecret = looksSecret(key)
  if (isSecret) note(`${key} is stored as a secret, because of its name. Otherwise: --plain`)
  return isSecret
}

async function setFile(app: App, file: string, { secret, plain, build }: Marks) {
  if (build) throw new UsageError('--build is for variables that are named, not for a file.')
  if (!secret && !plain)
    throw new UsageError('say whether all variables of the file are secret: --secret or --plain.')
  const body = { dotenv: readGiven(file === '-' ? 0 : file), secret: secret === true }
  const { items } = await app.server.post<{ items: Variable[] }>(pathOf(app), body)
  return items
}

async function unset(app: App, names: string[]) {
  const before = await app.server.list<Variable>(pathOf(app))
  const found = names.map((name) => {
    const variable = before.find(({ key }) => key === name)
    if (variable) return variable
    throw new AppError('not_found', `${app.environment.name} has no variable ${name}.`)
  })
  for (const { id } of found) await app.server.json(`${pathOf(app)}/${id}`, { method: 'DELETE' })
  return found
}
