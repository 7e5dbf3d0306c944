import type { Db } from '../../db/index.ts'
import type { StackImage } from '../../db/schema.ts'
import { web } from '../../environments/processes.ts'
import type { Environment } from '../../environments/store.ts'
import type { OpenVariable } from '../../environments/variable-store.ts'
import { Failure } from '../../platform/errors.ts'
import type { Secrets } from '../../platform/secrets.ts'
import type { Project } from '../../projects/store.ts'
import type { Component } from '../../runtime/component.ts'
import { getStack } from '../../runtime/images/stack-store.ts'
import { keepVolumes } from '../../services/keep-volumes.ts'
import { componentsOf, onceComponent } from '../components.ts'
import type { App } from '../components.ts'
import { stackComponents } from './components.ts'
import { planAgain, webOf } from './plan.ts'
import type { StackPlan } from './plan.ts'

/** The Compose file of a deployment, with the images of its services. */
export type OpenStack = { plan: StackPlan; services: Record<string, StackImage> }

/** Null for an image that isn’t of a Compose file. */
export async function openStack(
  { db, secrets }: { db: Db; secrets: Secrets },
  {
    project,
    environment,
    image,
    variables,
    signal,
  }: {
    project: Project
    environment: Environment
    image: string
    variables: Pick<OpenVariable, 'key' | 'value'>[]
    signal: AbortSignal
  },
): Promise<OpenStack | null> {
  const stored = getStack(db, image)
  if (!stored) return null
  const { file, texts, services } = stored
  // the image is that of the service with the addresses, whatever the settings say today
  const service = Object.keys(services).find((name) => services[name]!.image === image) ?? null
  const values = Object.fromEntries(variables.map(({ key, value }) => [key, value]))
  const query = { file, values, service, limits: environment, owner: project.ownerId, signal }
  const plan = await planAgain(query, texts)
  webOf(plan)
  keepVolumes({ db, secrets }, { id: environment.id, services: plan.services })
  const unbuilt = [...plan.services.keys()].filter((name) => !Object.hasOwn(services, name))
  if (unbuilt.length > 0) throw withoutImage(file, unbuilt)
  return { plan, services }
}

/** Variables choose the profiles, and may differ from those of its build. */
const withoutImage = (file: string, names: string[]) =>
  new Failure(
    'compose_image_missing',
    `With today’s variables ${file} also runs ${names.join(', ')}, which this version has no image of.`,
    'Deploy it with a build, or set COMPOSE_PROFILES to what it was.',
  )

/** What the file itself sets for the service with the addresses. */
export const variablesIn = (stack: OpenStack | null) =>
  stack === null
    ? []
    : Array.from(stack.plan.services.get(stack.plan.web!)!.environment, ([key, value]) => ({
        key,
        value,
      }))

type Version = { image: string; port: number; domain?: string | undefined; stack: OpenStack | null }

export const appComponents = (app: App, { stack, ...version }: Version): Component[] =>
  stack === null
    ? componentsOf(app, version)
    : stackComponents(app, { ...version, plan: stack.plan, images: stack.services })

/** A container that runs one command to its end, as `onceComponent` for the service with the addresses. */
export function onceIn(
  app: App,
  { stack, ...of }: Parameters<typeof onceComponent>[1] & Pick<Version, 'stack'>,
): Component {
  const once = onceComponent(app, of)
  if (stack === null) return once
  const { plan, services: images } = stack
  const service = stackComponents(app, { plan, images, port: 0 }).find(({ name }) => name === web)!
  const { options } = service
  const { name, command } = once.options
  return {
    ...once,
    joins: service.joins,
    ownNames: service.ownNames!,
    files: service.files,
    options: {
      ...options,
      name,
      command: command!,
      ports: [],
      networkAliases: [],
      restart: { name: 'no' },
      healthCheck: { disabled: true },
    },
  }
}
