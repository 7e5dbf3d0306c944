import { expect, test } from 'bun:test'
import { insertDeployment, logOf, moveDeployment } from '../../src/deployments/store.ts'
import type { Deployment } from '../../src/deployments/store.ts'
import { testApp } from '../support/app.ts'
import { openPage } from '../support/browser.ts'
import { everything } from '../support/everything.ts'
import { listening } from '../support/listening.ts'
import { aSession } from '../support/session.ts'

const steps = ['cloning', 'building'].map((name) => ({
  name: name as 'cloning',
  startedAt: '2026-11-20T03:00:00.000Z',
  finishedAt: '2026-11-20T03:00:10.000Z',
}))

const failure: Partial<Deployment> = {
  status: 'failed',
  finishedAt: new Date(),
  errorStep: 'building',
  errorCode: 'build_command_failed',
  errorMessage: 'Build failed: the command `npm run build` ended with exit code 1.',
  errorHint: `Look at the last lines of the step that failed${', and run the same command on your own machine'.repeat(3)}.`,
}

/** A browser in front of a deployment with a log of 300 lines, of which the last are errors. */
async function opened(values: Partial<Deployment>, env: Record<string, string> = {}) {
  const t = testApp(env, { jobsWait: true })
  const root = t.logInAsAdmin()
  const { project, environment, container } = await everything(t, root)
  const deployment = insertDeployment(t.db, {
    ...{ projectId: project, environmentId: environment, trigger: 'manual' },
    ...{ triggeredBy: 'ada@example.com', repositoryUrl: 'https://git.example.com/team/site.git' },
    ...{ commitHash: '3f2a91c07be4d5a6'.padEnd(40, '0'), commitMessage: 'Sell boats '.repeat(9) },
    ...{ branch: 'main', steps, status: 'building', ...values },
  })
  const lines = Array.from({ length: 300 }, (_, at) => ({
    time: Date.parse('2026-11-20T03:00:05Z'),
    stream: 'stdout' as const,
    text: `#4 1.0 ${at < 297 ? `package ${at + 1}` : `npm error line ${at + 1}`}`,
  }))
  t.logs.write(logOf(deployment), lines)
  const server = listening(t)
  const url = `http://127.0.0.1:${server.port}`
  const { page, complaints } = await openPage(url)
  await page.context().addCookies([{ name: 'svc_session', value: aSession(t, root.user.id), url }])
  const path = `/projects/${project}/deployments/${deployment.id}`
  const output = `/projects/${project}/envs/${environment}/output`
  const paths = { path, output, container: `/containers/${container}` }
  /** Another tab of the same person. */
  const another = async () => {
    const storageState = await page.context().storageState()
    const browser = page.context().browser()!
    return await (await browser.newContext({ baseURL: url, storageState })).newPage()
  }
  return { t, server, page, another, complaints, deployment, ...paths }
}

test('the log begins near the top of a deployment’s page and fills it, its newest lines in view', async () => {
  const { page, path, complaints } = await opened({})
  await page.setViewportSize({ width: 1280, height: 800 })
  await page.goto(path)
  await page.locator('#L300').waitFor()
  const box = (await page.locator('.log-scroller').boundingBox())!
  expect(box.y).toBeLessThan(300)
  expect(box.y + box.height).toBeGreaterThan(770)
  expect(box.y + box.height).toBeLessThanOrEqual(800)
  const last = (await page.locator('#L300').boundingBox())!
  expect(last.y + last.height).toBeLessThanOrEqual(box.y + box.height)
  expect(complaints).toEqual([])
})

test('a failure is short on a phone: what, two decisive lines, the action; the rest unfolds', async () => {
  const { page, path, complaints } = await opened(failure)
  await page.setViewportSize({ width: 390, height: 800 })
  await page.goto(path)
  await page.locator('#L300').waitFor()
  const failed = page.locator('.failure')
  expect((await failed.boundingBox())!.height).toBeLessThan(260)
  expect(await failed.locator('.quote .line:visible').count()).toBe(2)
  await failed.getByRole('button', { name: 'Deploy again' }).waitFor()
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390)
  await failed.locator('summary').click()
  await failed.locator('.quote .line:visible').nth(2).waitFor()
  expect(await failed.locator('.quote .line:visible').count()).toBe(3)
  await failed.getByRole('link', { name: 'What this means' }).waitFor()
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390)
  expect(complaints).toEqual([])
})

test('a deployment that was cancelled before its page was open shows its whole log, and no success', async () => {
  const { page, path, complaints } = await opened({ status: 'cancelled', finishedAt: new Date() })
  const streams: string[] = []
  page.on('request', (request) => {
    if (request.url().includes('live=')) streams.push(request.url())
  })
  await page.goto(path)
  await page
    .locator('[data-log-state]')
    .getByText(/^300 lines$/)
    .waitFor()
  await page.evaluate("location.hash = '#L1'")
  await page.locator('#L1.selected').getByText('package 1').waitFor()
  expect(await page.locator('.step[data-progress=cancelled]').innerText()).toContain('Build')
  expect(await page.locator('.status-line').innerText()).toContain('Cancelled')
  expect(await page.getByRole('button', { name: 'Pause' }).isVisible()).toBe(false)
  expect(streams).toEqual([])
  expect(complaints).toEqual([])
})

test('a cancel that the page hears of ends the log without a success', async () => {
  const { t, page, path, deployment, complaints } = await opened({})
  await page.goto(path)
  const state = page.locator('[data-log-state]')
  await state.getByText('Following').waitFor()
  const finishedAt = new Date()
  const { id } = deployment
  moveDeployment(t.db, { id, from: ['building'], status: 'cancelled', finishedAt })
  t.logs.publish(id, { status: 'cancelled' })
  await page.locator('.status-line').getByText('Cancelled').waitFor()
  await state.getByText(/^300 lines$/).waitFor()
  await page.locator('.step[data-progress=cancelled]', { hasText: 'Build' }).waitFor()
  await page.locator('.fold[data-state=cancelled]').waitFor()
  expect(await page.getByText('Running', { exact: true }).count()).toBe(0)
  expect(complaints).toEqual([])
})

test('no log says that it is followed once Davit is gone', async () => {
  const { server, page, another, path, output, container } = await opened({})
  const tabs = [page, await another(), await another()]
  for (const [at, address] of [path, output, container].entries()) {
    await tabs[at]!.goto(address)
    await tabs[at]!.locator('[data-log-state]').getByText('Following').waitFor()
  }
  await server.stop(true)
  for (const tab of tabs) {
    const state = tab.locator('[data-log-state]')
    await state.getByText('Connection lost. Reconnecting…').waitFor()
    expect(await state.textContent()).not.toContain('Following')
  }
})

test('a tab over the limit of streams says that it isn’t live, and offers to reload', async () => {
  const { page, another, path, output } = await opened({}, { DAVIT_STREAMS_PER_USER: '1' })
  await page.goto(path)
  await page.locator('[data-log-state]').getByText('Following').waitFor()
  const list = await another()
  const log = await another()
  await list.goto('/projects')
  const notice = list.locator('#not-live')
  await notice.getByText('too many tabs of Davit are open').waitFor()
  await log.goto(output)
  await log.locator('[data-log-state]').getByText('Not live').waitFor()
  await log.locator('#not-live').getByRole('link', { name: 'reload this page' }).waitFor()
  await log.close()
  await notice.getByRole('link', { name: 'reload this page' }).click()
  await notice.getByText('too many tabs').waitFor()
  await page.close()
  await notice.waitFor({ state: 'hidden' }) // it has tried again
})
