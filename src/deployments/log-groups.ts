import { levelOf } from '../logs/level.ts'
import type { Line } from '../logs/log-line.tsx'
import { plainText } from '../web/ansi.ts'
import { duration } from '../web/units.ts'
import { isEnded } from './store.ts'
import type { Deployment } from './store.ts'

type State = 'active' | 'done' | 'failed' | 'cancelled'

/** The fields that assign lines to steps, and say how the steps ended. */
type DeploymentState = Pick<Deployment, 'status' | 'steps' | 'errorStep'> &
  Partial<Pick<Deployment, 'upload'>>

/** The lines of one step, which fold together. Lines of other steps may be in between. */
export type Group = {
  key: string
  title: string
  state: State
  /** True for the builder's internal work, which few people read. */
  isQuiet: boolean
  /** Such as `3.4 s` or `cached`. */
  facts: string
  /** Each range has the first and the last sequence number of adjacent lines. */
  ranges: [number, number][]
}

export type Changed = { isWhole: boolean; groups: Group[] }

/** Maximum of lines kept for a quote. */
const kept = 40

/** `steps` limits distinct steps, as a program can print any number of them; `title` is in characters. */
const maxGroups = { steps: 500, title: 300 }

class Work {
  readonly title: string
  state: State = 'active'
  /** As reported by the builder. */
  took: string | null = null
  first: number | null = null
  last = 0
  ranges: [number, number][] = []
  /** The last lines of its programs. */
  output: Line[] = []

  constructor(
    readonly key: string,
    title: string,
    readonly isQuiet: boolean,
  ) {
    this.title = plainText(title.slice(0, maxGroups.title))
  }

  add({ sequence, time }: Line) {
    this.first ??= time
    this.last = time
    const range = this.ranges.at(-1)
    if (range?.[1] === sequence - 1) range[1] = sequence
    else this.ranges.push([sequence, sequence])
  }

  get group(): Group {
    const { key, title, state, isQuiet, ranges } = this
    const took = this.took ?? duration(this.last - (this.first ?? this.last))
    const done = took === '0.0 s' ? '' : took
    const facts = { active: '', done, failed: 'failed', cancelled: 'cancelled' }[state]
    return { key, title, state, isQuiet, facts, ranges }
  }
}

const phases: Record<string, string> = {
  '': 'Before this attempt',
  cloning: 'Clone the repository',
  uploaded: 'Read the uploaded files',
  building: 'Prepare the build',
  pulling: 'Pull the image',
  releasing: 'Run the release command',
  deploying: 'Start the app',
  watching: 'Watch the new version',
}

/** Splits a deployment's log into steps: those that BuildKit numbers, and Davit's own. */
export class LogGroups {
  firstError: number | null = null
  readonly #works = new Map<string, Work>()
  /** Changed since the last `takeChanged`. Each has only the ranges that were added since then. */
  readonly #changed = new Set<Work>()
  #isWhole = true
  /** Maps BuildKit's step numbers to keys of groups. */
  readonly #steps = new Map<string, string>()
  #phase = -1
  /** The service of a Compose file that is being built: each build numbers its steps from 1. */
  #service: string | null = null
  /** The classic builder's current step. */
  #classic: string | null = null
  #latest: Work | null = null
  #told: DeploymentState
  /** The start of the attempt that `#told` describes. */
  #began: string | undefined
  #lines: { first: Line; last: Line } | null = null

  constructor(told: DeploymentState) {
    this.#told = told
  }

  /** Updates the state of the steps when the deployment may have progressed. */
  tell(told: DeploymentState) {
    this.#hear(told)
    if (isEnded(told.status)) this.#end()
  }

  take(lines: Line[], told: DeploymentState) {
    this.#hear(told)
    for (const line of lines) this.#take(line)
    this.tell(told)
  }

