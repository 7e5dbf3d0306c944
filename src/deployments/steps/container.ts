import type { ContainerOptions, Image } from '../../docker/index.ts'
import { compatCapabilities } from '../../docker/index.ts'
import type { Environment } from '../../environments/store.ts'
import { labelsFor } from '../../docker/labels.ts'
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

/** How the app's container is to be: everything but its image comes from the environment's settings. */
export function containerOptions(
  run: Run,
  { image, port, network }: { image: string; port: number; network: string },
): ContainerOptions {
  const { project, environment, deployment, places } = run
  return {
    name: containerName(run),
    image,
    env: {
      ...Object.fromEntries(run.variables.map(({ key, value }) => [key, value])),
      ...(port > 0 && { PORT: String(port) }),
    },
    labels: labelsFor({
      instanceId: run.instanceId,
      kind: 'app',
      ownerId: project.ownerId,
      projectId: project.id,
      environmentId: environment.id,
      deploymentId: deployment.id,
    }),
    network,
    networkAliases: [environment.name],
    ports:
      port > 0
        ? [{ container: port, host: environment.hostPort, address: places.publishAddress }]
        : [],
    memoryBytes: environment.memoryMb * 1024 * 1024,
    cpus: environment.cpus,
    pidsLimit: 256,
    capabilities: compatCapabilities,
    volumes: volumesOf(run),
    // a crash must end the gate, not be hidden by a restart; the policy follows once it is through
    restart: { name: 'no' },
    init: true,
    stopTimeout: 10,
    logs: { maxSize: '10m', maxFiles: 3 },
    oomScoreAdj: 500,
  }
}

/** Volumes belong to the environment: the name in the form is not the name on the engine. */
export const volumesOf = ({ environment }: Pick<Run, 'environment'>) =>
  environment.volumes.map((entry) => {
    const at = entry.indexOf(':')
    return { name: `davit-${environment.id}-${entry.slice(0, at)}`, path: entry.slice(at + 1) }
  })

/**
 * Readable in `docker ps`, and one for each try of a deployment: what the engine was still making
 * when Davit was killed may have the name of the one before.
 */
function containerName({ project, environment, deployment, attempt }: Run) {
  const slug = project.name.toLowerCase().replace(/[^a-z0-9]+/g, '-')
  const readable = `davit-${slug}-${environment.name}`.replace(/-+/g, '-').slice(0, 40)
  const again = attempt > 1 ? `-${attempt}` : ''
  return `${readable}-${deployment.id.slice(-12)}${again}`
}
