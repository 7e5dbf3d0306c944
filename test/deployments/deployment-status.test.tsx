import { expect, test } from 'bun:test'
import type { deployments, environments, projects } from '../../src/db/schema.ts'
import { DeploymentStatus } from '../../src/deployments/deployment-page.tsx'
import { canRollBackTo } from '../../src/deployments/rollback.ts'
import { WatchPanel } from '../../src/deployments/watch/panel.tsx'
import type { WatchView } from '../../src/deployments/watch/view.ts'
import type { Line } from '../../src/logs/log-line.tsx'
import { deploymentStatuses } from '../../src/deployments/store.ts'
import { commitTitle, deploymentTitle } from '../../src/projects/deployment-list.tsx'

type Deployment = typeof deployments.$inferSelect

test('an active deployment can be cancelled', () => {
  for (const status of ['pending', 'cloning', 'building', 'deploying'] as const) {
    const html = draw({ status })
    expect(html).toContain('action="/projects/p/deployments/d/cancel"')
    expect(html).not.toContain('Deploy again')
  }
})

test('one that has ended can be deployed again', () => {
  for (const status of ['running', 'failed', 'cancelled', 'superseded', 'stopped'] as const) {
    expect(draw({ status }).match(/Deploy again/g)).toHaveLength(1)
    expect(draw({ status })).toMatch(/name="no_cache" value="1"[^]*Deploy without cache/)
  }
})

test('the step that a cancel ended is not shown as done', () => {
  const [startedAt, finishedAt] = ['2026-11-22T10:00:00.000Z', '2026-11-22T10:00:18.000Z']
  const steps = ['cloning', 'building'].map((name) => ({ name, startedAt, finishedAt }))
  const marks = [...draw({ status: 'cancelled', steps }).matchAll(/data-progress="(\w+)"/g)]
  expect(marks.map(([, mark]) => mark)).toEqual(['done', 'cancelled', 'waiting'])
})

test('what reuses an image has no steps that build one', () => {
  const [startedAt, finishedAt] = ['2026-11-22T10:00:00.000Z', '2026-11-22T10:00:18.000Z']
  const steps = [{ name: 'deploying' as const, startedAt, finishedAt }]
  const names = (values: Partial<Deployment>) =>
    [...draw({ steps, ...values }).matchAll(/class="step-name">(\w+)/g)].map(([, name]) => name)
  expect(names({ imageOf: 'earlier' })).toEqual(['Deploy'])
  expect(names({ imageOf: 'earlier', trigger: 'rollback' })).toEqual(['Deploy'])
  expect(names({})).toEqual(['Clone', 'Build', 'Deploy'])
  const pulls = { pullReference: 'nginx:1.29' }
  expect(names(pulls)).toEqual(['Pull', 'Deploy'])
  expect(names({ ...pulls, imageOf: 'earlier' })).toEqual(['Deploy'])
})

test('a cancel that was asked for is not asked for twice', () => {
  expect(draw({ status: 'building' }, { isCancelling: true })).toMatch(/disabled[^>]*>\s*Cancel/)
})

test('deployments with an image offer a rollback, except the live one, stopped or not', () => {
  for (const status of deploymentStatuses) {
    const offered =
      !['running', 'stopped'].includes(status) && canRollBackTo(deployment({ status }))
    expect(draw({ status }).includes('Roll back to this'), status).toBe(offered)
    expect(draw({ status, image: null })).not.toContain('Roll back')
  }
  expect(draw({ status: 'superseded' })).toContain('Roll back to this')
})

test('the address is a link while the app runs', () => {
  expect(draw({ status: 'running' })).toContain('href="http://127.0.0.1:20001"')
  expect(draw({ status: 'superseded' })).not.toContain('href="http:')
})

test('a failure is reported with its step, code and hint, as text', () => {
  const html = draw({
    status: 'failed',
    errorStep: 'building',
    errorCode: 'no_dockerfile',
    errorMessage: 'There is no <Dockerfile>.',
    errorHint: 'Add one.',
  })
  expect(html).toContain('Failed while building')
  expect(html).toContain('no_dockerfile')
  expect(html).toContain('There is no &lt;Dockerfile&gt;.')
  expect(html).toContain('Add one.')
})

test('a failure offers the one action that helps', () => {
  const failed = (errorCode: string, errorStep = 'deploying') =>
    draw({ status: 'failed', errorStep, errorCode })
  expect(failed('base_image_not_found', 'building')).toContain('href="/settings/registries"')
  expect(failed('unknown_branch', 'cloning')).toContain('href="/projects/p/settings"')
  expect(failed('no_answer')).toContain('href="/projects/p/envs/e/edit"')
  expect(failed('command_not_found')).toContain('href="/projects/p/envs/e/edit"')
  expect(failed('command_not_found', 'building')).not.toContain('/edit"')
  expect(failed('build_command_failed', 'building').match(/Deploy again/g)).toHaveLength(1)
})

