import { Failure } from '../../errors.ts'
import { urlOf } from '../../environments/json.ts'
import { labelFilter, labelsFor } from '../../projects/labels.ts'
import type { Run } from '../run.ts'
import type { Deployment } from '../store.ts'
import { choosePort, containerOptions, volumesOf } from './container.ts'
import { gate } from './gate.ts'
import { ensureNetwork } from './network.ts'

type Switch = {
  image: string
  /** What serves the environment until now. */
  previous: Deployment | null
  /** Told the id as soon as the container exists. */
  onContainer: (id: string) => void
}

/**
 * Puts a container of the image in the place of the one that serves. Where both would want the same
 * port or volume the old one stops first, and starts again at once if the new one does not pass the gate.
 */
export async function deploy(run: Run, { image, previous, onContainer }: Switch) {
  const { docker, environment, log, signal } = run
  const found = await docker.inspectImage(image, { signal })
  if (!found)
    throw new Failure(
      'image_missing',
      `Starting: the image ${image} is not on the engine any more.`,
      'Deploy the commit again, so that it is built anew.',
    )
  const port = choosePort(run, found)
  const network = await ensureNetwork(run)
  await makeRoom(run)
  const options = containerOptions(run, { image, port, network })
  const id = await docker.createContainer({ ...options, signal })
  onContainer(id)

  const stopFirst = port > 0 || environment.volumes.length > 0
  const quietFrom = stopFirst && previous ? await stop(run, previous) : null
  log(`Starting container ${options.name}`)
  try {
    await docker.startContainer(id, { signal })
    const { answeredAt } = await gate(run, { id, port, network, image: found })
    await docker.setRestartPolicy(id, { name: 'unless-stopped' }, { signal })
    const downtimeMs = quietFrom === null ? null : Math.round(answeredAt - quietFrom)
    if (downtimeMs !== null) log(`Nothing answered for ${seconds(downtimeMs)} while switching`)
    const url = port > 0 ? urlOf(environment, run.config) : null
    return { containerId: id, url, downtimeMs }
  } catch (error) {
    await docker.removeContainer(id, { force: true })
    if (previous && stopFirst) await startAgain(run, { previous, quietFrom })
    throw error
  }
}

/** What an interrupted try left goes; the volumes, which are for keeping, are made. */
async function makeRoom(run: Run) {
  const { docker, deployment, project, environment, instanceId, signal } = run
  if (deployment.attempt > 1) {
    const labels = labelFilter(instanceId, { deploymentId: deployment.id })
    for (const { id } of await docker.listContainers({ labels, all: true, signal }))
      await docker.removeContainer(id, { force: true, signal })
  }
  for (const { name } of volumesOf(run))
    await docker.createVolume({
      name,
      labels: labelsFor({
        instanceId,
        kind: 'app',
        ownerId: project.ownerId,
        projectId: project.id,
        environmentId: environment.id,
      }),
      signal,
    })
}

/** Stops what serves; returns the moment from which nothing answers. */
async function stop({ docker, log, signal }: Run, { containerId }: Deployment) {
  const since = performance.now()
  log('Stopping the previous container')
  if (containerId) await docker.stopContainer(containerId, { timeoutSeconds: 10, signal })
  return since
}

/** The undo of `stop`, also when the run was aborted: an app must not stay down. */
async function startAgain(
  { docker, log }: Run,
  { previous, quietFrom }: { previous: Deployment; quietFrom: number | null },
) {
  if (!previous.containerId || previous.status !== 'running') return
  await docker.startContainer(previous.containerId)
  const quiet =
    quietFrom === null ? '' : ` Nothing answered for ${seconds(performance.now() - quietFrom)}.`
  log(`The previous container serves again.${quiet}`)
}

const seconds = (milliseconds: number) => `${(milliseconds / 1000).toFixed(1)} s`
