import { describe, expect, test } from 'bun:test'
import type { Facts } from '../../../src/containers/clean-up/store.ts'
import type { PruneKind } from '../../../src/containers/clean-up/kinds.ts'
import { isTickedByDefault } from '../../../src/containers/clean-up/kinds.ts'
import { planPrune } from '../../../src/containers/clean-up/plan.ts'
import type { CacheEntry, UsedContainer, UsedImage } from '../../../src/docker/index.ts'
import { firstServer } from '../../../src/platform/root.ts'

const now = new Date('2026-05-04T12:00:00Z')
const idle = { containerIds: new Set<string>(), keptIds: new Set<string>(), busy: false }
const facts = (changes: Partial<Facts> = {}): Facts => ({
  instanceId: 'me',
  layersSize: 0,
  images: [],
  containers: [],
  volumes: [],
  buildCache: [],
  networks: [],
  deployed: new Map([['served', new Set(['container-served'])]]),
  ...changes,
  needs: {
    projects: new Map([['p', 'site']]),
    environments: new Map([
      ['e', { ...idle, name: 'site production', containerIds: new Set(['container-served']) }],
      ['busy', { ...idle, name: 'site staging', busy: true }],
    ]),
    services: new Map([['s', 'database']]),
    inWork: new Set(['building']),
    images: new Map([['davit/p:kept', 'site production can be rolled back to it']]),
    ...changes.needs,
  },
})

const image = (changes: Partial<UsedImage>): UsedImage => ({
  id: 'sha256:1',
  tags: ['davit/p:old'],
  labels: { 'davit.instance': 'me', 'davit.kind': 'build', 'davit.environment': 'e' },
  createdAt: now,
  size: 100,
  sharedSize: 40,
  ...changes,
})

const container = (changes: Partial<UsedContainer>): UsedContainer => ({
  ...{ serverId: firstServer, id: 'c', name: 'one' },
  imageId: 'sha256:1',
  labels: {},
  state: 'exited',
  createdAt: now,
  size: 7,
  networks: [],
  volumes: [],
  image: 'app:1',
  status: 'Exited (0) 2 hours ago',
  health: null,
  exitCode: 0,
  addresses: {},
  ports: [],
  ...changes,
})

const app = { 'davit.instance': 'me', 'davit.kind': 'app', 'davit.environment': 'e' }

/** What is decided on the only thing of that kind: its owner, and whether it goes, may go or stays. */
function verdict(kind: PruneKind, of: Facts) {
  const { candidates, kept } = planPrune(of, [kind], now)
  const [thing] = [...candidates, ...kept]
  const fate = kept.length > 0 ? 'stays' : isTickedByDefault(thing!) ? 'goes' : 'may go'
  return `${fate}: ${thing!.reason}`
}

describe('an image', () => {
  const cases: [string, Partial<Facts>, string][] = [
    ['of Davit’s beyond those kept', { images: [image({})] }, 'goes: older than'],
    [
      'kept for rollback',
      { images: [image({ tags: ['davit/p:kept'] })] },
      'stays: site production',
    ],
    [
      'kept for rollback, that someone named too',
      { images: [image({ tags: ['mine:1', 'davit/p:kept'] })] },
      'stays: site production',
    ],
    [
      'being built',
      { images: [image({ labels: { ...image({}).labels, 'davit.deployment': 'building' } })] },
      'stays: its deployment',
    ],
    [
      'of a container',
      { images: [image({})], containers: [container({})] },
      'stays: the container',
    ],
    ['untagged', { images: [image({ tags: [] })] }, 'goes: untagged'],
    [
      'of an environment that is gone',
      { images: [image({ labels: { 'davit.instance': 'me', 'davit.environment': 'gone' } })] },
      'goes: its environment was deleted',
    ],
    ['that someone built from ours', { images: [image({ tags: ['mine:1'] })] }, 'may go: no cont'],
    ['of others', { images: [image({ tags: ['redis:7'], labels: {} })] }, 'may go: no container'],
    ['of others, untagged', { images: [image({ tags: [], labels: {} })] }, 'may go: untagged'],
    ['of Caddy', { images: [image({ tags: ['caddy:2'], labels: {} })] }, 'stays: Davit uses it'],
    [
      'of another Davit',
      { images: [image({ labels: { 'davit.instance': 'you' } })] },
      'stays: it belongs to another Davit',
    ],
  ]
  test.each(cases)('%s', (_, changes, expected) => {
    expect(verdict('images', facts(changes))).toStartWith(expected)
  })

  test('gives back what no other image has too', () => {
    const { candidates } = planPrune(facts({ images: [image({})] }), ['images'])
    expect(candidates).toMatchObject([{ name: 'davit/p:old', bytes: 60, owner: 'davit' }])
  })
})

