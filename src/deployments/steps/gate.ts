import { setTimeout as sleep } from 'node:timers/promises'
import { waitUntilAnswers } from '../../docker/index.ts'
import type { HealthTest } from '../../docker/index.ts'
import { Failure } from '../../platform/errors.ts'
import { exitFailure, healthFailure, silenceFailure } from '../../runtime/gate-failures.ts'
import type { Gated } from '../../runtime/gate-failures.ts'
import { within } from '../../web/within.ts'
import type { Run } from '../run.ts'
import { followOutput } from './output.ts'

/** Milliseconds in which the last output of a container that ended reaches us. */
const lastWords = 2000

type Candidate = { id: string; port: number; network: string }

/**
 * Lets a container through only when it answers on its own network, passes its HEALTHCHECK and stays up;
 * its output goes to the log meanwhile. Returns when it first answered (`performance.now()`).
 */
export async function gate(run: Run, candidate: Candidate): Promise<{ answeredAt: number }> {
  const over = new AbortController()
  const signal = AbortSignal.any([run.signal, over.signal])
  const output = followOutput(run, { id: candidate.id, signal })
  const exit = run.docker
    .waitForExit(candidate.id, { signal })
    .then(() => within(lastWords, output.ended))
    .then(() => exitFailure(run.docker, gated(run, candidate)))
  exit.catch(() => {}) // it rejects when the gate is over, and nobody waits for it then
  try {
    const answeredAt = await orExit(answer({ ...run, signal }, candidate), exit)
    await orExit(sleep(run.config.settleTime, undefined, { signal }), exit)
    await orExit(unlessEnded(run, candidate), exit)
    return { answeredAt }
  } catch (error) {
    if (!run.signal.aborted) await output.tellLast().catch(() => {}) // the error in hand says more
    throw error
  } finally {
    over.abort()
    await output.ended
  }
}

/** Resolves for a container that runs: of one that has ended a busy engine may be late to tell. */
async function unlessEnded({ docker, signal }: Run, { id }: Candidate) {
  const container = await docker.inspectContainer(id, { signal })
  if (!container || container.state === 'exited') await new Promise<never>(() => {})
}

async function orExit<Value>(work: Promise<Value>, exit: Promise<Failure>): Promise<Value> {
  const first = await Promise.race([work.then((value) => ({ value })), exit])
  if (!(first instanceof Failure)) return first.value
  work.catch(() => {}) // aborted with the gate
  throw first
}

/** Resolves when the probe and the health check have passed, with the moment of its first answer. */
async function answer(run: Run, { id, port, network }: Candidate) {
  const container = await run.docker.inspectContainer(id, { signal: run.signal })
  if (container?.state !== 'running' && container?.state !== 'paused')
    return new Promise<never>(() => {}) // its exit is waited for
  const { addresses, healthTest } = container
  const address = run.docker.remote || port === 0 ? null : addresses[network]
  if (run.docker.remote && port > 0 && !healthTest)
    run.log('The engine is remote and the image has no HEALTHCHECK: it only has to stay up.')
  const checks = await Promise.allSettled([
    address ? probe(run, { address, port }) : null,
    healthTest ? passHealthCheck(run, { id, test: healthTest }) : null,
  ])
  // what isn't reachable often fails its own check too: the first reason says more
  for (const check of checks) if (check.status === 'rejected') throw check.reason
  const [answeredAt, healthyAt] = checks.map((check) => (check as { value: number | null }).value)
  return answeredAt ?? healthyAt ?? performance.now()
}

async function probe(run: Run, { address, port }: { address: string; port: number }) {
  const { environment, log, signal } = run
  const path = environment.healthPath
  log(`Waiting for a response on port ${port}${path ? `, path ${path}` : ''}`)
  const timeout = environment.healthTimeout * 1000
  const result = await waitUntilAnswers({ address, port, path, timeout, signal })
  if (!result.answered)
    throw silenceFailure({
      name: app.name,
      port,
      path,
      timeout: timeout / 1000,
      lastSeen: result.lastSeen,
    })
  log(`It responded after ${(result.milliseconds / 1000).toFixed(1)} s: ${result.lastSeen}`)
  return performance.now()
}

/** The engine's own health check may begin after 30 s: its test is run beside it. */
async function passHealthCheck(run: Run, { id, test }: { id: string; test: HealthTest }) {
  const { docker, environment, log, signal } = run
  log("Waiting for the image's HEALTHCHECK to pass")
  const begun = performance.now()
  const timeout = environment.healthTimeout * 1000
  const verdict = await docker.untilHealthTestPasses(id, { test, timeout, signal })
  if (!verdict.passed) {
    const lines = verdict.output.split('\n').filter((line) => line.trim())
    if (lines.length > 0) log('The last output of its HEALTHCHECK:')
    for (const line of lines) log(line, 'stderr')
    throw await healthFailure(docker, gated(run, { id }), { ...verdict, timeout: timeout / 1000 })
  }
  log(`Its HEALTHCHECK passed after ${((performance.now() - begun) / 1000).toFixed(1)} s`)
  return performance.now()
}

const app = { subject: 'environment', name: 'the app' } as const

const gated = ({ environment: { memoryMb } }: Run, { id }: { id: string }): Gated => ({
  ...app,
  id,
  memoryMb,
})
