import { setTimeout as sleep } from 'node:timers/promises'
import { waitUntilAnswers } from '../../docker/index.ts'
import type { Image } from '../../docker/index.ts'
import { Failure } from '../../errors.ts'
import type { Run } from '../run.ts'
import { exitFailure, silenceFailure } from './gate-failures.ts'
import { followOutput } from './output.ts'

type Candidate = { id: string; port: number; network: string; image: Image }

/**
 * Lets a container through only when it answers on its own network and stays up; its output goes to
 * the log meanwhile. Returns when it first answered (`performance.now()`).
 */
export async function gate(run: Run, candidate: Candidate): Promise<{ answeredAt: number }> {
  const over = new AbortController()
  const signal = AbortSignal.any([run.signal, over.signal])
  const output = followOutput(run, { id: candidate.id, signal })
  const exit = run.docker
    .waitForExit(candidate.id, { signal })
    .then(() => exitFailure(run, { id: candidate.id, output: output.ended }))
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

/** Resolves with the moment of the first answer; throws when there was none in time. */
async function answer(run: Run, { id, port, network, image }: Candidate) {
  const { docker, environment, log, signal } = run
  if (port === 0) return performance.now()
  if (docker.remote) {
    await answerByHealthcheck(run, { id, image })
    return performance.now()
  }
  const address = (await docker.inspectContainer(id, { signal }))?.addresses[network]
  if (!address) return new Promise<never>(() => {}) // it has exited already, which is being waited for
  const path = environment.healthPath
  log(`Waiting for an answer on port ${port}${path ? `, path ${path}` : ''}`)
  const timeout = environment.healthTimeout * 1000
  const result = await waitUntilAnswers({ address, port, path, timeout, signal })
  if (!result.answered) throw silenceFailure(environment, { port, lastSeen: result.lastSeen })
  log(`It answered after ${(result.milliseconds / 1000).toFixed(1)} s: ${result.lastSeen}`)
  return performance.now()
}

/** The container's network is out of reach: the image's own check decides, or that it stays up. */
async function answerByHealthcheck(
  { docker, environment, log, signal }: Run,
  { id, image }: { id: string; image: Image },
) {
  if (!image.hasHealthcheck)
    return log('The engine is remote and the image has no HEALTHCHECK: it only has to stay up.')
  log("The engine is remote: the image's HEALTHCHECK decides.")
  const deadline = performance.now() + environment.healthTimeout * 1000
  while ((await docker.inspectContainer(id, { signal }))?.health !== 'healthy') {
    if (performance.now() > deadline)
      throw silenceFailure(environment, { port: 0, lastSeen: 'its HEALTHCHECK did not pass' })
    await sleep(500, undefined, { signal })
  }
}
