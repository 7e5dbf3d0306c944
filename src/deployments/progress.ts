import type { Db, LogDb, Tx } from '../db/index.ts'
import { requeueJob } from '../jobs/store.ts'
import type { Logs } from '../logs/logs.ts'
import type { Failure } from '../platform/errors.ts'
import type { NewLine } from '../logs/log-line.tsx'
import { LogWriter } from '../logs/log-writer.ts'
import type { Masks, SourceMask } from '../logs/masks.ts'
import { listLastLines } from '../logs/read-log.ts'
import { logOf, moveDeployment, setRunning, updateDeployment } from './store.ts'
import type { Deployment, Status } from './store.ts'

export type StepName = 'cloning' | 'building' | 'releasing' | 'deploying'

/** The deployment's state while the step runs. */
const statusDuring = (step: StepName) => (step === 'releasing' ? 'deploying' : step)

/** Records the state, steps and log of one run. Everything is stored before it is published. */
export class Progress {
  readonly #deps: { db: Db; logDb: LogDb; logs: Logs }
  readonly #deployment: Deployment
  readonly #log: LogWriter
  #status: Status
  #steps: Deployment['steps']
  #isBuilt: boolean

  constructor(deps: { db: Db; logDb: LogDb; logs: Logs }, deployment: Deployment) {
    this.#deps = deps
    this.#deployment = deployment
    this.#status = deployment.status
    this.#log = new LogWriter(deps, logOf(deployment))
    // A retry skips the steps that an interrupted attempt finished, if it had built the image.
    this.#isBuilt = deployment.image !== null
    this.#steps = this.#isBuilt ? deployment.steps.filter(({ finishedAt }) => finishedAt) : []
  }

  /** Masks these values in the log and the error from now on. */
  hide(mask: SourceMask) {
    this.#log.mask = mask
  }

  get step(): StepName | null {
    return (this.#steps.at(-1)?.name as StepName) ?? null
  }

  /** The newest lines of this step's containers, newest last. */
  async output(deps: { logDb: LogDb; masks: Masks }) {
    this.#log.flush()
    const since = Date.parse(this.#steps.at(-1)?.startedAt ?? '')
    const lines = await listLastLines(deps, logOf(this.#deployment), { limit: 200, since })
    return lines.flatMap(({ stream, text }) => (stream === 'system' ? [] : text))
  }

  log = (text: string, stream: NewLine['stream'] = 'system') => this.#log.write(text, stream)

  save = (facts: Partial<Deployment>) => {
    updateDeployment(this.#deps.db, this.#deployment.id, facts)
    this.#isBuilt ||= Boolean(facts.image)
  }

  /** Returns false when another process changed the deployment. */
  enter(step: StepName) {
    this.#log.flush()
    const startedAt = new Date().toISOString()
    this.#steps = [...this.#finished(startedAt), { name: step, startedAt, finishedAt: null }]
    return this.#move(statusDuring(step), { steps: this.#steps })
  }

  /** Stores that this deployment is now live. */
  succeed(tx: Tx, changes: Partial<Deployment>) {
    const now = new Date()
    const steps = this.#finished(now.toISOString())
    setRunning(tx, this.#deployment, { ...changes, steps, finishedAt: now })
  }

  /** Call it after the transaction was committed. */
  tellSuccess() {
    this.#log.end()
    this.#publish('running')
  }

  cancel(changes: Partial<Deployment>) {
    this.#end('cancelled', changes)
  }

  fail(failure: Failure, changes: Partial<Deployment>) {
    this.#end('failed', {
      ...changes,
      errorStep: this.step,
      errorCode: failure.code,
      errorMessage: this.#log.mask.mask(failure.message),
      errorHint: this.#log.mask.mask(failure.hint),
    })
  }

  /** Requeues the deployment when Davit stops, to resume at the next start. */
  requeue() {
    this.#log.flush()
    const { db } = this.#deps
    db.transaction(() => {
      requeueJob(db, this.#deployment.id, { slot: this.#isBuilt ? null : 'build' })
      this.#move('pending', {})
    })
  }

  #end(status: 'failed' | 'cancelled', changes: Partial<Deployment>) {
    this.#log.end()
    const now = new Date()
    this.#move(status, { ...changes, steps: this.#finished(now.toISOString()), finishedAt: now })
  }

  #move(status: Status, changes: Partial<Deployment>) {
    const { id } = this.#deployment
    if (!moveDeployment(this.#deps.db, { id, from: [this.#status], ...changes, status }))
      return false
    this.#publish(status)
    return true
  }

  #publish(status: Status) {
    this.#status = status
    this.#deps.logs.publish(this.#deployment.id, { status })
  }

  #finished = (finishedAt: string) =>
    this.#steps.map((step) => ({ ...step, finishedAt: step.finishedAt ?? finishedAt }))
}
