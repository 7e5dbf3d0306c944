import { EngineError } from '../../src/docker/index.ts'
import { Failure } from '../../src/platform/errors.ts'
import type { Pace } from './engine/docker.ts'
import type { Clock } from './engine/state.ts'
import { Random } from './random.ts'
import { world } from './world.ts'

/** How the calls of one order fare. */
export type Weather = {
  /** How likely a call fails by an error of the engine, or by its connection. */
  errors: number
  breaks: number
  /** How likely the answer to a change comes later than the change. */
  lateAnswers: number
  /** What the choice of the next call goes by. */
  choice: 'any' | 'oldest' | 'newest' | 'priority'
  /** How likely the clock moves while calls wait. */
  haste: number
}

export const calm: Weather = { errors: 0, breaks: 0, lateAnswers: 0, choice: 'oldest', haste: 0 }

type Turn = {
  call: string
  changes: boolean
  priority: number
  by: Connection
  /** Does what was asked for, and keeps the outcome. */
  act: () => void
  /** Undefined until it was done. */
  answer: (() => void) | undefined
  fail: (error: Error) => void
}

/** One Davit's way to the engine; cut off, nothing of it has an effect any more. */
export class Connection implements Pace {
  isCut = false
  readonly #schedule: Schedule
  readonly #waits = new Set<(error: Error) => void>()

  constructor(schedule: Schedule) {
    this.#schedule = schedule
  }

  hungUp = () => unreachable()

