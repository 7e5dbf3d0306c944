import type { Db, LogDb, Tx } from '../db/index.ts'
import type { Logs } from '../logs/logs.ts'
import type { NewLine } from '../logs/log-line.tsx'
import { LogWriter } from '../logs/log-writer.ts'
import type { Masks, SourceMask } from '../logs/masks.ts'
import { listLastLines } from '../logs/read-log.ts'
import { logOf, moveDeployment, setRunning, updateDeployment } from './store.ts'
import type { Deployment, Status } from './store.ts'

export type StepName = 'cloning' | 'building' | 'pulling' | 'releasing' | 'deploying'

/** The deployment's state while the step runs. */
const statusDuring = (step: StepName) =>
  step === 'pulling' || step === 'releasing' ? 'deploying' : step

/** Records the states, steps and log of one run until its end. Everything is stored before it is published. */
export class Progress {
  readonly #deps: { db: Db; logDb: LogDb; logs: Logs }
  readonly #deployment: Deployment
  readonly writer: LogWriter
  #status: Status
  #steps: Deployment['steps']

  constructor(deps: { db: Db; logDb: LogDb; logs: Logs }, deployment: Deployment) {
    this.#deps = deps
    this.#deployment = deployment
    this.#status = deployment.status
    this.writer = new LogWriter(deps, logOf(deployment))
    // A retry skips the steps that an interrupted attempt finished, if it had built the image.
    const isBuilt = deployment.image !== null
    this.#steps = isBuilt ? deployment.steps.filter(({ finishedAt }) => finishedAt) : []
  }

  /** Masks these values in the log and the error from now on. */
  hide(mask: SourceMask) {
    this.writer.mask = mask
  }

  get step(): StepName | null {
    return (this.#steps.at(-1)?.name as StepName) ?? null
  }

  /** The newest lines of this step's containers, newest last. */
  async output(deps: { logDb: LogDb; masks: Masks }) {
    this.writer.flush()
    const since = Date.parse(this.#steps.at(-1)?.startedAt ?? '')
    const lines = await listLastLines(deps, logOf(this.#deployment), { limit: 200, since })
    return lines.flatMap(({ stream, text }) => (stream === 'system' ? [] : text))
  }

  log = (text: string, stream: NewLine['stream'] = 'system') => this.writer.write(text, stream)

  save = (facts: Partial<Deployment>) => {
    updateDeployment(this.#deps.db, this.#deployment.id, facts)
  }

  /** Returns false when another process changed the deployment. */
  enter(step: StepName) {
    this.writer.flush()
    const startedAt = new Date().toISOString()
    this.#steps = [...this.#finished(startedAt), { name: step, startedAt, finishedAt: null }]
    return this.#move(statusDuring(step), { steps: this.#steps })
  }

  /** Stores that this deployment is now live. */
  succeed(tx: Tx, changes: Partial<Deployment>) {
    const { steps, finishedAt } = this.finished()
    const now = finishedAt.toISOString()
    const watching = { name: 'watching', startedAt: now, finishedAt: null }
    setRunning(tx, this.#deployment, {
      ...{ ...changes, finishedAt },
      steps: changes.watchUntil ? [...steps, watching] : steps,
    })
  }

  /** Call it after the transaction was committed. */
  reportSuccess() {
    this.writer.end()
    this.#publish('running')
  }

  /** What is stored with any other end. */
  finished() {
    const now = new Date()
    return { steps: this.#finished(now.toISOString()), finishedAt: now }
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
