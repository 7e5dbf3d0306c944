import { newId } from '../db/new-id.ts'
import type { Work } from '../jobs/task.ts'
import { endJob } from '../jobs/store.ts'
import type { LogWriter } from '../logs/log-writer.ts'
import { rememberSecrets, sealServiceSecrets } from '../logs/secret-store.ts'
import { Failure } from '../platform/errors.ts'
import type { Component } from '../runtime/component.ts'
import { pullImage } from '../runtime/images/pull-image.ts'
import { moveOf, placementOn } from '../runtime/move-store.ts'
import { moving } from '../runtime/moves.ts'
import { restartLive, stopLive } from '../runtime/restart.ts'
import { rollOut } from '../runtime/roll-out.ts'
import type { RollOut } from '../runtime/run.ts'
import { componentsOf, refuseLapsed, secretsOf, versionedStack } from './definition.ts'
import type { Definition } from './definition.ts'
import { firstStartValues } from './first-start.ts'
import { withImagePorts } from './image-ports.ts'
import type { Pulled } from './image-ports.ts'
import { serverOf } from './placement.ts'
import type { PullProgress } from './progress.ts'
import { withImageVolumes } from './image-volumes.ts'
import { noError, settle, workloadOf } from './state.ts'
import type { ServiceDeps } from './state.ts'
import { moveService, replacePorts, updateService } from './store.ts'
import type { Service } from './store.ts'
import { definitionOf, sealValues, unsealDefinition } from './stored-definition.ts'

export type Doing = {
  service: Service
  work: Work
  progress: PullProgress
  log: LogWriter
  /** Called before a restart stops anything. */
  begins: () => void
}

/**
 * Recreates the containers of an instance from another definition, with the same volumes. The row gets the
 * new definition once they are healthy. Until then the old containers are only stopped, and they start again
 * after a failure.
 */
export async function changeService(deps: ServiceDeps, doing: Doing) {
  const { service, work } = doing
  const input = work.job.input!
  const before = await definitionOf(deps, service)
  const definition = await unsealDefinition(deps, service, input)
  // Until it is known which definition remains, logs are masked with the secrets of both.
  const both = [...secretsOf(before), ...secretsOf(definition)]
  const secretValues = sealServiceSecrets(deps.secrets, service.id, both)
  updateService(deps.db, service.id, { secretValues })
  await applyDefinition(deps, doing, {
    definition,
    store: (definition) => keep(deps, definition, before),
    passed: firstStartValues(deps, { from: before, to: definition, log: doing.log }),
  })
}

/** Returns a function that restores which secrets are masked, after a change was undone. */
export async function forgetChange(deps: ServiceDeps, service: Service, input: string) {
  const before = await definitionOf(deps, service)
  const definition = await unsealDefinition(deps, service, input)
  return () => keep(deps, before, definition)
}

/** Stores the instance's definition. Secrets of the dropped one stay masked in existing logs. */
function keep(deps: ServiceDeps, kept: Definition, dropped: Definition) {
  const { id, version, compose, allowed, allowedBy, ports, placement } = kept
  const now = new Set(secretsOf(kept))
  const ended = secretsOf(dropped).filter((value) => !now.has(value))
  if (ended.length > 0) rememberSecrets(deps, { serviceId: id }, ended)
  const made = { version, compose, allowed, allowedBy, placement, ...sealValues(deps, kept) }
  updateService(deps.db, id, made, ports)
}

/**
 * Stops an instance's containers and starts them in order. All are recreated if one is missing, or should now
 * be published differently.
 */
export async function restartService(deps: ServiceDeps, doing: Doing) {
  const { service, work, begins } = doing
  const definition = await definitionOf(deps, service)
  refuseLapsed(deps, definition)
  const isDone = await restartLive(deps, {
    workload: workloadOf(service),
    components: componentsOf(deps, definition),
    hooks: {
      enter(state) {
        begins()
        enter(deps, doing, state)
      },
    },
    signal: work.signal,
    stops: true,
  })
  if (isDone) settle(deps, work, 'running', noError)
  else await applyDefinition(deps, doing, { definition })
}

/** Runs it on another server, with what its volumes have. */
export async function moveToServer(deps: ServiceDeps, doing: Doing) {
  const { service, work } = doing
  const move = moveOf(deps.db, work.job)!
  const placement = placementOn(move.to)
  await applyDefinition(deps, doing, {
    definition: { ...(await definitionOf(deps, service)), placement },
    store: ({ ports }) => void updateService(deps.db, service.id, { placement }, ports),
  })
}

