import { describe, expect, onTestFinished, test } from 'bun:test'
import { CheckWatch, settle } from '../../src/deployments/checks.ts'
import { environments, events } from '../../src/db/schema.ts'
import { getStatus } from '../../src/deployments/store.ts'
import { Scheduler } from '../../src/platform/scheduler.ts'
import { simulatedApp, withAda } from '../support/app.ts'
import { TestClock } from '../support/clock.ts'
import { until } from '../support/until.ts'
import { hmacOf, inbox, post } from '../webhooks/senders.ts'
import { cancel, finished, logOf } from './apps.ts'
import { minute, passed, signal, waiting } from './waiting.ts'

describe.each(['github', 'gitlab', 'gitea'] as const)('at %s', (kind) => {
  test('a pushed commit waits until its checks have passed, and is deployed then', async () => {
    const { ada, project, push, check, later, get, deliver } = await waiting(kind)
    const { id, commit, deployment } = await push('first')
    expect(deployment).toMatchObject({ status: 'waiting', trigger: 'webhook', checks: null })
    const left = Date.parse(deployment.waitUntil) - Date.now()
    expect([left > 59 * minute, left <= 60 * minute]).toEqual([true, true])

    await later(0)
    expect(await get(id)).toMatchObject({ status: 'waiting', checks: { passed: 0, pending: [] } })
    check(commit, 'build', 'success', { isStatus: true })
    check(commit, 'test', 'pending')
    check(commit, 'davit/other', 'failure', { isStatus: true })
    await later(minute)
    expect((await get(id)).checks).toMatchObject({ passed: 1, pending: ['test'], failed: [] })
    const page = await ada.page(`/projects/${project.id}/deployments/${id}`)
    expect(page.text).toContain('Not ended: test.')

    check(commit, 'test', 'success')
    const { reason } = await deliver(...passed(kind, commit))
    expect(reason).toContain(commit.slice(0, 7))
    await later(5_000) // sooner than without the event
    expect((await get(id)).status).toBe('waiting') // the next check may be about to begin
    await later(10_000)
    const ended = await finished(ada, { ...deployment })
    expect(ended).toMatchObject({ status: 'running', commit: { hash: commit } })
    expect(ended.checks).toMatchObject({ passed: 2, pending: [], failed: [] })
    const log = (await logOf(ada, ended)).join('\n')
    expect(log).toContain('2 checks passed.')
    expect((await ada.page(`/projects/${project.id}/deployments/${id}`)).text).toContain('Checks')
  })
})