test('a failure quotes the lines of the log that say why, each with a way to it', () => {
  const line = {
    ...origin,
    sequence: 7,
    time: 0,
    stream: 'stderr',
    text: '#8 npm ERR! <b>',
  } as const
  const html = draw({ status: 'failed', errorCode: 'killed' }, { quote: [line] })
  expect(html).toContain('<a href="#L7">npm ERR! &lt;b&gt;</a>')
})

test('steps show what is done, what goes on and what broke off', () => {
  const at = '2026-03-10T12:00:00.000Z'
  const cloned = { name: 'cloning', startedAt: at, finishedAt: '2026-03-10T12:00:01.400Z' }
  const building = { name: 'building', startedAt: at, finishedAt: null }
  const progress = (values: Partial<Deployment>) =>
    [...draw(values).matchAll(/data-progress="(\w+)"/g)].map(([, word]) => word)
  expect(progress({ status: 'building', steps: [cloned, building] })).toEqual([
    'done',
    'active',
    'waiting',
  ])
  expect(progress({ status: 'failed', errorStep: 'building', steps: [cloned, building] })).toEqual([
    'done',
    'failed',
    'waiting',
  ])
  expect(progress({ status: 'pending', trigger: 'rollback' })).toEqual(['waiting'])
  expect(draw({ status: 'building', steps: [cloned, building] })).toContain('1.4 s')
})

test('a deployment is titled with its number, project and environment', () => {
  const of = { project: { name: 'Hello' }, environment: { name: 'production' } }
  expect(deploymentTitle({ number: 12 }, of)).toBe('Deployment #12 · Hello / production')
})

test('a deployment is known by its commit, until there is one by its branch', () => {
  expect(commitTitle(deployment({}))).toBe('Say hello')
  expect(commitTitle(deployment({ commitMessage: null }))).toBe('Commit 0a1b2c3')
  expect(commitTitle(deployment({ commitMessage: null, commitHash: null }))).toBe('Branch main')
  expect(
    commitTitle(deployment({ commitMessage: null, commitHash: null, trigger: 'rollback' })),
  ).toBe('Rollback')
})

test.each([
  ['failed', 'not found'],
  ['superseded', 'unknown'],
  ['cancelled', 'unknown'],
  ['cloning', 'not known yet'],
] as const)('of one that is %s a commit that isn’t known is %s', (status, said) => {
  const words = draw({ status, commitHash: null, commitMessage: null }).match(
    /not found|unknown|not known yet/g,
  )
  expect(words).toEqual([said])
})

const project = { id: 'p', name: 'shop', image: null } as typeof projects.$inferSelect
const environment = {
  id: 'e',
  projectId: 'p',
  name: 'production',
  releaseCommand: null,
} as typeof environments.$inferSelect

const deployment = (values: Partial<Deployment>) =>
  ({
    id: 'd',
    projectId: 'p',
    environmentId: 'e',
    number: 12,
    status: 'running',
    trigger: 'manual',
    imageOf: null,
    pullReference: null,
    branch: 'main',
    commitHash: '0a1b2c3d4e5f60718293a4b5c6d7e8f901234567',
    commitAuthor: 'Grace',
    commitMessage: 'Say hello',
    image: 'davit/shop:d',
    steps: [],
    errorStep: null,
    downtimeMs: null,
    createdAt: new Date(),
    finishedAt: null,
    ...values,
  }) as Deployment

const origin = { deploymentId: '', container: '', process: '', replica: null }

const draw = (
  values: Partial<Deployment>,
  { isCancelling = false, quote = [] }: { isCancelling?: boolean; quote?: Line[] } = {},
) =>
  (
    <DeploymentStatus
      {...{ project, environment, isCancelling }}
      origin={null}
      rest={undefined}
      promotedTo={[]}
      watch={null}
      url="http://127.0.0.1:20001"
      deployment={deployment(values)}
      quote={quote}
    />
  ).toString()

test('of the requests that failed in a watch the most frequent ones are shown, and how many more', () => {
  const of = { requests: 0, errors: 0, p50: null, p95: null, restarts: null, memory: null }
  const requests = Array.from({ length: 12 }, (_, at) => ({
    ...{ status: 500, method: 'GET', path: `/${at}`, count: 1 },
  }))
  const view: WatchView = {
    ...{ number: 2, until: null, end: 'stopped', why: null, on: ['crash'], lines: [], share: null },
    ...{ before: null, requests, current: of, previous: of },
  }
  const html = String(<WatchPanel view={view} path="/x" />)
  expect(html.match(/GET \/\d+/g)).toHaveLength(10)
  expect(html).toContain('and 2 more')
})
