import { describe, expect, onTestFinished, test } from 'bun:test'
import { providers } from '../../../src/git/providers/registry.ts'
import type { ProviderName } from '../../../src/git/providers/registry.ts'
import { summaryOf } from '../../../src/deployments/checks.ts'

const commit = 'c'.repeat(40)

type Answer = (page: number) => unknown

/** Asks a server that answers these paths below its API, with pages. */
async function asked(kind: ProviderName, answers: Record<string, Answer>) {
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch(request) {
      const { pathname, searchParams } = new URL(request.url)
      const path = Object.keys(answers).find((end) => pathname.endsWith(end))
      if (!path) return Response.json({ message: 'Not Found' }, { status: 404 })
      return Response.json(answers[path]!(Number(searchParams.get('page') ?? 1)))
    },
  })
  onTestFinished(() => void server.stop(true))
  const baseUrl = `http://127.0.0.1:${server.port}`
  const { signal } = new AbortController()
  const access = { baseUrl, token: 'x', allow: ['127.0.0.1'], signal }
  const found = await providers[kind].listChecks(access, { repository: 'team/app', commit })
  return found.map(({ name, state }) => `${name} ${state}`)
}

/** The list on the first page, nothing on the others. */
const once =
  (of: (items: unknown[]) => unknown, ...items: unknown[]): Answer =>
  (page) =>
    of(page === 1 ? items : [])
const statuses = (items: unknown[]) => ({ state: 'pending', total_count: 9, statuses: items })
const runs = (items: unknown[]) => ({ total_count: 9, check_runs: items })

describe('the states that are documented', () => {
  test('of GitHub: check runs by their conclusion, and statuses', async () => {
    const run = (status: string, conclusion: string | null) => ({
      ...{ name: conclusion ?? status, status, conclusion, app: { slug: 'github-actions' } },
    })
    const ended = [
      ...['success', 'neutral', 'skipped', 'failure', 'cancelled', 'timed_out'],
      ...['action_required', 'stale', 'startup_failure', 'of the future'],
    ].map((conclusion) => run('completed', conclusion))
    const going = ['queued', 'in_progress', 'waiting', 'requested', 'pending']
    const found = await asked('github', {
      '/check-runs': once(runs, ...ended, ...going.map((status) => run(status, null))),
      '/status': once(
        statuses,
        ...['success', 'failure', 'error', 'pending'].map((state) => ({ context: 'ci', state })),
      ),
    })
    expect(found).toEqual([
      ...['success success', 'neutral success', 'skipped success', 'failure failure'],
      ...['cancelled failure', 'timed_out failure', 'action_required failure', 'stale failure'],
      ...['startup_failure failure', 'of the future pending'],
      ...going.map((status) => `${status} pending`),
      ...['ci success', 'ci failure', 'ci failure', 'ci pending'],
    ])
  })

  test('of Gitea and Forgejo', async () => {
    const all = ['success', 'warning', 'skipped', 'failure', 'error', 'pending']
    const found = await asked('gitea', {
      '/status': once(statuses, ...all.map((status) => ({ context: status, status }))),
    })
    expect(found).toEqual([
      ...['success success', 'warning success', 'skipped success'],
      ...['failure failure', 'error failure', 'pending pending'],
    ])
    expect(await asked('gitea', { '/status': () => ({ statuses: null }) })).toEqual([])
  })

  test('of GitLab: what may fail or is started by hand doesn’t count', async () => {
    const job = (status: string, allow_failure = false, id = 0) => ({
      ...{ id, name: `${status}${allow_failure ? ' allowed' : ''}`, status, allow_failure },
    })
    const all = [
      ...['created', 'waiting_for_resource', 'preparing', 'pending', 'running', 'scheduled'],
      ...['success', 'skipped', 'failed', 'canceled', 'manual'],
    ]
    const optional = ['failed', 'canceled', 'manual', 'running']
    const jobs = [...all.map((s) => job(s)), ...optional.map((s) => job(s, true))]
    const found = await asked('gitlab', {
      '/statuses': () => jobs.map((one, id) => ({ ...one, id })),
    })
    expect(found).toEqual([
      ...all.slice(0, 6).map((status) => `${status} pending`),
      ...['success success', 'skipped success', 'failed failure', 'canceled failure'],
      ...['manual pending', 'failed allowed success', 'canceled allowed success'],
      ...['manual allowed success', 'running allowed pending'],
    ])
  })
})

test('every page is read; a commit with endless ones is never finished', async () => {
  const page = (number: number) =>
    Array.from({ length: 3 }, (_, i) => ({ context: `${number}.${i}`, status: 'success' }))
  const three = await asked('gitea', { '/status': (n) => statuses(n <= 3 ? page(n) : []) })
  expect(three).toBeArrayOfSize(9)
  const endless = await asked('gitea', { '/status': (n) => statuses(page(n)) })
  expect(endless.at(-1)).toEndWith('pending')
  expect(endless).toBeArrayOfSize(31)
})

describe('a summary', () => {
  const of = (...all: [name: string, state: 'pending' | 'success' | 'failure'][]) =>
    summaryOf(all.map(([name, state]) => ({ name, state })))

  test('is green when there are checks and all passed, without Davit’s own', () => {
    expect(of().isGreen).toBe(false)
    expect(of(['davit/production', 'success']).isGreen).toBe(false)
    expect(of(['build', 'success'], ['davit/staging', 'failure']).isGreen).toBe(true)
    expect(of(['build', 'success'], ['test', 'pending']).isGreen).toBe(false)
    expect(of(['build', 'success'], ['test', 'failure']).checks).toEqual({
      ...{ passed: 1, pending: [], failed: ['test'], problem: null },
    })
  })

  test('has short names on one line, and few of them', () => {
    const { checks } = of(
      ['a\n\u202eb\u0000' + 'c'.repeat(500), 'failure'],
      ...Array.from({ length: 30 }, (_, i): [string, 'pending'] => [`${i}`, 'pending']),
    )
    expect(checks.failed[0]!.length).toBeLessThanOrEqual(100)
    expect(checks.failed[0]).toStartWith('a b ')
    expect(checks.pending).toBeArrayOfSize(21)
    expect(checks.pending.at(-1)).toBe('10 more')
  })
})
