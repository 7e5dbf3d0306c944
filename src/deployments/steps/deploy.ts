import { Failure } from '../../errors.ts'
import { urlOf } from '../../environments/json.ts'
import { labelsFor } from '../../projects/labels.ts'
import { retire } from '../../logs/retire.ts'
import type { Run } from '../run.ts'
import type { Deployment } from '../store.ts'
import { waitForEngine } from '../../docker/wait-for-engine.ts'
import { choosePort, containerOptions, volumesOf } from './container.ts'
import { gate } from './gate.ts'
import { ensureProjectNetwork } from './network.ts'

/** Milliseconds in which an engine that went away may come back to have a switch undone. */
const patience = 60_000

/**
 * Puts a container of the image in the place of the one that serves, and returns its address. Where
 * both would want the same port or volume the old one stops first, and starts again at once if the
 * new one does not pass the gate. The engine's answers to what creates, starts and stops are waited
 * for even when the run is aborted: a call broken off half-way could still take effect, unseen.
 */
export async function deploy(
  run: Run,
  { image, previous }: { image: string; previous: Deployment | null },
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
    await docker.startContainer(id)
    const { answeredAt } = await gate(run, { id, port, network })
    await docker.setRestartPolicy(id, { name: 'unless-stopped' })
    if (old) tellDowntime(run, answeredAt - quietFrom)
  } catch (error) {
    await giveWay(run, { id, old })
    if (old) tellDowntime(run, performance.now() - quietFrom)
    throw error
  }
  return port > 0 ? urlOf(environment, run.config) : null
}

async function findImage({ docker, signal }: Run, image: string) {
  const found = await docker.inspectImage(image, { signal })
  if (found) return found
  throw new Failure(
    'image_missing',
    `Starting: the image ${image} is not on the engine any more.`,
    'Deploy the commit again, so that it is built anew.',
  )
}

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

/** The undo of the switch. Whatever goes wrong here is told, and does not hide why it was needed. */
async function giveWay(run: Run, { id, old }: { id: string; old: string | null }) {
  const { docker, log } = run
  await waitForEngine(docker, { signal: AbortSignal.timeout(patience) })
  try {
    await retire(run, id, { timeoutSeconds: 0 })
  } catch (error) {
    log(`The new container was not removed: ${(error as Error).message}`)
  }
  if (!old) return
  try {
    await docker.startContainer(old)
    log('The previous container serves again.')
  } catch (error) {
    log(`The previous container did not start again: ${(error as Error).message}`)
  }
}

function tellDowntime({ log, save }: Run, milliseconds: number) {
  const downtimeMs = Math.round(milliseconds)
  save({ downtimeMs })
  log(`Nothing answered for ${(downtimeMs / 1000).toFixed(1)} s while switching.`)
}
