import { expect, test } from 'bun:test'
import { simulatedApp, withAda } from '../support/app.ts'
import { anApp, aProject, logOf } from './apps.ts'

test('what a Procfile has is offered once it was built, and taken only when it is saved', async () => {
  const { t, ada } = withAda(simulatedApp())
  const procfile = [
    'web: httpd -f -p 8080 -h /www',
    'worker: sleep 999',
    'release: test -f /www/index.html && echo ready',
    'this is none',
  ].join('\n')
  const project = await aProject(t, ada, { ...anApp('hello'), Procfile: procfile })
  const path = `/projects/${project.id}/envs/${project.environmentId}`
  const before = (await ada.get(path)).json.processes
  expect((await ada.page(path)).text).not.toContain('Procfile')

  const deployment = await project.deploy()
  expect(deployment.status).toBe('running')
  expect(await logOf(ada, deployment)).toContain(
    'Skipped in the Procfile: line 4 isn’t “name: command”.',
  )
  expect((await ada.page(path)).text).toContain(
    'The repository has a Procfile with web, worker, and release.',
  )
  expect((await ada.get(path)).json.processes).toEqual(before)

  const form = (await ada.htmx('GET', `${path}/edit?procfile=1`)).text
  expect(form).toContain('web: httpd -f -p 8080 -h /www\nworker: sleep 999</textarea>')
  expect(form).toContain(
    'sh -c &#39;test -f /www/index.html &amp;&amp; exec echo ready&#39;</textarea>',
  )
  expect((await ada.get(path)).json.processes).toEqual(before)

  const processes = 'web: httpd -f -p 8080 -h /www\nworker: sleep 999'
  await ada.htmx('PUT', path, { processes, release_command: 'true' })
  expect((await ada.page(path)).text).not.toContain('Procfile')

  await project.deployFiles({ Procfile: null })
  expect((await ada.htmx('GET', `${path}/edit?procfile=1`)).text).not.toContain('Procfile')
})