describe('a container', () => {
  const build = { 'davit.instance': 'me', 'davit.kind': 'build' }
  const service = { 'davit.instance': 'me', 'davit.kind': 'service', 'davit.service': 's' }
  const cases: [string, Partial<UsedContainer>, string][] = [
    [
      'of an app, stopped by its owner',
      { id: 'container-served', labels: { ...app, 'davit.deployment': 'served' } },
      'stays: site production is running in it',
    ],
    [
      'that another took the place of',
      { labels: { ...app, 'davit.deployment': 'before' } },
      'goes: site production now runs in another',
    ],
    [
      'that another took the place of, and that runs',
      { state: 'running', labels: { ...app, 'davit.deployment': 'before' } },
      'stays: it is running',
    ],
    [
      'that a deployment makes',
      { state: 'created', labels: { ...app, 'davit.deployment': 'building' } },
      'stays: its deployment',
    ],
    [
      'beside a deployment at work',
      { labels: { ...app, 'davit.environment': 'busy', 'davit.deployment': 'before' } },
      'stays: a deployment to site staging',
    ],
    [
      'with the labels of an app, made by hand',
      { labels: { ...app, 'davit.deployment': 'served' } },
      'may go: started by hand',
    ],
    [
      'of a deployment that nobody knows',
      { labels: { ...app, 'davit.deployment': 'of a backup' } },
      'may go: its deployment is unknown',
    ],
    [
      'of an environment that is gone',
      { labels: { ...app, 'davit.environment': 'gone' } },
      'goes: its environment was deleted',
    ],
    ['of a service, stopped', { labels: service }, 'stays: it is part of the service database'],
    [
      'of a service that is gone',
      { labels: { ...service, 'davit.service': 'gone' } },
      'goes: its service was deleted',
    ],
    ['left by a build', { labels: build }, 'goes: left over from a build'],
    ['of a build at work', { labels: build, state: 'running' }, 'stays: it is running'],
    [
      'started by hand from an image of ours',
      { labels: build, imageId: 'sha256:ours' },
      'may go: started by hand',
    ],
    ['that serves Davit', { labels: { ...build, 'davit.kind': 'edge' } }, 'stays: it serves Davit'],
    ['of a backup', { labels: { ...build, 'davit.kind': 'backup' } }, 'goes: left over from a b'],
    ['of others, stopped', {}, 'may go: it isn’t running'],
    ['of others, running', { state: 'running' }, 'stays: it is running'],
    ['of others, paused', { state: 'paused' }, 'stays: it is running'],
    ['of others, restarting', { state: 'restarting' }, 'stays: it is running'],
    [
      'of another Davit',
      { labels: { ...app, 'davit.instance': 'you' } },
      'stays: it belongs to another',
    ],
  ]
  test.each(cases)('%s', (_, changes, expected) => {
    const deployed = new Map([
      ['served', new Set(['container-served'])],
      ['before', new Set<string>()],
    ])
    const images = [image({ id: 'sha256:ours' })]
    const containers = [container(changes)]
    expect(verdict('containers', facts({ containers, images, deployed }))).toStartWith(expected)
  })
})

const ours = (labels: Record<string, string>) => ({ 'davit.instance': 'me', ...labels })

