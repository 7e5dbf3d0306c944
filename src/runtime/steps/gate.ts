import { setTimeout as sleep } from 'node:timers/promises'
import { waitUntilAnswers } from '../../docker/index.ts'
import type { Container, ContainerKey, EngineError } from '../../docker/index.ts'
import { explain, wordsFor } from '../explain.ts'
import { mayEnd } from '../component.ts'
import type { Component, Gate } from '../component.ts'
import { exitFailure, healthFailure, silenceFailure } from '../gate-failures.ts'
import type { Gated } from '../gate-failures.ts'
import { allEnded, within } from '../../platform/pause.ts'
import { timed } from '../../platform/trace.ts'
import type { ContainerRun, GateRun } from '../run.ts'
import { isUp } from '../workload.ts'
import { followOutput } from './output.ts'

/** When it first responded or was healthy, in terms of `performance.now()`. */
export type Passed = { answeredAt: number }

type GatedContainer = ContainerKey & { component: Component; keptSince?: Date | undefined }

const runOf = (run: GateRun, made: GatedContainer): ContainerRun => ({
  ...run,
  docker: run.engines.of(made),
})

type Probe = Extract<Gate, { kind: 'probe' }>

/** Milliseconds between two checks of a container whose health the engine checks. */
const interval = 200

/** Milliseconds after which a container that is neither healthy nor unhealthy has failed. */
const healthTimeoutMs = 15 * 60_000

/**
 * Resolves when a container meets its gate and stays up, or exits with success if it may. Logs its output
 * meanwhile, if there is a log.
 */
export async function pass(outer: GateRun, made: GatedContainer): Promise<Passed> {
  const over = new AbortController()
  const run = { ...runOf(outer, made), signal: AbortSignal.any([outer.signal, over.signal]) }
  const output = run.hooks.log
    ? followOutput(run, made.id, { last: outer.signal, since: made.keptSince })
    : null
  let hasEnded = false
  const exit = run.docker.waitForExit(made.id, run).then(async ({ exitCode }) => {
    hasEnded = true
    if (exitCode !== 0 || !mayEnd(made.component))
      throw await failedBy(run, made, { exitCode, output: output?.ended })
    return { answeredAt: performance.now() }
  })
  exit.catch(() => {}) // it rejects when the gate is over, and no one waits for it then
  const well = async () =>
    staysWell(run, made).catch((error) => {
      if (hasEnded && !outer.signal.aborted) return exit // its exit says more than a missing response
      throw error
    })
  try {
    return await (made.component.oneShot ? exit : Promise.race([well(), exit]))
  } catch (error) {
    if (!outer.signal.aborted) await output?.reportLast().catch(() => {}) // the original error says more
    throw error
  } finally {
    over.abort()
    await output?.ended
  }
}

/** Never resolves for a container that has ended: its exit is awaited. */
async function staysWell(run: ContainerRun, made: GatedContainer): Promise<Passed> {
  const { gate } = made.component
  const until = { kind: 'wait', name: 'until it was healthy', detail: made.component.name } as const
  const answeredAt = await (gate.kind === 'probe'
    ? answer(run, made, gate)
    : timed(run.trace, until, () => healthy(run, made)))
  const container = await run.docker.inspectContainer(made.id, run)
  // a busy engine may report an end late
  if (!container || container.state === 'exited') return never()
  return { answeredAt }
}

function gated({ workload }: GateRun, { id, component }: GatedContainer): Gated {
  const { name, options } = component
  const subject = workload.kind === 'app' ? 'environment' : 'service'
  const inApp = name === 'web' ? 'the app' : `the process ${name}`
  return {
    id,
    subject,
    name: subject === 'environment' ? inApp : name,
    words: wordsFor(subject, component),
    memoryMb: Math.round(options.memoryBytes / 1024 / 1024),
  }
}

/** Throws the reason when a container ended that had passed its gate and must keep running. */
export async function refuseEnded(run: GateRun, made: GatedContainer[]) {
  const found = await Promise.all(made.map((one) => run.engines.inspect(one)))
  for (const [at, one] of made.entries()) {
    const { component } = one
    const container = found[at]
    const isWell = container && (isUp(container) || (container.exitCode === 0 && mayEnd(component)))
    if (!isWell) throw await failedBy(runOf(run, one), one)
  }
}

/** Explains a start that the engine refused in the terms of the component. */
export function startFailure(error: EngineError, run: GateRun, made: GatedContainer) {
  const { subject, words: said } = gated(run, made)
  return explain(error, { subject, said, what: 'Start failed' })
}

/** Milliseconds in which the last output of an ended container arrives. */
const lastWords = 2000

/** Its output is in the log by then. */
async function failedBy(
  run: ContainerRun,
  made: GatedContainer,
  { exitCode, output }: { exitCode?: number; output?: Promise<void> | undefined } = {},
) {
  if (output) await within(lastWords, output)
  return exitFailure(run.docker, gated(run, made), exitCode)
}

const never = () => new Promise<never>(() => {})