  /**
   * Returns the groups that changed since the last call, with only the lines added since; null when none did.
   * `isWhole` means that these replace all earlier groups.
   */
  takeChanged(): Changed | null {
    if (this.#changed.size === 0) return null
    const changed = { isWhole: this.#isWhole, groups: [...this.#changed].map(({ group }) => group) }
    for (const work of this.#changed) work.ranges = []
    this.#changed.clear()
    this.#isWhole = false
    return changed
  }

  /** The lines of the failed step that show the cause. */
  get quote(): Line[] {
    const failed = [...this.#works.values()].findLast(({ state }) => state === 'failed')
    return failed ? quoteOf(failed.output) : []
  }

  #hear(told: DeploymentState) {
    const began = told.steps[0]?.startedAt ?? this.#began
    const isAnother = this.#began !== undefined && began !== this.#began
    this.#told = told
    this.#began = began
    if (isAnother) this.#beginAgain()
  }

  /** A new attempt combines all earlier lines into one group. */
  #beginAgain() {
    this.#works.clear()
    this.#steps.clear()
    this.#changed.clear()
    this.#phase = -1
    this.#service = null
    this.#classic = null
    this.#isWhole = true
    if (!this.#lines) return
    const { first, last } = this.#lines
    const work = this.#ofPhase()
    work.add(first)
    work.add(last)
    work.ranges = [[first.sequence, last.sequence]]
    work.state = 'done'
    this.#latest = work
    this.#changed.add(work)
  }

  #take(line: Line) {
    this.#lines = { first: this.#lines?.first ?? line, last: line }
    this.#enterPhase(line.time)
    const work = this.#workOf(line)
    work.add(line)
    this.#latest = work
    this.#changed.add(work)
    if (line.stream !== 'system') work.output = [...work.output.slice(1 - kept), line]
    if (this.firstError === null && levelOf(line.text) === 'error') this.firstError = line.sequence
  }

  #enterPhase(time: number) {
    const { steps } = this.#told
    const at = steps.findLastIndex(({ startedAt }) => Date.parse(startedAt) <= time)
    if (at <= this.#phase) return
    this.#enterService(null)
    this.#phase = at
  }

  get #phaseName() {
    return this.#told.steps[this.#phase]?.name ?? ''
  }

  #workOf(line: Line): Work {
    if (line.stream === 'system' && isVerdict.test(line.text))
      return this.#latest ?? this.#ofPhase()
    if (this.#phaseName !== 'building') return this.#ofPhase()
    const [, service] = (line.stream === 'system' && buildsService.exec(line.text)) || []
    if (service !== undefined) this.#enterService(service)
    const [, number, rest] = /^#(\d+) (.*)$/s.exec(line.text) ?? []
    if (number !== undefined) return this.#ofBuildKit(number, rest!)
    const step = line.stream === 'system' ? /^Step \d+\/\d+ : .*/.exec(line.text)?.[0] : undefined
    if (step) {
      if (this.#classic !== null) this.#set(this.#step(this.#classic, this.#classic), 'done')
      this.#classic = step
    }
    return this.#classic === null ? this.#ofPhase() : this.#step(this.#classic, this.#classic)
  }

  #enterService(service: string | null) {
    for (const work of this.#works.values()) if (work.state === 'active') this.#set(work, 'done')
    this.#service = service
    this.#steps.clear()
    this.#classic = null
  }

  #ofPhase() {
    const name = this.#phaseName
    const phase = name === 'cloning' && this.#told.upload ? 'uploaded' : name
    return this.#step(name, phases[phase] ?? name, name === 'building')
  }

  #step(key: string, title: string, isQuiet = false) {
    const [of, from] =
      this.#service === null ? ['', ''] : [` of ${this.#service}`, `${this.#service}: `]
    const whole = `${key}${of}`
    const make = () => new Work(whole, `${from}${title}`, isQuiet)
    return this.#works.getOrInsertComputed(whole, make)
  }

  #ofBuildKit(number: string, rest: string): Work {
    const known = this.#steps.get(number)
    const isPart = internal.test(rest) || this.#steps.size >= maxGroups.steps
    const key = known ?? (isPart ? 'building' : `step ${number}`)
    if (this.#steps.size < maxGroups.steps) this.#steps.set(number, key)
    const work = key === 'building' ? this.#ofPhase() : this.#step(key, titleOf(rest))
    if (known === undefined) this.#set(work, 'active')
    else if (/^ERROR: /.test(rest)) this.#set(work, 'failed')
    else if (rest === 'CANCELED') this.#set(work, 'cancelled')
    else if (rest === 'CACHED') this.#finish(work, 'cached')
    else if (/^DONE [\d.]+s$/.test(rest))
      this.#finish(work, duration(Number(rest.slice(5, -1)) * 1000))
    return work
  }

  /** The group `building` combines several steps, so it has no single duration. */
  #finish(work: Work, took: string) {
    if (!work.isQuiet) work.took = took
    if (work.state === 'active') this.#set(work, 'done')
  }

  #set(work: Work, state: State) {
    work.state = state
    this.#changed.add(work)
  }

  /** Steps that are active at the end failed or were cancelled with the deployment, or are done. */
  #end() {
    const { status, errorStep } = this.#told
    const works = [...this.#works.values()]
    const hasFailed = works.some(({ state }) => state === 'failed')
    if (status === 'failed' && !hasFailed) {
      const work = works.findLast(({ state, key }) => state === 'active' || key === errorStep)
      const failed = work ?? this.#latest
      if (failed) this.#set(failed, 'failed')
    }
    if (status === 'cancelled' && this.#latest && this.#latest.state !== 'failed')
      this.#set(this.#latest, 'cancelled')
    const rest = status === 'failed' || status === 'cancelled' ? 'cancelled' : 'done'
    for (const work of works) if (work.state === 'active') this.#set(work, rest)
  }
}

/** The final line of a deployment belongs to the step that it reached. */
const isVerdict = /^(?:Failed: |Cancelled\.$|Davit is stopping\.)/

const buildsService = /^Building the service (\S+)$/

/** BuildKit's work before and between the steps of a Dockerfile. */
const internal =
  /^(?:\[(?:internal|auth)\]|resolve image config|docker-image:|local:|importing |copy \/context)/

const titleOf = (name: string) => (/^exporting /.test(name) ? 'Export the image' : name)

/** `maxLines` limits a quote. `apart` is the distance up to which two errors belong together. */
const maxLines = 5
const apart = 3

/**
 * Quotes the last errors of a step's output that are close together, starting with the first of these.
 * Without an error, quotes the last lines.
 */
function quoteOf(output: Line[]): Line[] {
  const said = output.filter(({ text }) => text.trim() !== '')
  let at = said.findLastIndex(isError)
  if (at < 0) return said.slice(-3)
  for (let before = at - 1; before >= 0 && at - before <= apart; before--)
    if (isError(said[before]!)) at = before
  return said.slice(at, at + maxLines)
}

const isError = ({ text }: Line) => levelOf(text) === 'error'