describe('a network', () => {
  const network = { id: 'n', name: 'net', driver: 'bridge', isEncrypted: false, subnets: [] }
  const cases: [string, Record<string, string>, Partial<typeof network>, string][] = [
    ['of a project', ours({ 'davit.project': 'p' }), {}, 'stays: it is the network of site'],
    ['of a project that is gone', ours({ 'davit.project': 'gone' }), {}, 'goes: its project'],
    ['of a service', ours({ 'davit.service': 's' }), {}, 'stays: it is the network of the service'],
    ['of backups', ours({ 'davit.kind': 'backup' }), {}, 'goes: the next backup'],
    ['of others', {}, {}, 'may go: no container'],
    ['of another Davit', { 'davit.instance': 'you' }, {}, 'stays: it belongs to another'],
    ['of the engine', {}, { name: 'bridge' }, 'stays: it is Docker’s own'],
    ['of a swarm', {}, { driver: 'overlay' }, 'stays: containers on other machines'],
    ['that a stopped container is joined to', {}, { name: 'joined' }, 'stays: the container one'],
  ]
  test.each(cases)('%s', (_, labels, changes, expected) => {
    const networks = [{ ...network, ...changes, labels }]
    const containers = [container({ networks: ['joined'] })]
    expect(verdict('networks', facts({ networks, containers }))).toStartWith(expected)
  })
})

describe('a volume', () => {
  const cases: [string, Record<string, string>, string][] = [
    ['of an environment', ours({ 'davit.environment': 'e' }), 'stays: it is data of site prod'],
    ['of a service', ours({ 'davit.service': 's' }), 'stays: it is data of the service database'],
    ['whose app is gone', ours({ 'davit.environment': 'gone' }), 'may go: its owner was'],
    ['of others', {}, 'may go: no container uses it'],
    ['of another Davit', { 'davit.instance': 'you' }, 'stays: it belongs to another'],
    ['of Caddy', ours({ 'davit.kind': 'edge' }), 'stays: it contains the certificates of domains'],
    ['of backups', ours({ 'davit.kind': 'backup' }), 'may go: a cache'],
  ]
  test.each(cases)('%s', (_, labels, expected) => {
    const volumes = [{ name: 'v', labels, size: 3 }]
    expect(verdict('volumes', facts({ volumes }))).toStartWith(expected)
  })

  test('that a stopped container mounts', () => {
    const volumes = [{ name: 'v', labels: {}, size: 3 }]
    const containers = [container({ volumes: ['v'] })]
    expect(verdict('volumes', facts({ volumes, containers }))).toStartWith('stays: the container')
  })
})

describe('the build cache', () => {
  const entry = (changes: Partial<CacheEntry>): CacheEntry => ({
    id: 'a',
    parents: [],
    type: 'regular',
    description: 'mount / from exec /bin/sh -c make',
    inUse: false,
    shared: false,
    size: 5,
    lastUsedAt: new Date('2026-05-04T09:00:00Z'),
    ...changes,
  })
  const plan = (...buildCache: CacheEntry[]) =>
    planPrune(facts({ buildCache }), ['build_cache'], now)

  test('goes when asked for, and says what it was and when it was of use', () => {
    const { candidates } = plan(entry({}))
    expect(candidates).toMatchObject([
      { name: 'make', bytes: 5, owner: 'builder', reason: 'last used 3 h ago', idle: false },
    ])
    expect(isTickedByDefault(candidates[0]!)).toBe(true)
  })

  test('is idle after a day', () => {
    const lastUsedAt = new Date('2026-05-03T11:59:59Z')
    expect(plan(entry({ lastUsedAt })).candidates).toMatchObject([{ idle: true }])
  })

  test('stays where a build or an image needs it, and all that this was made from', () => {
    const { candidates, kept } = plan(
      entry({ id: 'a' }),
      entry({ id: 'b', parents: ['a'] }),
      entry({ id: 'c', parents: ['b'], inUse: true }),
      entry({ id: 'd', parents: ['a'] }),
      entry({ id: 'e', shared: true }),
    )
    expect(candidates.map(({ id }) => id)).toEqual(['d'])
    expect(kept.map(({ id }) => id).toSorted()).toEqual(['a', 'b', 'c', 'e'])
  })

  test('goes in the order in which it can: what was made from others before them', () => {
    const { candidates } = plan(
      entry({ id: 'a' }),
      entry({ id: 'b', parents: ['a'] }),
      entry({ id: 'c', parents: ['b'] }),
      entry({ id: 'x', parents: ['x'] }),
    )
    const order = candidates.map(({ id }) => id).filter((id) => id !== 'x')
    expect(order).toEqual(['c', 'b', 'a'])
  })
})

test('only the kinds that were asked for are looked at', () => {
  const all = { images: [image({})], containers: [container({ imageId: 'other' })] }
  expect(planPrune(facts(all), ['images']).candidates.map(({ kind }) => kind)).toEqual(['images'])
})
