import { listDomains } from '../addresses/store.ts'
import { AppError, invalidField } from '../platform/errors.ts'
import { openComponents, volumesIn } from '../runtime/component.ts'
import { refuseElsewhere } from '../runtime/pins.ts'
import { getLiveRelease } from '../runtime/store.ts'
import { camelCase } from '../web/body.ts'
import type { User } from '../web/factory.ts'
import type { Stack } from './compose/model.ts'
import { readEnvFile } from './compose/env-file.ts'
import { dotenv } from './compose/template.ts'
import { grantsOf, mountedStack, refuseLapsed, versionedStack } from './definition.ts'
import type { Definition } from './definition.ts'
import { differenceOf } from './difference.ts'
import { refuseFirstStart } from './first-start.ts'
import type { serviceUpdateForm } from './forms.ts'
import { allowedBy, chosenVersion, define } from './make.ts'
import { volumeNames } from './outline.ts'
import { ownFile } from './own-file.ts'
import { oneServer, whyUnreached } from './placement.ts'
import { refuseUnled, whyNoTarget } from './ports.ts'
import type { ServiceDeps } from './state.ts'
import type { Service } from './store.ts'
import { definitionOf, readFile } from './stored-definition.ts'

type Input = (typeof serviceUpdateForm)['_output']

export type Edit = Awaited<ReturnType<typeof editOf>>

/** Builds the new definition. Throws for everything that can be refused before the start. */
export async function editOf(
  deps: ServiceDeps,
  { service, user, input, isForm }: { service: Service; user: User; input: Input; isForm: boolean },
) {
  const before = await definitionOf(deps, service)
  const base = await rebased(before, { ...input, isForm })
  const { file } = base
  const asked = {
    ...base,
    name: input.name ?? before.name,
    version: input.version === undefined ? before.version : chosenVersion(file, input.version),
    domains: input.domains === undefined ? before.domains : (input.domains ?? []),
    placement: input.placement === undefined ? before.placement : oneServer(deps, input.placement),
    ...(input.allowed !== undefined && allowedBy(user, input.allowed ?? [])),
  }
  const after = define(deps, asked, isForm ? withoutEmptySecrets(input, base) : input)
  // Allowing something again, by another admin, is a change too.
  const granted = input.allowed === undefined ? before.allowed : grantsOf(deps, before)
  const changes = differenceOf({ ...before, allowed: granted }, after, deps.serverList.list())
  refuseFirstStart(deps, service, { before, file: after.file, changes })
  const stack = mountedStack(deps, after)
  const changed = new Set(changes.map(({ field }) => field))
  /** True when its containers are recreated. */
  const remakes = changed.difference(outside).size > 0
  if (remakes) refuseLapsed(deps, after)
  refuseLostTargets(deps, before, { after, stack })
  refuseUnled(after, before.domains)
  if (user.role !== 'admin' && changed.difference(harmless).size > 0) refuseOtherFile(stack)
  /** Names on the engine. The volumes and their data stay. */
  const volumes = volumesAfter(deps, { before, stack })
  if (changed.has('placement') && volumes.length > 0)
    refuseElsewhere(deps.serverList, { id: after.id, kind: 'service' }, after.placement)
  return { before, after, changes, remakes, volumes }
}

function volumesAfter(deps: ServiceDeps, { before, stack }: { before: Definition; stack: Stack }) {
  const { id } = before
  const live = openComponents(deps.secrets, getLiveRelease(deps.db, id)) ?? []
  const ofFile = volumeNames(mountedStack(deps, before), id)
  const earlier = volumesIn(live).filter((name) => !ofFile.includes(name))
  return [...new Set([...volumeNames(stack, id), ...earlier])]
}

/** Throws `invalid` when a domain's target would no longer exist after the change. */
function refuseLostTargets(
  deps: ServiceDeps,
  before: Definition,
  { after, stack }: { after: Definition; stack: Stack },
) {
  const kept = listDomains(deps.db, { serviceId: after.id }).filter(
    ({ host, redirectTo }) => redirectTo === null && after.domains.includes(host),
  )
  if (kept.length === 0) return
  const stackBefore = versionedStack(deps, before)
  for (const { host, path, component, port } of kept) {
    const target = component !== null && port !== null ? { component, port } : null
    const leads = (stack: Stack, definition: Definition) =>
      target === null
        ? definition.ports.some(({ protocol }) => protocol === 'tcp')
        : whyNoTarget(stack, target) === null && whyUnreached(definition, target) === null
    if (leads(stack, after) || !leads(stackBefore, before)) continue
    const name = path === '/' ? host : host + path
    const lacks = target ? `has no ${target.component}:${target.port}` : 'publishes no TCP port'
    const why = target && whyNoTarget(stack, target) === null && whyUnreached(after, target)
    if (why) throw invalidField('placement', `${why} ${name} points to it.`)
    throw invalidField(
      'compose',
      `${lacks}, but ${name} points to it. Change the target of that domain first, or delete it.`,
    )
  }
}

/** These fields don't affect containers. */
const outside = new Set(['name', 'domains'])

/** With these fields changed, the same code does the same. */
const harmless = new Set([...outside, 'hostPort'])

/** An admin's permission only covers the file, values and images of that time. */
function refuseOtherFile({ dangers }: Stack) {
  if (dangers.length === 0) return
  const all = dangers.map(({ message }) => message).join(' ')
  throw new AppError(
    'forbidden',
    `An admin allowed this service as it is: ${all} For another file, version or value an admin has to allow it again. Remove it from the file, or ask an admin.`,
  )
}

/** Applies another file and another `.env`, whose pairs take precedence over stored values. */
async function rebased(
  before: Definition,
  { compose, env, isForm }: Input & { isForm: boolean },
): Promise<Definition> {
  if ((compose ?? env) != null && before.template !== ownFile)
    throw invalidField(
      compose != null ? 'compose' : 'env',
      'comes from the template and can’t be changed. Create a service from your own file instead.',
    )
  if (before.template !== ownFile) return before
  const values = new Map(before.values)
  if (env !== undefined) {
    const pairs = readEnvFile(env ?? '', { lookup: () => 'any' })
    const left = isForm ? [] : namesGiven(before) // a form sends what its fields show, and an empty secret stays
    for (const name of [...pairs.keys(), ...left]) values.delete(name)
    if (env === null) values.delete(dotenv)
    else values.set(dotenv, env)
  }
  const base = { ...before, compose: compose ?? before.compose, values }
  return { ...base, file: await readFile(base) }
}

/** Those whose value is a line's of the `.env`: without it they have none. What is generated without one stays. */
function namesGiven({ values, file }: Definition) {
  const text = values.get(dotenv) ?? ''
  const pairs = readEnvFile(text, { lookup: (name) => values.get(name) })
  const lines = readEnvFile(text, { lookup: () => undefined }) // without names alone, which take a field's
  return [...lines.keys()].filter(
    (name) => values.get(name) === pairs.get(name) && !file.variables.get(name)?.generate,
  )
}

/** The form doesn't show secrets, so an empty field keeps the value. */
function withoutEmptySecrets(input: Input, { file }: Definition): Input {
  const kept = { ...input }
  for (const { name, secret } of file.variables.values())
    for (const field of [name, camelCase(name)]) if (secret && !kept[field]) delete kept[field]
  return kept
}
