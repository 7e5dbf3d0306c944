import { levelOf } from '../logs/level.ts'
import type { Line } from '../logs/log-line.tsx'
import { plainText } from '../web/ansi.ts'
import { duration } from '../web/times.tsx'
import { quoteOf } from './quote.ts'
import { isEnded } from './store.ts'
import type { Deployment } from './store.ts'

type State = 'active' | 'done' | 'failed' | 'cancelled'

/** What of a deployment says which of its steps a line belongs to, and how they ended. */
type Told = Pick<Deployment, 'status' | 'steps' | 'errorStep'>

/** Lines of a log that fold together: those of one step, which others may stand between. */
export type Group = {
  key: string
  title: string
  state: State
  /** Whether it is of the builder's own doing, which few read. */
  isQuiet: boolean
  /** Such as `3.4 s` or `cached`. */
  facts: string
  /** Sequences of lines, each from the first to the last. */
  ranges: [number, number][]
}

export type Changed = { isWhole: boolean; groups: Group[] }

/** Lines of its end that are kept to be quoted. */
const kept = 40

/** Steps that are told apart, and characters of a title: an odd program can print any number of them. */
const most = { steps: 500, title: 300 }

class Work {
  readonly title: string
  state: State = 'active'
  /** As the builder told it. */
  took: string | null = null
  first: number | null = null
  last = 0
  ranges: [number, number][] = []
  /** What its programs wrote last. */
  output: Line[] = []

  constructor(
    readonly key: string,
    title: string,
    readonly isQuiet = false,
  ) {
    this.title = plainText(title.slice(0, most.title))
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
  building: 'Prepare the build',
  releasing: 'Run the release command',
  deploying: 'Start the app',
}

/** Parts the log of a deployment into its steps: what BuildKit numbers, and what Davit does itself. */
export class LogGroups {
  /** The sequence of the first line that is an error. */
  firstError: number | null = null
  readonly #works = new Map<string, Work>()
  /** Those that changed since that was asked, each with the ranges of lines that it was given by then. */
  readonly #changed = new Set<Work>()
  #isWhole = true
  /** Keys of BuildKit's steps by their numbers. */
  readonly #steps = new Map<string, string>()
  #phase = -1
  /** The step of the classic builder at work. */
  #classic: string | null = null
  #latest: Work | null = null
  #told: Told
  /** When the attempt began that `#told` is of. */
  #began: string | undefined
  #lines: { first: Line; last: Line } | null = null

  constructor(told: Told) {
    this.#told = told
  }

  /** The deployment may have come further. */
  tell(told: Told) {
    this.#hear(told)
    if (isEnded(told.status)) this.#end()
  }

  take(lines: Line[], told: Told) {
    this.#hear(told)
    for (const line of lines) this.#take(line)
    this.tell(told)
  }

  /**
   * The groups that are new or have changed since the last call, with the lines that they got since; null
   * without any. Where it is whole there are no others.
   */
  takeChanged(): Changed | null {
    if (this.#changed.size === 0) return null
    const changed = { isWhole: this.#isWhole, groups: [...this.#changed].map(({ group }) => group) }
    for (const work of this.#changed) work.ranges = []
    this.#changed.clear()
    this.#isWhole = false
    return changed
  }

  /** What the step that failed wrote of the cause. */
  get quote(): Line[] {
    const failed = [...this.#works.values()].findLast(({ state }) => state === 'failed')
    return failed ? quoteOf(failed.output) : []
  }

  #hear(told: Told) {
    const began = told.steps[0]?.startedAt ?? this.#began
    const isAnother = this.#began !== undefined && began !== this.#began
    this.#told = told
    this.#began = began
    if (isAnother) this.#beginAgain()
  }

  /** Another attempt has begun: the lines so far are one group. */
  #beginAgain() {
    this.#works.clear()
    this.#steps.clear()
    this.#changed.clear()
    this.#phase = -1
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
    for (const work of this.#works.values()) if (work.state === 'active') this.#set(work, 'done')
    this.#phase = at
    this.#classic = null
  }

  get #phaseName() {
    return this.#told.steps[this.#phase]?.name ?? ''
  }

  #workOf(line: Line): Work {
    if (line.stream === 'system' && isVerdict.test(line.text))
      return this.#latest ?? this.#ofPhase()
    if (this.#phaseName !== 'building') return this.#ofPhase()
    const [, number, rest] = /^#(\d+) (.*)$/s.exec(line.text) ?? []
    if (number !== undefined) return this.#ofBuildKit(number, rest!)
    const step = line.stream === 'system' ? /^Step \d+\/\d+ : .*/.exec(line.text)?.[0] : undefined
    if (step) {
      const before = this.#classic === null ? undefined : this.#works.get(this.#classic)
      if (before) this.#set(before, 'done')
      this.#classic = step
    }
    return this.#classic === null ? this.#ofPhase() : this.#work(this.#classic, this.#classic)
  }

  #ofPhase() {
    const name = this.#phaseName
    return this.#work(name, phases[name] ?? name, name === 'building')
  }

  #ofBuildKit(number: string, rest: string): Work {
    const known = this.#steps.get(number)
    const isPart = internal.test(rest) || this.#steps.size >= most.steps
    const key = known ?? (isPart ? 'building' : `step ${number}`)
    if (this.#steps.size < most.steps) this.#steps.set(number, key)
    const work = key === 'building' ? this.#ofPhase() : this.#work(key, titleOf(rest))
    if (known === undefined) this.#set(work, 'active')
    else if (/^ERROR: /.test(rest)) this.#set(work, 'failed')
    else if (rest === 'CANCELED') this.#set(work, 'cancelled')
    else if (rest === 'CACHED') this.#finish(work, 'cached')
    else if (/^DONE [\d.]+s$/.test(rest))
      this.#finish(work, duration(Number(rest.slice(5, -1)) * 1000))
    return work
  }

  /** Of what is several steps in one, none says how long it took. */
  #finish(work: Work, took: string) {
    if (work.key !== 'building') work.took = took
    if (work.state === 'active') this.#set(work, 'done')
  }

  #work(key: string, title: string, isQuiet = false) {
    return this.#works.getOrInsertComputed(key, () => new Work(key, title, isQuiet))
  }

  #set(work: Work, state: State) {
    work.state = state
    this.#changed.add(work)
  }

  /** What was at work when it ended has failed with it, was cancelled, or is done. */
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

/** What Davit writes last, of the step that it came to. */
const isVerdict = /^(?:Failed: |Cancelled\.$|Davit is stopping\.)/

/** What BuildKit does before and beside the steps of a Dockerfile. */
const internal =
  /^(?:\[(?:internal|auth)\]|resolve image config|docker-image:|local:|importing |copy \/context)/

const titleOf = (name: string) => (/^exporting /.test(name) ? 'Export the image' : name)
