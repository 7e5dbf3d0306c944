import { urlOf } from '../../environments/json.ts'
import { Failure } from '../../platform/errors.ts'
import { report } from '../../platform/journal.ts'
import { labelsFor } from '../../docker/labels.ts'
import { stopAndRemove } from '../../runtime/stop-and-remove.ts'
import type { Run } from '../run.ts'
import type { Deployment } from '../store.ts'
import { isEngineAway, retryWhileEngineDown } from '../../docker/retry-while-engine-down.ts'
import { choosePort, containerOptions, volumesOf } from './container.ts'
import { gate } from './gate.ts'
import { ensureProjectNetwork } from './network.ts'

/** What a switch came to. */
export type Outcome = Pick<Deployment, 'url' | 'downtimeMs'>

/**
 * Puts a container of the image in the place of the one that serves. Where both would use the same
 * port or volume the old one stops first. Until `commit` has stored the outcome all is undone when
 * something fails, and the old one serves again; afterwards nothing is. Docker's answers to what
 * creates, starts and stops are waited for even when the run is aborted: a call broken off half-way
 * could still take effect, unseen.
 */
export async function deploy(
  run: Run,
  {
    image,
    previous,
    commit,
  }: {
    image: string
    previous: Deployment | null
    commit: (outcome: Outcome) => Promise<void>
  },
) {
  const { docker, environment, log, save, signal } = run
  const [found, network] = await Promise.all([
    findImage(run, image),
    ensureProjectNetwork(run),
    ensureVolumes(run),
  ])
  const port = choosePort(run, found)
  const options = containerOptions(run, { image, port, network })
  signal.throwIfAborted()
  const id = await docker.createContainer(options)
  save({ containerId: id })

  const stopFirst = port > 0 || environment.volumes.length > 0
  const old = stopFirst && previous?.status === 'running' ? previous.containerId : null
  const quietFrom = performance.now()
  try {
    if (old) await stop(run, old)
    signal.throwIfAborted()
    log(`Starting container ${options.name}`)
    if (port > 0 && run.places.note) log(run.places.note)
    await docker.startContainer(id)
    const { answeredAt } = await gate(run, { id, port, network })
    await docker.setRestartPolicy(id, { name: 'unless-stopped' })
    signal.throwIfAborted()
    await commit({
      url: port > 0 ? urlOf(environment, run.places) : null,
      downtimeMs: old ? tellDowntime(run, answeredAt - quietFrom) : null,
    })
  } catch (error) {
    await revertSwitch(run, { id, old })
    if (old) saveDowntime(run, tellDowntime(run, performance.now() - quietFrom))
    throw error
  }
}

async function findImage({ docker, signal }: Run, image: string) {
  const found = await docker.inspectImage(image, { signal })
  if (found) return found
  throw imageMissing(`The image ${image} doesn’t exist any more.`)
}

export const imageMissing = (message: string) =>
  new Failure('image_missing', message, 'Deploy the commit again, so that it is built again.')

async function ensureVolumes(run: Run) {
  const { docker, project, environment, instanceId } = run
  const labels = labelsFor({
    instanceId,
    kind: 'app',
    ownerId: project.ownerId,
    projectId: project.id,
    environmentId: environment.id,
  })
  for (const { name } of volumesOf(run)) await docker.createVolume({ name, labels })
}

async function stop({ docker, log }: Run, container: string) {
  log('Stopping the previous container')
  await docker.stopContainer(container, { timeoutSeconds: 10 })
}

/**
 * The undo of the switch, as soon as Docker answers. Whatever goes wrong here is told, and does not
 * hide why it was needed.
 */
async function revertSwitch(run: Run, { id, old }: { id: string; old: string | null }) {
  const { docker, log, shutdown: signal } = run
  const attempt = async (work: () => Promise<unknown>, failed: string) => {
    await retryWhileEngineDown(docker, { signal, failed }, () =>
      work().catch((error) => {
        if (isEngineAway(error)) throw error
        log(`${failed}: ${(error as Error).message}`)
      }),
    )
  }
  await attempt(
    () => stopAndRemove(run, id, { timeoutSeconds: 0 }),
    'The new container was not removed',
  )
  if (!old) return
  await attempt(async () => {
    await docker.startContainer(old)
    log('The previous container serves again.')
  }, 'The previous container did not start again')
}

/** Returns it, in whole milliseconds. */
function tellDowntime({ log }: Run, milliseconds: number) {
  log(`Nothing answered for ${(milliseconds / 1000).toFixed(1)} s while switching.`)
  return Math.round(milliseconds)
}

/** Does not hide why the switch was undone. */
function saveDowntime({ save, deployment: { id } }: Run, downtimeMs: number) {
  try {
    save({ downtimeMs })
  } catch (error) {
    report('how long nothing answered was not stored', error, { deployment: id })
  }
}
