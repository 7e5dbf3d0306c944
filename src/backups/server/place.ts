import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Config } from '../../config.ts'
import { asCaller } from '../../platform/effective-user.ts'
import { Failure } from '../../platform/errors.ts'
import { targetForm } from '../targets/form.ts'
import type { TargetInput } from '../targets/form.ts'

/** A repository as it is named on a command line: restic's own names, and URLs. Secrets are never in it. */
const forms: [kind: string, RegExp][] = [
  [
    's3',
    /^s3:(?:\/\/)?(?<endpoint>(?:https?:\/\/)?[^/]+)\/(?<bucket>[^/]+)(?:\/(?<path>.+?))?\/?$/,
  ],
  ['sftp', /^sftp:\/\/(?<user>[^@/]+)@(?<host>[^/]+)\/(?<path>.+?)\/?$/],
  ['sftp', /^sftp:(?<user>[^@/]+)@(?<host>[^/:]+):(?<path>.+?)\/?$/],
  ['rest', /^rest:(?<url>https?:\/\/.+)$/],
  ['directory', /^(?<path>\/.+?)\/?$/],
]

/** True for an argument that isn’t a file that `davit backup` wrote. */
export const isRepository = (text: string) =>
  /^(s3|sftp|rest):/.test(text) ||
  asCaller(() => statSync(text, { throwIfNoEntry: false })?.isDirectory() ?? false)

/** What only the one who restores knows, by its field. */
export type Login = Partial<
  Record<'accessKey' | 'secretKey' | 'region' | 'key' | 'user' | 'userPassword', string | undefined>
>

/** The fields of a target, checked as its form does. Throws a Failure that names what is wrong. */
export function placeOf(config: Config, given: string, login: Login): TargetInput {
  const text = /^\w+:/.test(given) ? given : resolve(given)
  const [kind, form] = forms.find(([, form]) => form.test(text)) ?? [null, null]
  if (!form) throw notNamed(text)
  const found: Record<string, string> = { ...form.exec(text)!.groups }
  if (kind === 's3' && !/^https?:/.test(found.endpoint!))
    found.endpoint = `https://${found.endpoint}`
  const { success, data, error } = targetForm(config).safeParse({
    ...{ kind, name: 'repository' },
    ...defined(found),
    ...defined(login),
  })
  if (success) return data
  const { path, message } = error.issues[0]!
  const field = String(path[0])
  throw new Failure(
    'repository_invalid',
    `The repository can’t be used: its ${names[field] ?? field} ${message.replace(/\.$/, '')}.`,
    'Correct it and run the command again.',
  )
}

const names: Record<string, string> = {
  accessKey: 'access key (AWS_ACCESS_KEY_ID)',
  secretKey: 'secret key (AWS_SECRET_ACCESS_KEY)',
  region: 'region (AWS_DEFAULT_REGION)',
  key: 'private key (--identity)',
  user: 'user (RESTIC_REST_USERNAME)',
  userPassword: 'password (RESTIC_REST_PASSWORD)',
  path: 'directory',
  endpoint: 'server',
  url: 'URL',
}

const defined = (values: Record<string, string | undefined>) =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value))

const notNamed = (text: string) =>
  new Failure(
    'repository_invalid',
    `${text} isn’t the name of a repository.`,
    'Name it as s3://server/bucket/directory, sftp:user@host:directory, rest:https://host/ or /directory.',
  )
