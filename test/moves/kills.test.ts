import { expect, onTestFinished, test } from 'bun:test'
import type { Docker } from '../../src/docker/index.ts'
import { firstServer } from '../../src/platform/root.ts'
import { getMove } from '../../src/runtime/move-store.ts'
import { resume } from '../../src/serve.ts'
import { until } from '../support/until.ts'
import { second, twoServers } from './scene.ts'

/** Calls that change something at an engine, but for networks and images: two processes in one share their locks. */
const changing = /^(create|start|stop|remove|put|run|set)(?!Network)/

type Deadly = { at: number; isBefore: boolean }

/** A process that dies at its nth change of an engine, before or after that is done: it does nothing more. */
function mortal({ at, isBefore }: Deadly) {
  const life = { isArmed: false, isDead: false, calls: 0, names: [] as string[] }
  const died = Promise.withResolvers<void>()
  const never = () => new Promise<never>(() => {})
  const wrap = (docker: Docker) =>
    new Proxy(docker, {
      get(whole, name: keyof Docker) {
        const call = whole[name]
        if (typeof call !== 'function') return call
        const run = call as (...args: never[]) => unknown
        if (!changing.test(name)) return life.isDead ? never : run
        return async (...args: never[]) => {
          if (life.isDead) return never()
          if (!life.isArmed) return run(...args)
          life.names.push(name)
          const isLast = ++life.calls === at
          const die = () => {
            life.isDead = true
            died.resolve()
            return never()
          }
          if (isLast && isBefore) return die()
          const answer = await run(...args)
          return isLast || life.isDead ? die() : answer
        }
      },
    })
  return { life, wrap, died: died.promise }
}

type Kind = 'service' | 'environment'

async function killedAt(kind: Kind, deadly: Deadly) {
  const { life, wrap, died } = mortal(deadly)
  const s = await twoServers({ kind, wrap, atEnd: () => {} }) // its jobs never end
  life.isArmed = true
  const asked = s.ada.post(s.path, { server: 'server2' }).catch(() => null)
  const moved = asked.then(() => s.t.jobs.idle()).then(() => 'moved' as const)
  const end = await Promise.race([died.then(() => 'killed' as const), moved])
  if (end === 'moved') return null
  life.isDead = true
  const { db, logDb } = s.t
  const next = s.start((docker) => docker, { db, logDb })
  const stop = new AbortController()
  const background = resume(next.deps, { signal: stop.signal })
  onTestFinished(async () => {
    stop.abort()
    await Promise.allSettled(background)
  })
  const step = `${life.names.at(-1)} ${life.calls} ${deadly.isBefore}`
  /** Where something may have been written to the copies. */
  const isKept = () => {
    const { status, leftUntil } = getMove(db, s.subject.id)!
    return status === 'failed' && leftUntil !== null
  }
  await until(async () => {
    await next.jobs.idle()
    const { up, leftOn, pinned } = s.state()
    const left = pinned === second ? firstServer : isKept() ? second : null
    return up[0]! + up[1]! === 2 && leftOn === left
  }, 30).catch(() => {
    throw new Error(`Killed at ${step}: ${JSON.stringify(s.state())}`)
  })
  return { ...s, step, names: life.names, isKept: isKept() }
}

test.each<Kind>(['service', 'environment'])(
  'a %s that is moved by a Davit that is killed at any step runs, the old one or the new one, with all of its data',
  async (kind) => {
    const seen = new Set<string>()
    for (const isBefore of [true, false])
      for (let at = 1; ; at++) {
        const killed = await killedAt(kind, { at, isBefore })
        if (killed === null) break
        const { all, state, step, names, isKept } = killed
        const { up, volumes, live, pinned } = state()
        const isMoved = pinned === second
        seen.add(names.at(-1)!)
        if (isKept) seen.add('kept')
        const copies = isMoved || isKept ? all : []
        expect([step, up, volumes, live]).toEqual(
          isMoved
            ? [step, [0, 2], [all, copies], [second]]
            : [step, [2, 0], [all, copies], [firstServer]],
        )
      }
    expect(seen).toContain('runPiped')
    expect(seen).toContain('stopContainer')
    expect(seen).toContain('kept')
  },
  600_000,
)
