import { expect, test } from 'bun:test'
import { insertDeployment } from '../../src/deployments/store.ts'
import { aProject } from '../deployments/apps.ts'
import { testApp, withAda } from '../support/app.ts'
import { openAs } from '../support/browser.ts'

const signal = new AbortController().signal

async function aWatchingProject() {
  const { t, ada } = withAda(testApp({}, { jobsWait: true }))
  const files = { Dockerfile: 'FROM busybox', 'src/a.ts': '1', 'src/b.ts': '2', 'docs/x.md': '3' }
  const project = await aProject(t, ada, files)
  const path = `/projects/${project.id}/watched-files`
  const look = (patterns: string[]) =>
    ada.get(`${path}?${new URLSearchParams({ watch_paths: patterns.join('\n') })}`)
  const deploy = async () => {
    const { repositoryUrl } = (await ada.get(`/projects/${project.id}`)).json
    const what = { url: repositoryUrl, branch: 'main', commit: null, signal, log: () => {} }
    const { commit } = await t.deps.git.fetch(what)
    const of = { projectId: project.id, environmentId: project.environmentId, repositoryUrl }
    insertDeployment(t.db, {
      ...of,
      trigger: 'manual',
      triggeredBy: 'ada',
      commitHash: commit.hash,
    })
    return commit.hash
  }
  return { t, ada, path, settings: `/projects/${project.id}/settings`, look, deploy }
}

test('the form shows which files of the last commit each watched path matches', async () => {
  const { ada, path, look, deploy } = await aWatchingProject()
  const unknown = { refusal: null, count: null, files: [] }
  expect((await look(['src'])).json).toEqual({
    commit: null,
    items: [{ pattern: 'src', ...unknown }],
  })
  const commit = await deploy()
  const { json } = await look(['src/{a,c}.ts', 'nothing', '**', 'src, docs'])
  expect(json).toMatchObject({
    commit,
    items: [
      { pattern: 'src/{a,c}.ts', refusal: null, count: 1, files: ['src/a.ts'] },
      { pattern: 'nothing', refusal: null, count: 0, files: [] },
      { pattern: '**', count: 4, files: ['Dockerfile', 'docs/x.md', 'src/a.ts'] },
      { pattern: 'src, docs', refusal: expect.stringContaining('one path or pattern per line') },
    ],
  })
  expect((await look([])).json.items).toEqual([])
  const part = await ada.htmx('GET', `${path}?watch_paths=src%0Anothing`)
  expect(part.text).toContain('<code>src</code> matches 2 files')
  expect(part.text).toContain('<strong>matches no file</strong>')
})

test('no one else’s files are shown', async () => {
  const { t, path, deploy } = await aWatchingProject()
  await deploy()
  const other = t.logIn('bob@example.com')
  expect((await other.get(`${path}?watch_paths=src`)).status).toBe(404)
})

test('opened by its address without any paths, the page says that every push deploys', async () => {
  const { ada, path, settings } = await aWatchingProject()
  const { text } = await ada.page(path)
  const main = /<main[^>]*>(.*)<\/main>/s.exec(text)![1]!
  expect(main).toContain(`href="${settings}"`)
  expect(main).toMatch(/<p>[^<]+<\/p>/)
})

test('a stored path that is refused today is complained of in its field', async () => {
  const { t, ada, settings } = await aWatchingProject()
  t.db.$client.run(`UPDATE projects SET watch_paths = '["src/**, lib/**"]'`)
  const page = await ada.page(settings)
  expect(page.text).toMatch(/id="field-watch_paths-error"[^>]*>[^<]*src\/\*\*, lib\/\*\*/)
})

test('what a pattern matches is shown while it is typed', async () => {
  const { t, ada, settings, deploy } = await aWatchingProject()
  await deploy()
  const { page, complaints } = await openAs(t, ada.user)
  await page.goto(settings)
  const field = page.locator('[name=watch_paths]')
  await field.pressSequentially('src/**\nlib')
  await page.getByText('matches 2 files: src/a.ts, src/b.ts').waitFor()
  await page.getByText('matches no file').waitFor()
  await field.fill('src, docs')
  await page.getByText('has “,”').waitFor()
  await field.fill('')
  await page.getByText('In the last commit').waitFor({ state: 'detached' })
  expect(complaints).toEqual([])
})