describe('a commit that waits', () => {
  test('fails with its check, by name, its owner is told once, and later greens change nothing', async () => {
    const { t, ada, push, check, later, get } = await waiting()
    const { id, commit } = await push('first')
    check(commit, 'lint', 'failure')
    await later(0)
    expect(await get(id)).toMatchObject({
      ...{ status: 'failed', error: { step: 'waiting', code: 'checks_failed' } },
    })
    expect((await get(id)).error.message).toContain('lint')
    check(commit, 'lint', 'success')
    await later(minute)
    expect((await get(id)).status).toBe('failed')
    expect(t.db.select().from(events).all()).toMatchObject([
      { kind: 'deployment_failed', level: 'failure', ownerId: ada.user.id },
    ])
    expect((await cancel(ada, await get(id))).status).toBe(409)
  })

  test('isn’t deployed where its environment is deleted while the provider is asked', async () => {
    const { t, push, check, later, get } = await waiting()
    const { id, commit } = await push('first')
    check(commit, 'test', 'success')
    await later(0)
    const looking = later(settle)
    t.db.update(environments).set({ deletingAt: new Date() }).run()
    await looking
    expect((await get(id)).status).toBe('waiting')
  })

  test('is cancelled with the jobs of an owner whose account is disabled', async () => {
    const { t, ada, push } = await waiting()
    const { id } = await push('first')
    const root = t.logInAsAdmin('root@example.com')
    const { status } = await root.put(`/settings/users/${ada.user.id}`, { disabled: true })
    expect(status).toBe(200)
    await root.put(`/settings/users/${ada.user.id}`, { disabled: false })
    expect(getStatus(t.db, id)).toBe('cancelled')
  })

  test('isn’t deployed by a green that turns red, or back to pending, within the pause', async () => {
    const { push, check, later, get } = await waiting()
    const { id, commit } = await push('first')
    check(commit, 'test', 'success')
    await later(0)
    check(commit, 'more', 'pending')
    await later(10_000)
    expect((await get(id)).status).toBe('waiting')
    check(commit, 'more', 'success')
    await later(minute)
    expect((await get(id)).status).toBe('waiting') // green for the first time again
    check(commit, 'more', 'failure')
    await later(10_000)
    expect(await get(id)).toMatchObject({ status: 'failed', error: { code: 'checks_failed' } })
  })

  test('gives up after an hour, with what is missing', async () => {
    const { push, check, later, get } = await waiting()
    const { id, commit } = await push('first')
    check(commit, 'slow', 'pending')
    await later(59 * minute)
    expect((await get(id)).status).toBe('waiting')
    await later(2 * minute)
    expect(await get(id)).toMatchObject({
      ...{ status: 'failed', error: { step: 'waiting', code: 'checks_timeout' } },
    })
    expect((await get(id)).error.message).toContain('slow')
  })

  test('is asked for by nothing that an event says: a forged green deploys nothing', async () => {
    const { t, push, later, get, deliver, project } = await waiting()
    const { id, commit } = await push('first')
    await later(0)
    const event = { action: 'completed', check_suite: { head_sha: commit, conclusion: 'success' } }
    await deliver(event, 'check_suite')
    await later(5_000)
    await later(10_000)
    expect((await get(id)).status).toBe('waiting')

    const foreign = await deliver({ check_suite: { head_sha: 'f'.repeat(40) } }, 'check_suite')
    expect(foreign.reason).toContain('no commit that waits')
    for (const sha of ['', 7, null, '--upload-pack=x', 'x'.repeat(40), { sha: commit }])
      expect(
        (await deliver({ check_suite: { head_sha: sha } }, 'check_suite')).deployments,
      ).toEqual([])
    const body = JSON.stringify({ ...event, repository: { full_name: project.repository } })
    const headers = { 'X-GitHub-Event': 'check_suite', 'Content-Type': 'application/json' }
    const unsigned = await post(t, {
      ...{ path: '/webhooks/github', body },
      headers: {
        ...headers,
        'X-Hub-Signature-256': `sha256=${hmacOf(body, 'another secret of 16')}`,
      },
    })
    expect(unsigned.status).toBe(401)
    // they would crowd the pushes out of the inbox
    expect(inbox(t, project.id).map(({ event }) => event)).toEqual(['push'])
  })

  test('is replaced by a newer push, and by a deployment by hand, but not the one that is queued', async () => {
    const { t, ada, push, check, later, get, project } = await waiting()
    const first = await push('first')
    const second = await push('second')
    expect((await get(first.id)).status).toBe('superseded')
    const { json: manual } = await ada.post(`/projects/${project.id}/deployments`)
    expect((await get(second.id)).status).toBe('superseded')
    await finished(ada, manual)
    await t.jobs.idle()

    // a newer commit whose checks fail must not take the place of an older one whose checks passed
    t.jobs.wake = () => {}
    const third = await push('third')
    check(third.commit, 'test', 'success')
    await later(0)
    await later(10_000)
    expect((await get(third.id)).status).toBe('pending')
    const fourth = await push('fourth')
    expect([(await get(third.id)).status, (await get(fourth.id)).status]).toEqual([
      ...['pending', 'waiting'],
    ])
    check(fourth.commit, 'test', 'success')
    await later(minute)
    await later(10_000)
    expect([(await get(third.id)).status, (await get(fourth.id)).status]).toEqual([
      ...['superseded', 'pending'],
    ])
  })

  test('can be cancelled, and goes on after a restart of Davit', async () => {
    const { t, ada, push, check, later, get } = await waiting()
    const { id, commit } = await push('first')
    const cancelled = await cancel(ada, await get(id))
    expect([cancelled.status, (await get(id)).status]).toEqual([200, 'cancelled'])
    await later(minute)
    expect((await get(id)).status).toBe('cancelled')

    const next = await push('second')
    check(next.commit, 'test', 'success')
    expect(commit).not.toBe(next.commit)
    const restarted = new CheckWatch(t.deps)
    const now = Date.now() + 1000
    await restarted.look({ signal }, now)
    await restarted.look({ signal }, now + 10_000)
    expect(await finished(ada, await get(next.id))).toMatchObject({ status: 'running' })
  })

  test('doesn’t wait for as long as the clock is put back', async () => {
    const { t, push, check, get } = await waiting()
    const { id, commit } = await push('first')
    check(commit, 'test', 'pending')
    const clock = new TestClock(new Date().toISOString())
    const stop = new AbortController()
    onTestFinished(() => stop.abort())
    void new CheckWatch({ ...t.deps, scheduler: new Scheduler(clock) }).run(stop)
    await clock.pass(0)
    await until(async () => (await get(id)).checks?.pending.length === 1)
    check(commit, 'test', 'success')
    clock.set(new Date(clock.now() - 60 * minute).toISOString())
    await clock.pass(minute)
    await until(async () => (await get(id)).checks.passed === 1)
    await clock.pass(settle)
    await until(async () => (await get(id)).status !== 'waiting')
  })

  test('starts when the environment no longer waits', async () => {
    const { ada, push, later, get, set } = await waiting()
    const { id } = await push('first')
    await set({ waitForChecks: false })
    await later(0)
    expect(await finished(ada, await get(id))).toMatchObject({ status: 'running' })
  })

  test('waits on, with the reason, while the provider can’t be asked', async () => {
    const { ada, server, push, check, later, get, project } = await waiting()
    const { id, commit } = await push('first')
    server.mode = 'down'
    await later(0)
    expect(await get(id)).toMatchObject({ status: 'waiting', checks: { passed: 0 } })
    expect((await get(id)).checks.problem).toContain('internal error')
    server.mode = 'limit'
    await later(minute)
    expect((await get(id)).checks.problem).toContain('rate limit')
    server.mode = 'answer'
    check(commit, 'test', 'success')
    await later(minute)
    expect((await get(id)).status).toBe('waiting') // not before the limit is over
    await later(10 * minute)
    await later(10_000)
    expect(await finished(ada, await get(id))).toMatchObject({ status: 'running' })

    const next = await push('second')
    await ada.put(`/projects/${project.id}`, {
      ...{ repositoryUrl: 'https://git.example.com/team/site.git', sourceId: null },
    })
    await later(minute)
    expect(await get(next.id)).toMatchObject({
      ...{ status: 'failed', error: { code: 'checks_unknown' } },
    })
  })
})

