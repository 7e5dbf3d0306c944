import type { Image } from '../docker/index.ts'
import { compatCapabilities } from '../docker/index.ts'
import { hasPort, portNamedBy, web, whyPortUnknown } from '../environments/processes.ts'
import type { onceNames } from '../environments/processes.ts'
import type { Environment } from '../environments/store.ts'
import type { OpenVariable } from '../environments/variable-store.ts'
import { Failure } from '../platform/errors.ts'
import { wordsOf } from '../platform/shell-words.ts'
import type { Places } from '../addresses/places.ts'
import type { Project } from '../projects/store.ts'
import type { Component } from '../runtime/component.ts'

/** The settings that determine an app's containers. */
export type App = {
  project: Pick<Project, 'name'>
  environment: Environment
  /** All variables of its containers. PORT is added if it isn't among them. */
  variables: Pick<OpenVariable, 'key' | 'value'>[]
  /** The services whose networks its containers join. */
  joins: string[]
  places: Pick<Places, 'publishAddress'>
  edge: { isOn: boolean }
}

/** True when the edge publishes its port, and not Docker. */
export const isBehindEdge = ({ environment, edge }: Pick<App, 'environment' | 'edge'>) =>
  edge.isOn && !environment.portSet

type Process = Environment['processes'][number]

/**
 * Returns the PORT variable, else the environment's port, else the image's first EXPOSE, else 3000; 0 without a
 * port, or without the process `web`.
 */
export function portOf(
  { environment, variables }: Pick<App, 'environment' | 'variables'>,
  image: Pick<Image, 'exposedPorts'>,
) {
  if (!hasPort(environment)) return 0
  const value = variables.find(({ key }) => key === 'PORT')?.value
  const why = whyPortUnknown(environment, value)
  if (why !== null)
    throw new Failure('port_unknown', `Start failed: ${why}`, 'Change it, then deploy again.')
  const named = value === undefined ? null : portNamedBy(value)
  return named ?? environment.port ?? image.exposedPorts[0] ?? 3000
}

/**
 * Everything but the image comes from the settings. `web` is published and probed on its port. The other
 * processes have no port, and only have to stay up.
 */
export const componentsOf = (
  app: App,
  of: { image: string; port: number; domain?: string | undefined },
): Component[] =>
  app.environment.processes.map((process) =>
    process.name === web
      ? componentOf(app, process, of)
      : componentOf(app, process, { image: of.image, port: 0 }),
  )

/**
 * A container that runs one command to its end. It has the app's variables, volumes, networks and limits, but
 * no ports and no health check.
 */
export function onceComponent(
  app: App,
  { name, image, command }: { name: (typeof onceNames)[number]; image: string; command: string[] },
): Component {
  const { init } = app.environment.processes.find((one) => one.name === web) ?? {}
  const process = { name, command, replicas: 1, memoryMb: null, cpus: null, init }
  const component = componentOf(app, process, { image, port: 0 })
  return { ...component, options: { ...component.options, restart: { name: 'no' } }, oneShot: true }
}

function componentOf(
  app: App,
  { name, command, replicas, memoryMb, cpus, stopSeconds, init }: Process,
  { image, port, domain }: { image: string; port: number; domain?: string | undefined },
): Component {
  const { project, environment, variables, joins, places } = app
  const { hostPort, healthPath, healthTimeout } = environment
  const host = environment.healthHost ?? domain
  const isWeb = name === web
  return {
    name,
    replicas,
    options: {
      name: containerName(project, environment, isWeb ? '' : `-${name}`),
      image,
      ...(command && { command: wordsOf(command) }),
      env: {
        ...(port > 0 && { PORT: String(port) }),
        ...Object.fromEntries(variables.map(({ key, value }) => [key, value])),
      },
      networkAliases: isWeb ? [environment.name] : [],
      ports:
        port > 0 && !isBehindEdge(app)
          ? [{ container: port, host: hostPort, address: places.publishAddress }]
          : [],
      memoryBytes: (memoryMb ?? environment.memoryMb) * 1024 * 1024,
      cpus: cpus ?? environment.cpus,
      pidsLimit: 256,
      capabilities: compatCapabilities,
      volumes: volumesOf(environment),
      restart: { name: 'unless-stopped' },
      ...(init !== undefined && { init }),
      stopTimeout: stopSeconds ?? 10,
      logs: { maxSize: '10m', maxFiles: 3 },
      oomScoreAdj: 500,
      // The image's health check is meant for its default command.
      ...(command && !isWeb && { healthCheck: { disabled: true } }),
    },
    joins,
    files: [],
    waits: [],
    oneShot: false,
    gate: {
      kind: 'probe',
      port,
      path: isWeb ? healthPath : null,
      ...(isWeb && host && { host }),
      timeout: healthTimeout * 1000,
    },
  }
}

/** Readable in `docker ps`. The end, which makes it unique, is never cut. */
function containerName(
  project: Pick<Project, 'name'>,
  environment: Pick<Environment, 'name'>,
  end: string,
) {
  const slug = project.name.toLowerCase().replace(/[^a-z0-9]+/g, '-')
  return `davit-${slug}-${environment.name}`.replace(/-+/g, '-').slice(0, 40) + end
}

/** Volumes belong to the environment, so their names on the engine differ from those in the form. */
const volumesOf = ({ id, volumes }: Environment) =>
  volumes.map((entry) => {
    const at = entry.indexOf(':')
    return { name: `davit-${id}-${entry.slice(0, at)}`, path: entry.slice(at + 1) }
  })
