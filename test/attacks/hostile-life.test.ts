import { expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { aRepository, deployed, finished } from '../deployments/apps.ts'
import { testApp, withAda } from '../support/app.ts'
import { execIn } from '../support/exec.ts'
import { git } from '../support/git-server.ts'
import { escaped } from '../support/refusals.ts'
import { injectionsOf } from './injections.ts'
import { aFolder } from '../support/folder.ts'

test('an app whose every word is hostile lives from its making to its end, and is only words', async () => {
  const { t, ada } = withAda(testApp())
  const place = aFolder()
  const marker = join(place, 'm')
  const run = `touch ${marker}`
  const words = injectionsOf(marker).filter((text) => !/[\0\u2028]/.test(text))

  // a repository that would run programs, show files of the host, and has names like commands
  const odd = `-$(touch\${IFS}${marker.replaceAll('/', '_')}); a\n"b" 'c'`
  const folder = `apps/$(${run.replaceAll('/', '_')});x`
  const files = {
    'www/index.html': 'hello',
    [odd]: 'odd',
    ['n'.repeat(255)]: 'long',
    README: 'a',
    readme: 'b',
    shadow: { to: '/etc/shadow' },
    etc: { to: '/etc' },
    [`${folder}/Docker file;$(id)`]: [
      'FROM busybox',
      'ARG HOSTILE',
      'RUN printf %s "$HOSTILE" > /hostile',
      'COPY . /app',
      'EXPOSE 8080',
      'CMD ["httpd", "-f", "-p", "8080", "-h", "/app/www"]',
    ].join('\n'),
    '.gitattributes': '* filter=evil diff=evil merge=evil\n',
    '.lfsconfig': `[filter "evil"]\n\tsmudge = ${run}\n\tclean = ${run}\n[core]\n\tfsmonitor = ${run}\n`,
    '.gitconfig': `[core]\n\tfsmonitor = ${run}\n\thooksPath = .githooks\n[alias]\n\tarchive = !${run}\n`,
    '.githooks/post-checkout': `#!/bin/sh\n${run}\n`,
    '.githooks/pre-auto-gc': `#!/bin/sh\n${run}\n`,
  }
  const repository = aRepository(t.dataDir, files)
  const branch = `$(touch\${IFS}m);a\`id\`|b&c'd"e`
  git(repository.path, ['branch', branch, 'main'])

  // every setting that takes a word takes a hostile one
  const name = `'; ${run}; #<script>a</script>`
  const made = await ada.post('/projects', { name, repositoryUrl: repository.url, branch })
  expect(made.json).toMatchObject({ name, branch })
  const path = `/projects/${made.json.id}`
  const settings = {
    dockerfilePath: `${folder}/Docker file;$(id)`,
    buildArgs: { HOSTILE: words.join('\n') },
    webhookSecret: `$(${run}) of 16 characters`,
    watchPaths: [`$(${run.replaceAll(' ', '\\ ')})/**`],
  }
  expect((await ada.put(`${path}/settings`, settings)).status).toBe(200)
  const [environment] = (await ada.get(`${path}/envs`)).json.items
  const runtime = { healthPath: '/?$(id);`id`|x&y', port: 8080, volumes: [`data:/$(${run}) x`] }
  const changed = await ada.put(`${path}/envs/${environment.id}`, runtime)
  expect(changed.json).toMatchObject(runtime)
  for (const [index, value] of words.entries())
    await ada.post(`/envs/${environment.id}/variables`, { key: `W${index}`, value })

  const first = await deployed(ada, made.json.id)
  expect(first.error).toBeNull()
  expect(first).toMatchObject({ status: 'running', branch })

  // what arrived is what was written, and nothing of the host or of git
  const inApp = async (...command: string[]) => (await execIn(first.containerId, command)).output
  expect(await inApp('cat', '/hostile')).toBe(words.join('\n').trim())
  const environ = (await inApp('cat', '/proc/1/environ')).split('\0')
  for (const [index, value] of words.entries()) expect(environ).toContain(`W${index}=${value}`)
  expect(await inApp('cat', `/app/${odd}`)).toBe('odd')
  expect(await inApp('cat', '/app/README', '/app/readme')).toBe('ab')
  expect((await inApp('ls', '-A', '/app')).split('\n')).not.toContain('.git')
  expect(await inApp('readlink', '/app/shadow')).toBe('/etc/shadow')
  const host = readFileSync('/etc/passwd', 'utf8').split('\n')[0]!
  expect(await inApp('sh', '-c', 'cat /app/shadow /app/etc/* 2>&1; true')).not.toContain(host)

  // the next version has a hostile message, and is gone back from
  repository.commit(
    { 'www/index.html': 'two' },
    { branch, message: `$(${run})\`${run}\``, author: `;${run} <b>` },
  )
  const second = await deployed(ada, made.json.id)
  expect(second).toMatchObject({ status: 'running', commit: { message: `$(${run})\`${run}\`` } })
  const back = await ada.post(`${path}/deployments/${first.id}/rollback`)
  const third = await finished(ada, back.json)
  expect(third.status).toBe('running')

  // each page that shows the words shows them as words, and each search takes them as such
  for (const page of ['', '/settings', '/deployments', '/envs', '/deliveries', '/delete']) {
    const { status, text } = await ada.page(path + page)
    expect(status, page).toBe(200)
    expect(text, page).toContain(escaped(name))
    expect(text, page).not.toContain('<script>a')
  }
  for (const word of words.map(encodeURIComponent)) {
    const logs = [
      `${path}/deployments/${first.id}/logs?search=${word}`,
      `${path}/envs/${environment.id}/output?search=${word}`,
      `/containers/${third.containerId}/logs?search=${word}`,
    ]
    for (const log of logs) expect((await ada.get(log)).status, log).toBe(200)
    expect([404, 422]).toContain((await ada.get(`/containers/${word}`)).status)
    expect((await ada.get(`/containers/${third.containerId}/logs?tail=${word}`)).status).toBe(422)
    expect((await ada.get(`/containers/${third.containerId}/logs?since=${word}`)).status).toBe(422)
  }

  expect((await ada.post(`/containers/${third.containerId}/stop`)).status).toBe(200)
  expect((await ada.delete(path, { volumes: true })).status).toBe(200)
  expect((await ada.get(path)).status).toBe(404)
  const labels = [`davit.instance=${t.instanceId}`]
  expect(await t.docker.listContainers({ labels, all: true })).toEqual([])
  expect(await t.docker.listVolumes({ labels })).toEqual([])
  expect(existsSync(marker)).toBe(false)
})