/** The containers stay for a restart. */
export async function stopService(deps: ServiceDeps, { service, work }: Doing) {
  await stopLive(deps, { workload: workloadOf(service), signal: work.signal })
  settle(deps, work, 'stopped', noError)
}

/** Applies a definition and waits until it is healthy. Old containers run while images are pulled. */
async function applyDefinition(
  deps: ServiceDeps,
  doing: Doing,
  {
    definition,
    store = ({ ports }) => replacePorts(deps.db, doing.service.id, ports),
    passed,
  }: {
    definition: Definition
    store?: (definition: Definition) => void
    passed?: RollOut['hooks']['passed']
  },
) {
  const { service, work } = doing
  const { job, signal, undo } = work
  const { id } = service
  refuseLapsed(deps, definition)
  const planned = componentsOf(deps, definition)
  await refuseHostNetwork(deps, planned, signal)
  enter(deps, doing, 'pulling')
  work.lendSlot() // a registry may be slow
  const docker = deps.engines.of({ serverId: serverOf(definition) })
  const pulled = await pullImages({ ...deps, docker }, planned, doing)
  await work.takeSlot(() => doing.log.write('Waiting for other services that are starting.'))
  const stack = versionedStack(deps, definition)
  const { components, ports } = withImagePorts(
    withImageVolumes(pulled, { id, services: stack.services }),
    definition.ports,
  )
  signal.throwIfAborted()
  const workload = workloadOf(definition)
  const move = moveOf(deps.db, job)
  const log = (text: string) => doing.log.write(text)
  const moves = move && (await moving(deps, { move, workload, components, log, signal }))
  await rollOut(deps, {
    workload: moves?.workload ?? workload,
    release: { id: newId(), components },
    strategy: 'stop-first',
    hooks: {
      ...moves?.hooks,
      enter: (state) => enter(deps, doing, state),
      passed,
      commit(tx, outcome) {
        store({ ...definition, ports })
        moves?.commit(tx, outcome)
        moveService(deps.db, { id, status: 'running', ...noError })
        endJob(deps.db, job.id)
      },
    },
    signal,
    shutdown: undo,
  })
}

/** A rootless engine's host network is that of its own namespace, which no client reaches. */
async function refuseHostNetwork(
  { docker }: ServiceDeps,
  planned: Component[],
  signal: AbortSignal,
) {
  const onHost = planned.find(({ options }) => options.granted?.hostNetwork)
  if (!onHost || !(await docker.machine({ signal })).rootless) return
  throw new Failure(
    'engine_rootless',
    `Docker runs rootless, so ${onHost.name} can’t use the network of the server.`,
    'Remove network_mode: host from the file, and publish ports instead.',
  )
}

/** Publishes and logs the phase that starts. */
function enter(deps: ServiceDeps, { service, log }: Doing, state: keyof typeof lines) {
  moveService(deps.db, { id: service.id, status: state })
  log.write(lines[state])
}

const lines = {
  pulling: 'Checking the images, and pulling missing ones.',
  creating: 'Creating the network, the volumes and the containers.',
  starting: 'Starting the containers, and waiting until they are healthy.',
}

/** Skips images that the engine already has and the user may use. */
async function pullImages(
  deps: ServiceDeps,
  components: Component[],
  { service: { ownerId }, work: { signal }, progress, log }: Doing,
): Promise<Pulled[]> {
  const wanted = new Map(components.map(({ options }) => [options.image, options.platform]))
  const found = new Map<string, Awaited<ReturnType<typeof pullImage>>>()
  for (const [image, platform] of wanted) {
    let pulls = false
    const pulled = await pullImage(deps, {
      ownerId,
      image,
      platform,
      signal,
      onPull() {
        pulls = true
        progress.begin(image)
        log.write(`Pulling ${image}.`)
      },
      onLayer: ({ layer, ...at }) => progress.layer(image, { id: layer, ...at }),
    })
    if (pulls) {
      progress.end(image)
      log.write(`Pulled ${image}.`)
    }
    found.set(image, pulled)
  }
  return components.map((component) => {
    const { name, image } = found.get(component.options.image)!
    return { ...component, options: { ...component.options, image: name }, image }
  })
}
