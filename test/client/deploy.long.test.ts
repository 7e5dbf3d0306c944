import { expect, test } from 'bun:test'
import { gzipSync } from 'bun'
import { asToken } from '../accounts/visitor.ts'
import { finished } from '../deployments/apps.ts'
import { aTar } from '../git/tars.ts'
import { collect } from '../logs/collecting.ts'
import { testApp } from '../support/app.ts'
import { until } from '../support/until.ts'
import { withServerOf } from './laptop.ts'

test('a folder is uploaded, built and answers, changes, and is rolled back', async () => {
  const t = testApp()
  collect(t)
  const { ada, project, davit, write, git, kept } = await withServerOf(t)
  const textAt = async (url: string) => (await fetch(url.trim())).text()

  const first = await davit(['deploy'])
  expect([first.status, first.stderr]).toEqual([0, expect.stringContaining('Running at')])
  expect(await textAt(first.stdout)).toBe('from a laptop')

  await write({ 'www/index.html': 'not committed', 'www/new.html': 'not tracked' })
  const dirty = await davit(['deploy', '--dirty'])
  expect(dirty.status).toBe(0)
  expect(await textAt(dirty.stdout)).toBe('not committed')
  expect(await textAt(`${dirty.stdout.trim()}/new.html`)).toBe('not tracked')
  await until(() => kept().length === 0)

  const listed = await davit(['run', 'ls', '/www'])
  expect([listed.status, listed.stdout]).toEqual([0, 'index.html\nnew.html\n'])
  expect((await davit(['run', 'sh', '-c', 'exit 9'])).status).toBe(9)
  const { live } = JSON.parse((await davit(['status', '--json'])).stdout).environments[0]
  const [, before] = (await ada.get(`/projects/${project.id}/deployments`)).json.items
  const path = `/projects/${project.id}/deployments/${before.id}/rollback`
  expect((await finished(ada, (await ada.post(path)).json)).status).toBe('running')
  expect(await textAt(first.stdout)).toBe('from a laptop')
  expect(live.deploymentId).not.toBe(before.id)

  await write({ Dockerfile: 'FROM busybox\nRUN false\n' })
  const failed = await davit(['deploy'])
  expect([failed.status, failed.stderr]).toEqual([1, expect.stringContaining('RUN')])
  expect(await textAt(first.stdout)).toBe('from a laptop')
  git('checkout', '--quiet', 'Dockerfile')
}, 240_000)

test('links out of the tree show nothing of the server to a build', async () => {
  const t = testApp()
  const { ada, project, token } = await withServerOf(t)
  const Dockerfile = [
    'FROM busybox',
    'COPY . /all',
    'RUN cat /all/outside /all/up && exit 3 || ls -l /all',
    'EXPOSE 8080',
    'CMD ["httpd", "-f", "-p", "8080", "-h", "/all"]',
  ].join('\n')
  const body = gzipSync(
    aTar([
      { path: 'Dockerfile', content: Dockerfile },
      { path: 'outside', type: '2', target: `${t.dataDir}/davit.db` },
      { path: 'up', type: '2', target: '../../../../../../etc/hostname-of-the-server' },
    ]),
  )
  const send = asToken(t.app, token)
  const response = await send('POST', `/projects/${project.id}/uploads`, { body })
  const json: any = await response.json()
  const ended = await finished(ada, json)
  const log = `/projects/${project.id}/deployments/${json.id}/logs?limit=1000`
  const text = (await ada.get(log)).json.items.map((line: any) => line.text).join('\n')
  expect(text).toContain('outside -> ')
  expect(ended.status).toBe('running')
  expect((await fetch(`${ended.url}/outside`)).status).toBe(404)
}, 240_000)
