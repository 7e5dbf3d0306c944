import { expect, test } from 'bun:test'
import { LogGroups } from '../../src/deployments/log-groups.ts'
import type { Line } from '../../src/logs/log-line.tsx'

const start = Date.parse('2026-11-20T03:00:00Z')
const at = (seconds: number) => new Date(start + seconds * 1000).toISOString()
const origin = { deploymentId: '', container: '', process: '', replica: null }

/** Lines of one second each; `!` before those that a program wrote to stderr. */
const lines = (...texts: string[]): Line[] =>
  texts.map((text, index) => ({
    ...origin,
    sequence: index + 1,
    time: start + index * 1000,
    stream: text.startsWith('!') ? 'stderr' : 'system',
    text: text.replace('!', ''),
  }))

const steps = [
  { name: 'cloning', startedAt: at(0), finishedAt: at(1.5) },
  { name: 'building', startedAt: at(1.5), finishedAt: null },
]

const shown = (groups: LogGroups) =>
  (groups.takeChanged()?.groups ?? []).map(({ title, state, facts, ranges }) => ({
    title,
    state,
    facts,
    ranges,
  }))

const build = [
  'Cloning file:///x',
  'At commit 1',
  'Building Dockerfile with 3 files',
  '#1 [internal] load build definition',
  '#1 DONE 0.1s',
  '#2 [1/2] FROM busybox',
  '#3 [2/2] RUN make',
  '#2 DONE 0.4s',
  '!#3 make: *** [all] Error 1',
  '!#3 Error: no rule',
  '#3 ERROR: exit code: 1',
  'Failed: Build failed: the step failed.',
]

test('a log is parted into its steps, which may stand between each other, and the one that failed is known', () => {
  const groups = new LogGroups({ status: 'failed', steps, errorStep: 'building' })
  groups.take(lines(...build), { status: 'failed', steps, errorStep: 'building' })
  expect(groups.firstError).toBe(10)
  expect(groups.quote.map(({ text }) => text)).toEqual(['#3 Error: no rule'])
  expect(shown(groups)).toEqual([
    { title: 'Clone the repository', state: 'done', facts: '1.0 s', ranges: [[1, 2]] },
    { title: 'Prepare the build', state: 'done', facts: '2.0 s', ranges: [[3, 5]] },
    {
      title: '[1/2] FROM busybox',
      state: 'done',
      facts: '0.4 s',
      ranges: [
        [6, 6],
        [8, 8],
      ],
    },
    {
      title: '[2/2] RUN make',
      state: 'failed',
      facts: 'failed',
      ranges: [
        [7, 7],
        [9, 12],
      ],
    },
  ])
})

test('who follows gets what is new of each step, and never a success where there was none', () => {
  const told = { status: 'building', steps, errorStep: null } as const
  const groups = new LogGroups(told)
  const all = lines(...build.slice(0, 7))
  groups.take(all.slice(0, 6), told)
  groups.takeChanged()
  groups.take(all.slice(6), told)
  expect(shown(groups)).toEqual([
    { title: '[2/2] RUN make', state: 'active', facts: '', ranges: [[7, 7]] },
  ])
  groups.tell({ status: 'cancelled', steps, errorStep: null })
  expect(shown(groups).map(({ title, state }) => [title, state])).toEqual([
    ['[2/2] RUN make', 'cancelled'],
    ['[1/2] FROM busybox', 'cancelled'],
  ])
})

test('who follows an attempt that breaks off and is made again has its lines apart', () => {
  const told = { status: 'building', steps, errorStep: null } as const
  const groups = new LogGroups(told)
  groups.take(lines(...build.slice(0, 7)), told)
  expect(groups.takeChanged()).toMatchObject({ isWhole: true })
  const again = { ...told, steps: [{ name: 'cloning', startedAt: at(7.5), finishedAt: null }] }
  groups.tell(again)
  expect(groups.takeChanged()).toEqual({
    isWhole: true,
    groups: [
      {
        key: '',
        title: 'Before this attempt',
        state: 'done',
        isQuiet: false,
        facts: '6.0 s',
        ranges: [[1, 7]],
      },
    ],
  })
  groups.take(lines(...build, 'Cloning file:///x').slice(8, 10), again)
  expect(groups.takeChanged()).toMatchObject({
    isWhole: false,
    groups: [{ title: 'Clone the repository', state: 'active', ranges: [[9, 10]] }],
  })
  expect(groups.takeChanged()).toBeNull()
})

