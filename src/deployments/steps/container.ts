import type { Image } from '../../docker/index.ts'
import { compatCapabilities } from '../../docker/index.ts'
import type { Environment } from '../../environments/store.ts'
import type { Component } from '../../runtime/component.ts'
import type { Run } from '../run.ts'

/** The app's port: the environment's, else its PORT variable, else the image's first EXPOSE, else 3000. */
export function choosePort(
  { environment, variables }: Pick<Run, 'variables'> & { environment: Pick<Environment, 'port'> },
  image: Pick<Image, 'exposedPorts'>,
) {
  const variable = Number(variables.find(({ key }) => key === 'PORT')?.value)
  const named = Number.isInteger(variable) && variable > 0 && variable < 65_536 ? variable : null
  return environment.port ?? named ?? image.exposedPorts[0] ?? 3000
}

/** The app as the one component of its release: all but its image comes from the environment's settings. */
export function componentOf(
  { project, environment, variables, places }: Run,
  { image, port }: { image: string; port: number },
): Component {
  const { name, hostPort, memoryMb, cpus, healthPath, healthTimeout } = environment
  const slug = project.name.toLowerCase().replace(/[^a-z0-9]+/g, '-')
  return {
    name: 'web',
    options: {
      name: `davit-${slug}-${name}`.replace(/-+/g, '-').slice(0, 40),
      image,
      env: {
        ...Object.fromEntries(variables.map(({ key, value }) => [key, value])),
        ...(port > 0 && { PORT: String(port) }),
      },
      networkAliases: [name],
      ports: port > 0 ? [{ container: port, host: hostPort, address: places.publishAddress }] : [],
      memoryBytes: memoryMb * 1024 * 1024,
      cpus,
      pidsLimit: 256,
      capabilities: compatCapabilities,
      volumes: volumesOf(environment),
      restart: { name: 'unless-stopped' },
      init: true,
      stopTimeout: 10,
      logs: { maxSize: '10m', maxFiles: 3 },
      oomScoreAdj: 500,
    },
    files: [],
    waits: [],
    oneShot: false,
    gate: { kind: 'probe', port, path: healthPath, timeout: healthTimeout * 1000 },
  }
}

/** Volumes belong to the environment: the name in the form is not the name on the engine. */
const volumesOf = ({ id, volumes }: Environment) =>
  volumes.map((entry) => {
    const at = entry.indexOf(':')
    return { name: `davit-${id}-${entry.slice(0, at)}`, path: entry.slice(at + 1) }
  })
