import { AppError, invalidField } from '../platform/errors.ts'
import { camelCase } from '../web/body.ts'
import type { User } from '../web/factory.ts'
import type { Stack } from './compose/model.ts'
import { dotenv } from './compose/template.ts'
import { grantsOf, refuseLapsed, versionedStack } from './definition.ts'
import type { Definition } from './definition.ts'
import { differenceOf } from './difference.ts'
import type { Change } from './difference.ts'
import type { serviceUpdateForm } from './forms.ts'
import { allowedBy, chosenVersion, define } from './make.ts'
import { volumeNames } from './outline.ts'
import { ownFile, pairsOf } from './own-file.ts'
import type { ServiceDeps } from './state.ts'
import type { Service } from './store.ts'
import { definitionOf, readFile } from './stored-definition.ts'

type Input = (typeof serviceUpdateForm)['_output']

/** A change as it would be made, and what it means. */
export type Edit = {
  before: Definition
  after: Definition
  changes: Change[]
  /** Its containers are created again. */
  remakes: boolean
  /** On the engine; they stay, with what is in them. */
  volumes: string[]
}

/** What a user asks for, made into a definition. Throws for all that can be refused before the start. */
export async function editOf(
  deps: ServiceDeps,
  { service, user, input, isForm }: { service: Service; user: User; input: Input; isForm: boolean },
): Promise<Edit> {
  const before = await definitionOf(deps, service)
  const base = await rebased(before, input)
  const { file } = base
  const asked = {
    ...base,
    name: input.name ?? before.name,
    version: input.version === undefined ? before.version : chosenVersion(file, input.version),
    domains: input.domains === undefined ? before.domains : (input.domains ?? []),
    ...(input.allowed !== undefined && allowedBy(user, input.allowed ?? [])),
  }
  const after = define(deps, asked, isForm ? withoutEmptySecrets(input, base) : input)
  // allowed again by another admin is a change, too
  const granted = input.allowed === undefined ? before.allowed : grantsOf(deps, before)
  const changes = differenceOf({ ...before, allowed: granted }, after)
  const stack = versionedStack(deps, after)
  const changed = new Set(changes.map(({ field }) => field))
  const remakes = changed.difference(outside).size > 0
  if (remakes) refuseLapsed(deps, after)
  if (user.role !== 'admin' && changed.difference(harmless).size > 0) refuseOtherFile(stack)
  return { before, after, changes, remakes, volumes: volumeNames(stack, service.id) }
}

/** Fields that no container is made of. */
const outside = new Set(['name', 'domains'])

/** Fields with which nothing is done by other code than before. */
const harmless = new Set([...outside, 'hostPort'])

/** What an admin allowed is for the file, its values and its images as they were then. */
function refuseOtherFile({ dangers }: Stack) {
  if (dangers.length === 0) return
  const all = dangers.map(({ message }) => message).join(' ')
  throw new AppError(
    'forbidden',
    `An admin allowed this service as it is: ${all} Another file, version or value needs an admin again. Remove that from the file, or ask one of them.`,
  )
}

/** With another file and another `.env`, whose pairs count over what was kept. */
async function rebased(before: Definition, { compose, env }: Input): Promise<Definition> {
  if ((compose ?? env) != null && before.template !== ownFile)
    throw invalidField(
      compose != null ? 'compose' : 'env',
      'is that of the template, and stays. Make a service of a file of your own instead.',
    )
  if (before.template !== ownFile) return before
  const values = new Map(before.values)
  if (env !== undefined) {
    for (const name of pairsOf(env ?? '').keys()) values.delete(name)
    if (env === null) values.delete(dotenv)
    else values.set(dotenv, env)
  }
  const base = { ...before, compose: compose ?? before.compose, values }
  return { ...base, file: await readFile(base) }
}

/** The form does not show what is secret: left empty, it stays. */
function withoutEmptySecrets(input: Input, { file }: Definition): Input {
  const kept = { ...input }
  for (const { name, secret } of file.variables.values())
    for (const field of [name, camelCase(name)]) if (secret && !kept[field]) delete kept[field]
  return kept
}
