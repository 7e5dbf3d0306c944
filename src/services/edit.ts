import type { Deps } from '../deps.ts'
import { invalidField } from '../errors.ts'
import type { User } from '../web/factory.ts'
import type { ServiceDeps } from './bring-up.ts'
import { dotenv } from './compose/template.ts'
import type { Template } from './compose/template.ts'
import { ownFile, pairsOf, templateOf, versionedStack } from './definition.ts'
import type { Definition } from './definition.ts'
import { differenceOf } from './difference.ts'
import type { Change } from './difference.ts'
import type { serviceUpdateForm } from './forms.ts'
import { allowedBy, chosenVersion, define } from './make.ts'
import { volumeNames } from './outline.ts'
import { definitionOf } from './start.ts'
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

/** What a user asks for, made into a definition. Throws for all that can be refused before the start. */
export function editOf(
  deps: ServiceDeps & Pick<Deps, 'docker'>,
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
      allowed: allowedFor(user, before, input),
    },
    input: isForm ? withoutEmptySecrets(input, template) : input,
    hostPort: input.hostPort ?? null,
  })
  const domains = input.domains === undefined ? service.domains : (input.domains ?? [])
  const changes = differenceOf(
    { definition: before, domains: service.domains, template: templateOf(before) },
    { definition: after, domains, template },
  )
  return {
    after,
    domains,
    changes,
    remakes: changes.some(({ field }) => field !== 'name' && field !== 'domains'),
    volumes: volumeNames(versionedStack(deps, after, template), service.id),
  }
}

/** With another file and another `.env`, whose pairs count over what was kept. */
function rebased(before: Definition, { compose, env }: Input): Definition {
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

function allowedFor(user: User, before: Definition, { allowed }: Input) {
  if (allowed === undefined) return before.allowed
  return allowedBy(user, allowed ?? [])
}

/** The form does not show what is secret: left empty, it stays. */
function withoutEmptySecrets(input: Input, { variables }: Template) {
  return Object.fromEntries(
    Object.entries(input).filter(
      ([name, value]) => !(variables.get(name)?.secret && (value === null || value === '')),
    ),
  )
}