  turn<T>(
    call: string,
    { signal, changes = false }: { signal?: AbortSignal | undefined; changes?: boolean },
    work: () => T,
  ): Promise<T> {
    if (this.isCut) return Promise.reject(new Killed())
    if (signal?.aborted) return Promise.reject(signal.reason)
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    const turn: Turn = {
      call,
      changes,
      priority: this.#schedule.random.next(),
      by: this,
      act() {
        try {
          const value = work()
          turn.answer = () => resolve(value)
        } catch (error) {
          turn.answer = () => reject(error)
        }
      },
      answer: undefined,
      fail: reject,
    }
    this.#schedule.turns.push(turn)
    signal?.addEventListener('abort', () => {
      reject(signal.reason)
      // a change that was asked for may still come
      if (!changes || turn.answer || this.#schedule.random.chance(0.5)) this.#schedule.drop(turn)
    })
    return promise
  }

  wait<T>(
    { signal }: { signal?: AbortSignal | undefined },
    begin: (done: (value: T) => void, fail: (error: Error) => void) => () => void,
  ): Promise<T> {
    if (this.isCut) return Promise.reject(new Killed())
    if (signal?.aborted) return Promise.reject(signal.reason)
    return new Promise<T>((resolve, reject) => {
      const end = (error: Error) => {
        this.#waits.delete(end)
        giveUp()
        reject(error)
      }
      this.#waits.add(end)
      const giveUp = begin((value) => {
        this.#waits.delete(end)
        resolve(value)
      }, end)
      signal?.addEventListener('abort', () => end(signal.reason))
    })
  }

  /** Everything that is waited for over it ends. */
  breakWaits(error: () => Error = unreachable) {
    for (const end of [...this.#waits]) end(error())
  }
}

/** What a Davit that was killed is told by; nothing it does then counts. */
export class Killed extends Error {}

export const unreachable = () =>
  new Failure(
    'engine_unreachable',
    'The Docker Engine cannot be reached: the order says so.',
    'Wait.',
  )

/** Decides what happens next: which call is done, which answer comes, whether time goes on. */
export class Schedule implements Clock {
  turns: Turn[] = []
  /** Whether the engine is away: no call comes through. */
  isAway = false
  /** How many calls were taken up so far. */
  calls = 0
  /** Whether the last calls of a Davit that is cut off are done; by chance where it is null. */
  lastCallsAreDone: boolean | null = null
  /** What happened, in order. */
  readonly trace: string[] = []
  /** Faults that were injected, by their kind. */
  readonly faults = { errors: 0, breaks: 0 }
  readonly random: Random
  weather: Weather
  #events: { at: number; order: number; work: () => void }[] = []
  #order = 0

  constructor(random: Random, weather: Weather) {
    this.random = random
    this.weather = weather
  }

  // The engine's own clock: what its containers do goes on while no Davit runs.
  now = () => world.now
  after(milliseconds: number, work: () => void) {
    const event = { at: world.now + milliseconds, order: ++this.#order, work }
    this.#events.push(event)
    this.#events.sort((a, b) => a.at - b.at || a.order - b.order)
    return () => void (this.#events = this.#events.filter((other) => other !== event))
  }

  say(line: string) {
    this.trace.push(`${String(world.now % 100_000_000).padStart(8)} ${line}`)
  }

  drop(turn: Turn) {
    this.turns = this.turns.filter((other) => other !== turn)
  }

  /** When the next thing happens by itself. */
  get nextAt() {
    return Math.min(world.nextTimer, this.#events[0]?.at ?? Infinity)
  }

  /** Does one thing; false when nothing is left but to wait for a time after `until`. */
  async step({ until }: { until: number }) {
    const { random, weather } = this
    const isDue = this.nextAt <= world.now
    const mayTick = this.nextAt <= until && this.nextAt < Infinity
    if (
      this.turns.length > 0 &&
      !(isDue && random.chance(0.5)) &&
      !(mayTick && random.chance(weather.haste))
    ) {
      world.now += 1
      this.#advance(this.#choose())
    } else if (mayTick) this.#tick()
    else return false
    await world.settle()
    return true
  }

  #choose() {
    const { turns, random } = this
    switch (this.weather.choice) {
      case 'any':
        return random.pick(turns)
      case 'oldest':
        return turns[0]!
      case 'newest':
        return turns.at(-1)!
      case 'priority':
        return turns.reduce((best, turn) => (turn.priority > best.priority ? turn : best))
    }
  }

  #tick() {
    const [event] = this.#events
    if (event && event.at <= world.nextTimer) {
      this.#events.shift()
      world.now = Math.max(world.now, event.at)
      event.work()
    } else world.fireNext()
  }

  #advance(turn: Turn) {
    const { random, weather } = this
    this.calls++
    if (turn.answer) return this.#finish(turn, 'answers')
    if (this.isAway) return this.#fail(turn, 'away', unreachable())
    if (random.chance(weather.errors)) {
      this.faults.errors++
      return this.#fail(turn, 'error', new EngineError(500, 'the order says that this fails'))
    }
    if (random.chance(weather.breaks)) {
      this.faults.breaks++
      if (turn.changes && random.chance(0.5)) turn.act()
      return this.#fail(turn, turn.answer ? 'done, but broke' : 'broke', unreachable())
    }
    turn.act()
    if (turn.changes && random.chance(weather.lateAnswers)) {
      turn.priority = random.next()
      this.say(`${turn.call}: done`)
    } else this.#finish(turn, 'done, answers')
  }

  #finish(turn: Turn, how: string) {
    this.say(`${turn.call}: ${how}`)
    this.drop(turn)
    turn.answer!()
  }

  #fail(turn: Turn, how: string, error: Error) {
    this.say(`${turn.call}: ${how}`)
    this.drop(turn)
    turn.fail(error)
  }

  /** Cuts a Davit off: of what it asked for last some is done, but no answer comes. */
  cut(connection: Connection) {
    connection.isCut = true
    for (const turn of this.turns.filter(({ by }) => by === connection)) {
      const isDone = this.lastCallsAreDone ?? this.random.chance(0.5)
      if (turn.changes && !turn.answer && !this.isAway && isDone) {
        turn.act()
        this.say(`${turn.call}: done, for nobody`)
      }
      this.drop(turn)
      turn.fail(new Killed())
    }
    connection.breakWaits(() => new Killed())
  }
}
