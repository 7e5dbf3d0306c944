import { expect, onTestFinished, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { testApp, withAda } from '../support/app.ts'
import { commitFiles, makeRepository, startGitServer } from '../support/git-server.ts'
import { openAs } from '../support/browser.ts'

test('the form of a project looks at the repository while it is typed, and takes its name', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'davit-look-'))
  const git = startGitServer(folder)
  onTestFinished(() => {
    git.stop()
    rmSync(folder, { recursive: true, force: true })
  })
  commitFiles(makeRepository(folder, 'billing.git'), { 'deploy/Dockerfile': 'FROM busybox' })
  const t = testApp()
  const { user } = t.logIn('ada@example.com')
  const { page, complaints } = await openAs(t, user)

  await page.goto('/projects/new')
  const name = page.locator('[name=name]')
  await page.locator('[name=repository_url]').pressSequentially(`${git.url}billing.git`)
  expect(await name.inputValue()).toBe('billing')
  await page.getByText('Found: one branch').waitFor()
  await page.getByRole('radio', { name: 'deploy' }).waitFor()
  expect(await page.locator('datalist option[value=main]').count()).toBe(1)

  await name.fill('invoices')
  await page.fill('[name=repository_url]', `${git.url}none.git`)
  await page.getByText('There is no repository at').waitFor()
  expect(await name.inputValue()).toBe('invoices')
  expect(complaints).toEqual([])
})

test('the repository is asked what it is once that part of the settings comes into view', async () => {
  const { t, ada } = withAda(testApp())
  const repositoryUrl = 'https://git.example.com/team/site.git'
  const { json: project } = await ada.post('/projects', { name: 'site', repositoryUrl })
  const { page } = await openAs(t, ada.user)
  const asked: string[] = []
  page.on('request', (request) => asked.push(new URL(request.url()).pathname))
  await page.setViewportSize({ width: 1280, height: 600 })
  await page.goto(`/projects/${project.id}/settings`)
  const look = page.waitForRequest(`**/projects/${project.id}/detection`)
  await page.evaluate('new Promise((done) => setTimeout(done))') // htmx has set its observers up
  expect(asked).not.toContain(`/projects/${project.id}/detection`)
  await page.getByRole('heading', { name: 'Without a Dockerfile' }).scrollIntoViewIfNeeded()
  await look
})
