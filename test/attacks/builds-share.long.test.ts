import { describe, expect, test } from 'bun:test'
import { updateProject } from '../../src/projects/store.ts'
import { aProject, logOf } from '../deployments/apps.ts'
import { testApp, withAda } from '../support/app.ts'
import type { TestApp } from '../support/app.ts'
import { builders } from '../support/builders.ts'
import type { TestClient } from '../support/client.ts'

const steering = ['http_proxy', 'HTTPS_PROXY', 'All_Proxy', 'BUILDKIT_SYNTAX', 'buildkit_x']

/** What builds print is in their log; the marker keeps the engine's cache out of it. */
async function built(t: TestApp, client: TestClient, lines: string[], name: string) {
  const Dockerfile = `FROM busybox\n${lines.join('\n')}\nCMD ["sleep", "9999"]\n`
  const project = await aProject(t, client, { Dockerfile }, { name, port: 0 })
  const deployment = await project.deploy()
  return { project, deployment, log: (await logOf(client, deployment)).join('\n') }
}

test('a cache mount is shared by the builds of one owner, and by no one else’s', async () => {
  const t = testApp()
  const [ada, bob] = [t.logIn('ada@example.com'), t.logIn('bob@example.com')]
  const id = Bun.randomUUIDv7()
  const write = (text: string) =>
    `RUN --mount=type=cache,id=${id},target=/cache echo ${text} > /cache/left`
  const read = () =>
    `RUN --mount=type=cache,id=${id},target=/cache echo "found=$(cat /cache/left)" # ${Bun.randomUUIDv7()}`
  await built(t, ada, [write('poison')], 'writes')
  expect((await built(t, ada, [read()], 'reads')).log).toContain('found=poison')
  const { deployment, log } = await built(t, bob, [read()], 'reads')
  expect(deployment.status).toBe('running')
  expect(log).not.toContain('found=poison')

  // neither by a guess at where those of others are
  const guess = read().replace(id, `../${ada.user.id}/${id}`)
  expect((await built(t, bob, [guess], 'guesses')).log).not.toContain('found=poison')
})

test('arguments that steer the builder are refused when they are saved, in any case', async () => {
  const { t, ada } = withAda(testApp())
  const project = await aProject(t, ada, { Dockerfile: 'FROM busybox' })
  const variables = `/envs/${project.environmentId}/variables`
  for (const key of steering) {
    const saved = await ada.put(`/projects/${project.id}/settings`, { buildArgs: { [key]: 'x' } })
    expect(saved.status, key).toBe(422)
    expect(saved.json.errors[0].message).toContain(key)

    const given = await ada.post(variables, { key, value: 'x', buildTime: true })
    expect(given.status, key).toBe(422)
    expect(given.json.errors[0].field).toBe('buildTime')

    // at run time it is the app's own affair, until it is marked or another is renamed to it
    const { status, json } = await ada.post(variables, { key, value: 'x' })
    expect(status, key).toBe(201)
    expect((await ada.put(`${variables}/${json.id}`, { buildTime: true })).status).toBe(422)
    await ada.delete(`${variables}/${json.id}`)
    const other = (await ada.post(variables, { key: 'OTHER', value: 'x', buildTime: true })).json
    expect((await ada.put(`${variables}/${other.id}`, { key })).status).toBe(422)
    await ada.delete(`${variables}/${other.id}`)
  }
})

describe.each(builders)('with the builder %s', (builder) => {
  test('arguments that steer it, saved before, are left out of the build', async () => {
    const { t, ada } = withAda(testApp({ DAVIT_BUILDER: builder }))
    const Dockerfile = `FROM busybox\nRUN echo "proxy=$http_proxy$HTTPS_PROXY" # ${Bun.randomUUIDv7()}\nCMD ["sleep", "9999"]\n`
    const project = await aProject(t, ada, { Dockerfile }, { port: 0 })
    const buildArgs = Object.fromEntries(steering.map((name) => [name, 'http://10.9.9.9:1']))
    updateProject(t.db, project.id, { buildArgs })
    const deployment = await project.deploy()
    const log = (await logOf(ada, deployment)).join('\n')
    expect(deployment.status, log).toBe('running')
    expect(log).not.toContain('10.9.9.9')
    for (const name of steering) expect(log).toContain(`A build argument can’t be named ${name}`)
  })

  test('a project may build without network', async () => {
    const { t, ada } = withAda(testApp({ DAVIT_BUILDER: builder }))
    const devices = () =>
      `RUN echo "devices: $(ls /sys/class/net | tr '\\n' ' ')" # ${Bun.randomUUIDv7()}`
    const on = await built(t, ada, [devices()], 'on')
    expect(on.log).toMatch(/devices: .*eth0/)

    const settings = `/projects/${on.project.id}/settings`
    expect((await ada.get(settings)).json.buildNetwork).toBe(true)
    expect((await ada.put(settings, { buildNetwork: false })).json.buildNetwork).toBe(false)
    on.project.repository.commit({ Dockerfile: `FROM busybox\n${devices()}\nCMD ["sleep", "9"]\n` })
    const deployment = await on.project.deploy()
    const log = (await logOf(ada, deployment)).join('\n')
    expect(log).toMatch(/devices: lo\s/)
    expect(log).not.toMatch(/devices: .*eth0/)
  })
})
