import { expect, test } from 'bun:test'
import type { Docker } from '../../src/docker/index.ts'
import { listServers } from '../../src/servers/store.ts'
import { endLeftSwarm } from '../../src/servers/swarm.ts'
import { copiesOf } from '../support/databases.ts'
import { aPair, twoMachines } from './machines.ts'

type Pair = ReturnType<typeof twoMachines>
type Operation = {
  /** Before Davit is killed. */
  prepare?: (s: Pair) => Promise<unknown>
  /** Of the Davit that runs: the same again after the kill. */
  act: (s: Pair) => Promise<{ status: number }>
  isJoined: boolean
}

const { signal } = new AbortController()

/** Calls that are answered by what goes on, not once. */
const isStream = (name: keyof Docker) => /^(events|logSnapshot)$/.test(name)

/** Kills Davit at its call of that number, counted from the operation on. Null when there are fewer. */
async function killedAt(at: number, isDone: boolean, { prepare, act }: Operation) {
  let count = -Infinity
  let left: ReturnType<typeof copiesOf> | undefined
  const pair = aPair()
  const s = twoMachines(
    {},
    {
      pair,
      over: (name, call) =>
        isStream(name)
          ? call
          : async (...args) => {
              if (left) throw new Error('killed') // nothing that it still does counts
              if (++count !== at) return call(...args)
              if (isDone) await call(...args)
              left = copiesOf(s.t.deps)
              throw new Error('killed')
            },
    },
  )
  await prepare?.(s)
  count = 0
  await act(s)
  if (!left) return null
  const admin = 'another@example.com'
  const next = twoMachines({}, { pair, ...left, secrets: s.t.deps.secrets, admin })
  await endLeftSwarm(next.t.deps, { signal })
  return next
}

/** Where a join by a code comes from; each Davit knows the code that its predecessor made. */
let code = ''
const joinByCode = async ({ t }: Pair) => {
  const machine = t.logIn(`machine${crypto.randomUUID()}@example.com`)
  const nodeId = 'node 10.0.0.2'
  const check = await machine.post('/auth/join/check', { code, nodeId })
  if (check.json.hasJoined) return check
  const place = { address: '10.0.0.2', sshPort: 22, hostKey: 'ssh-ed25519 AAAA' }
  return machine.post('/auth/join', { code, ...place })
}

const joined = async (s: Pair) => {
  await s.add()
  for (const { id } of listServers(s.t.db)) s.t.engines.setAway({ serverId: id }, false)
}

const operations: [string, Operation][] = [
  ['a join over ssh', { isJoined: true, act: (s) => s.add() }],
  [
    'a join by a code',
    {
      isJoined: true,
      prepare: async (s) =>
        void ({ code } = (
          await s.root.post('/settings/servers', { name: 'two', address: '10.0.0.2' })
        ).json),
      act: joinByCode,
    },
  ],
  [
    'a removal',
    {
      isJoined: false,
      prepare: joined,
      act: async (s) => {
        const server = listServers(s.t.db)[1]
        if (!server) return { status: 200 }
        s.t.engines.setAway({ serverId: server.id }, false)
        return s.root.delete(`/settings/servers/${server.id}`)
      },
    },
  ],
]

test.each(operations)(
  'Davit is killed at each call of %s: its next start and another try end well',
  async (_, operation) => {
    for (const isDone of [false, true])
      for (let at = 1; ; at++) {
        const s = await killedAt(at, isDone, operation)
        if (!s) {
          expect(at).toBeGreaterThan(5)
          break
        }
        const { own, other, t } = s
        const known = listServers(t.db)
        expect([at, isDone, known.length > 0]).toEqual([at, isDone, own.state.isMember])
        expect([0, 2]).toContain(known.length)

        const again = await operation.act(s)
        expect([at, isDone, again.status < 300]).toEqual([at, isDone, true])
        const names = operation.isJoined ? ['one', 'two'] : []
        expect(listServers(t.db).map(({ name }) => name)).toEqual(names)
        const { isJoined } = operation
        expect([own.state.isMember, other.state.isMember]).toEqual([isJoined, isJoined])
        expect([...own.nodes.keys()]).toEqual(isJoined ? ['node 10.0.0.2'] : [])
      }
  },
)
