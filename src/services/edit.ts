import type { Docker } from '../docker/index.ts'
import { AppError, invalidField } from '../platform/errors.ts'
import type { User } from '../web/factory.ts'
import type { ServiceDeps } from './state.ts'
import type { Stack } from './compose/model.ts'
import { dotenv } from './compose/template.ts'
import type { Template } from './compose/template.ts'
import { grantsOf, readAhead, refuseLapsed, templateOf, versionedStack } from './definition.ts'
import type { Definition } from './definition.ts'
import { differenceOf } from './difference.ts'
import type { Change } from './difference.ts'
import type { serviceUpdateForm } from './forms.ts'
import { allowedBy, chosenVersion, define } from './make.ts'
import { volumeNames } from './outline.ts'
import { ownFile, pairsOf } from './own-file.ts'
import { definitionOf } from './bring-up.ts'
import type { Service } from './store.ts'

type Input = (typeof serviceUpdateForm)['_output']

/** A change as it would be made, and what it means. */
export type Edit = {
  after: Definition
  domains: string[]
  changes: Change[]
  /** Containers are made anew for it. */
  remakes: boolean
  /** On the engine; they stay, with what is in them. */
  volumes: string[]
}

/** Reads the files that `editOf` needs ahead. */
export async function readForEdit(
  deps: ServiceDeps,
  { service, input }: { service: Service; input: Pick<Input, 'compose' | 'env'> },
) {
  const before = definitionOf(deps, service)
  await readAhead(before)
  await readAhead(rebased(before, input))
}

/** What a user asks for, made into a definition. Throws for all that can be refused before the start. */
export function editOf(
  deps: ServiceDeps & { docker: Docker },
  { service, user, input, isForm }: { service: Service; user: User; input: Input; isForm: boolean },
): Edit {
  const before = definitionOf(deps, service)
  const base = rebased(before, input)
  const template = templateOf(base)
  const after = define(deps, {
    template,
    before: {
      ...base,
      name: input.name ?? before.name,
      version: versionOf(before, template, input),
      ...(input.allowed !== undefined && allowedBy(user, input.allowed ?? [])),
    },
    input: isForm ? withoutEmptySecrets(input, template) : input,
    hostPort: input.hostPort ?? null,
  })
  const domains = input.domains === undefined ? service.domains : (input.domains ?? [])
  // allowed again by another admin is a change, too
  const granted = input.allowed === undefined ? before.allowed : grantsOf(deps, before)
  const changes = differenceOf(
    {
      definition: { ...before, allowed: granted },
      domains: service.domains,
      template: templateOf(before),
    },
    { definition: after, domains, template },
  )
  const stack = versionedStack(deps, after, template)
  const changed = new Set(changes.map(({ field }) => field))
  const remakes = changed.difference(outside).size > 0
  if (remakes) refuseLapsed(deps, after)
  if (user.role !== 'admin' && changed.difference(harmless).size > 0) refuseOtherFile(stack)
  return { after, domains, changes, remakes, volumes: volumeNames(stack, service.id) }
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
function rebased(before: Definition, { compose, env }: Pick<Input, 'compose' | 'env'>): Definition {
  if ((compose ?? env) != null && before.template !== ownFile)
    throw invalidField(
      compose != null ? 'compose' : 'env',
      'is that of the template, and stays. Make a service of a file of your own instead.',
    )
  const values = new Map(before.values)
  if (env !== undefined && before.template === ownFile) {
    for (const name of pairsOf(env ?? '').keys()) values.delete(name)
    if (env === null) values.delete(dotenv)
    else values.set(dotenv, env)
  }
  return { ...before, compose: compose ?? before.compose, values }
}

function versionOf(before: Definition, template: Template, { version }: Input) {
  if (version === undefined) return before.version
  return chosenVersion(template, version)
}

/** The form does not show what is secret: left empty, it stays. */
function withoutEmptySecrets(input: Input, { variables }: Template) {
  return Object.fromEntries(
    Object.entries(input).filter(
      ([name, value]) => !(variables.get(name)?.secret && (value === null || value === '')),
    ),
  )
}