test('steps of the classic builder, a release and a start have groups of their own', () => {
  const all = [
    ...steps.map((step) => ({ ...step, finishedAt: at(3.5) })),
    { name: 'releasing', startedAt: at(4.5), finishedAt: at(5.5) },
    { name: 'deploying', startedAt: at(5.5), finishedAt: at(7) },
  ]
  const told = { status: 'running', steps: all, errorStep: null } as const
  const groups = new LogGroups(told)
  const texts = ['Cloning', 'At', 'Step 1/2 : FROM x', 'Step 2/2 : RUN y', '!out', 'up', 'Running']
  groups.take(lines(...texts), told)
  expect(shown(groups).map(({ title, state }) => [title, state])).toEqual([
    ['Clone the repository', 'done'],
    ['Step 1/2 : FROM x', 'done'],
    ['Step 2/2 : RUN y', 'done'],
    ['Run the release command', 'done'],
    ['Start the app', 'done'],
  ])
})

test('a deployment that was cancelled before it began, or wrote nothing, has nothing that looks done', () => {
  const told = { status: 'cancelled' as const, steps: [], errorStep: null }
  const groups = new LogGroups(told)
  groups.take(lines('Cancelled.'), told)
  expect(shown(groups).map(({ state }) => state)).toEqual(['cancelled'])
})

test('titles are plain and short, and a program that numbers its lines makes no endless list', () => {
  const told = { status: 'running', steps, errorStep: null } as const
  const groups = new LogGroups(told)
  const odd = `#5 \u001b[31mRUN\u001b[0m \u202e${'x'.repeat(1000)}`
  groups.take(
    lines('Cloning', 'At', odd, ...Array.from({ length: 2000 }, (_, at) => `#${at + 6} x`)),
    told,
  )
  const found = groups.takeChanged()!.groups
  expect(found.find(({ key }) => key === 'step 5')!.title).toMatch(/^RUN x{200,300}$/)
  expect(found.length).toBeLessThan(600)
  const count = found.flatMap(({ ranges }) => ranges).reduce((sum, [a, b]) => sum + b - a + 1, 0)
  expect(count).toBe(2003)
})

test('each service of a Compose file has steps of its own, though each build counts from one', () => {
  const told = { status: 'building', steps, errorStep: null } as const
  const groups = new LogGroups(told)
  const build = ['#1 [1/1] FROM busybox', '#1 DONE 0.2s']
  groups.take(
    lines(
      'Cloning file:///x',
      'At commit 1',
      'From compose.yaml: a (built from a), b (built from b)',
      'Building the service a',
      ...build,
      'Building the service b',
      ...build,
    ),
    told,
  )
  expect(shown(groups).map(({ title, state }) => [title, state])).toEqual([
    ['Clone the repository', 'done'],
    ['Prepare the build', 'done'],
    ['a: Prepare the build', 'done'],
    ['a: [1/1] FROM busybox', 'done'],
    ['b: Prepare the build', 'active'],
    ['b: [1/1] FROM busybox', 'done'],
  ])
})

test('an upload is read, and no repository is cloned', () => {
  const upload = { name: 'site' } as never
  const groups = new LogGroups({ status: 'failed', steps, errorStep: 'building', upload })
  groups.take(lines(...build), { status: 'failed', steps, errorStep: 'building', upload })
  expect(shown(groups)[0]).toMatchObject({ title: 'Read the uploaded files', ranges: [[1, 2]] })
})