test('changed settings can be applied meanwhile, and the commit waits on', async () => {
  const { t, ada, push, check, later, get, project } = await waiting()
  const path = `/projects/${project.id}/deployments`
  const { json: first } = await ada.post(path, { branch: 'main' })
  expect(first.status).toBe('pending')
  await t.jobs.idle()
  const { id, commit } = await push('first')
  const { json: manual } = await ada.post(path)
  await finished(ada, manual)
  const next = await push('second')
  const { json: applied } = await ada.post(path, { reuseImage: true })
  expect(await finished(ada, applied)).toMatchObject({ status: 'running', imageOf: manual.id })
  expect([(await get(id)).status, (await get(next.id)).status]).toEqual(['superseded', 'waiting'])
  check(next.commit, 'test', 'success')
  expect(commit).not.toBe(next.commit)
  await later(0)
  await later(10_000)
  await finished(ada, await get(next.id))
  await t.jobs.idle()
  expect([(await get(next.id)).status, (await get(applied.id)).status]).toEqual([
    ...['running', 'superseded'],
  ])
})

test('only pushes wait: a person and a pipeline deploy at once', async () => {
  const { ada, push, get, project } = await waiting()
  const { id, commit } = await push('first')
  const { json: token } = await ada.post('/settings/tokens', {
    ...{ name: 'ci', scopes: ['deploy'], projectId: project.id },
  })
  expect(token.token).toBeString()
  const { json } = await ada.post(`/projects/${project.id}/deployments`, { branch: 'main', commit })
  expect(json.status).toBe('pending')
  expect((await get(id)).status).toBe('superseded')
})

test('waiting is refused where no provider can be asked', async () => {
  const { ada } = withAda(simulatedApp())
  const repositoryUrl = 'https://git.example.com/team/site.git'
  for (const origin of [{ repositoryUrl }, { image: 'nginx:1.29' }]) {
    const { json } = await ada.post('/projects', { name: Bun.randomUUIDv7(), ...origin })
    const path = `/projects/${json.id}/envs`
    const env = (await ada.get(path)).json.items[0]
    for (const answer of [
      await ada.put(`${path}/${env.id}`, { waitForChecks: true }),
      await ada.post(path, { name: 'other', waitForChecks: true }),
    ])
      expect([answer.status, answer.json.errors?.[0].field]).toEqual([422, 'waitForChecks'])
  }
})