/** Resolves once the probe and the health check have passed and the container had time to settle. */
async function answer(run: ContainerRun, made: GatedContainer, gate: Probe) {
  const { docker, signal } = run
  const container = await docker.inspectContainer(made.id, { signal })
  // it ended before its end was awaited
  if (container?.state === 'restarting') throw await failedBy(run, made, container)
  if (container?.state !== 'running' && container?.state !== 'paused') return never()
  const { healthTest } = container
  const place = gate.port === 0 ? null : await probedAt(run, container, gate)
  if (place && 'unseen' in place && !healthTest)
    run.hooks.log?.(`${place.unseen}: the app only has to stay up.`)
  // an unreachable app often fails its own check too: the first reason says more
  const [answeredAt, healthyAt] = await allEnded([
    place && 'address' in place ? probe(run, made, { gate, place }) : null,
    healthTest ? passHealthCheck(run, made, { gate, test: healthTest }) : null,
  ])
  const at = answeredAt ?? healthyAt ?? performance.now()
  await settle(run, made.component)
  return at
}

/** One whose crash after the switch is undone is switched to at once. */
async function settle(
  { config: { settleTime }, undoesCrashes, hooks, trace, signal }: GateRun,
  { name: detail }: Component,
) {
  if (undoesCrashes) return
  if (settleTime > 0) hooks.log?.(`Waiting ${settleTime / 1000} s to see that it stays up`)
  await timed(trace, { kind: 'wait', name: 'whether it stays up', detail }, () =>
    sleep(settleTime, undefined, { signal }),
  )
}

type ProbeAddress = { address: string; port: number }

/** Where its port can be reached from here, or why it can't; null without an address. */
export async function probedAt(
  {
    engines,
    docker,
    network,
    signal,
  }: Pick<ContainerRun, 'engines' | 'docker' | 'network' | 'signal'>,
  { serverId, addresses, ports }: Container,
  { port, path }: Probe,
): Promise<ProbeAddress | { unseen: string } | null> {
  const published = ports.find(
    ({ container, protocol }) => container === port && protocol === 'tcp',
  )
  // as the edge does
  if (serverId !== engines.all[0].serverId)
    return published ? { address: published.address, port: published.host } : null
  const apart = await docker.whyApart({ signal })
  const address = addresses[network]
  if (!apart) return address === undefined ? null : { address, port }
  if (apart === 'remote')
    return { unseen: 'Docker is on another machine and the image has no HEALTHCHECK' }
  // a rootless Docker accepts connections in place of an app that doesn't listen
  return published && path !== null
    ? { address: published.address, port: published.host }
    : { unseen: 'Docker runs rootless, and there is neither a health path nor a HEALTHCHECK' }
}

export const waitingForResponse = 'Waiting for a response'
export const healthCheckPassed = 'Its HEALTHCHECK passed'

async function probe(
  run: GateRun,
  made: GatedContainer,
  { gate: { port, path, host, timeout }, place }: { gate: Probe; place: ProbeAddress },
) {
  const { hooks, signal } = run
  hooks.log?.(`${waitingForResponse} on port ${port}${path ? `, path ${path}` : ''}`)
  const until = { kind: 'wait', name: 'until it responded', detail: made.component.name } as const
  const result = await timed(run.trace, until, () =>
    waitUntilAnswers({ ...place, path, host, timeout, signal }),
  )
  if (!result.answered)
    throw silenceFailure({
      name: gated(run, made).name,
      port,
      path,
      host,
      timeout: timeout / 1000,
      lastSeen: result.lastSeen,
    })
  hooks.log?.(
    `It responded after ${(result.milliseconds / 1000).toFixed(1)} s (${result.lastSeen})`,
  )
  return performance.now()
}

/** The engine's own health check may begin after 30 s, so its test is also run here. */
async function passHealthCheck(
  run: ContainerRun,
  made: GatedContainer,
  { gate: { timeout }, test }: { gate: Probe; test: NonNullable<Container['healthTest']> },
) {
  const { docker, hooks, signal } = run
  hooks.log?.('Waiting for the image’s HEALTHCHECK to pass')
  const begun = performance.now()
  const verdict = await docker.untilHealthTestPasses(made.id, { test, timeout, signal })
  if (!verdict.passed) {
    const lines = verdict.output.split('\n').filter((line) => line.trim() !== '')
    if (lines.length > 0) hooks.log?.('The last output of its HEALTHCHECK:')
    for (const line of lines) hooks.log?.(line, 'stderr')
    throw await healthFailure(docker, gated(run, made), { ...verdict, timeout: timeout / 1000 })
  }
  hooks.log?.(`${healthCheckPassed} after ${((performance.now() - begun) / 1000).toFixed(1)} s`)
  return performance.now()
}

/**
 * Resolves when the engine reports it healthy; without a health check, when it has stayed up for a while. The
 * check keeps the schedule of its file: running it earlier can do harm, as with RabbitMQ's, which creates the
 * server's key as another user.
 */
async function healthy(run: ContainerRun, made: GatedContainer) {
  const { docker, signal, config } = run
  const begun = performance.now()
  for (;;) {
    const container = await docker.inspectContainer(made.id, { signal })
    if (container?.state === 'restarting') throw await failedBy(run, made, container)
    if (container?.state !== 'running') return never()
    if (container.health === 'unhealthy' || performance.now() - begun > healthTimeoutMs)
      throw await healthFailure(docker, gated(run, made), {
        exitCode: null,
        output: container.healthOutput ?? '',
      })
    // the clock of its server may deviate
    const hasSettled = performance.now() - begun >= config.settleTime
    if (container.health === null ? hasSettled : container.health === 'healthy')
      return performance.now()
    await sleep(interval, undefined, { signal })
  }
}
