import { afterAll, beforeAll, expect, test } from 'bun:test'
import { sandbox } from '../docker/sandbox.ts'
import { testApp, withAda } from '../support/app.ts'
import { pushImage } from '../support/push-image.ts'
import { startRegistry } from '../support/registry.ts'
import type { ImageRegistry } from '../support/registry.ts'
import { aProject, logOf } from './apps.ts'

const corner = sandbox()
const user = { username: 'puller', password: 'a password that opens it' }
let registry: ImageRegistry
let base: string

beforeAll(async () => {
  registry = await startRegistry(user)
  const auth = { ...user, serveraddress: registry.host }
  base = await pushImage(corner, { auth, line: 'echo from the private base > /base' })
})

afterAll(async () => {
  await registry.stop()
  await corner.docker.removeImage(base, { force: true })
})

test('a build begins with a private image once its owner has a login for the registry', async () => {
  const { t, ada } = withAda(testApp())
  const Dockerfile = `ARG BASE=${base}\nFROM $BASE\nRUN cat /base\nCMD ["sleep", "9999"]\n`
  const project = await aProject(t, ada, { Dockerfile }, { port: 0 })
  expect((await project.deploy()).status).toBe('failed')

  await ada.post('/settings/registries', { host: registry.host, ...user })
  const deployment = await project.deploy()
  expect(deployment.status).toBe('running')
  const log = await logOf(ada, deployment)
  expect(log).toContain(`Pulling ${base}`)
  expect(log.join('\n')).toContain('from the private base')
  expect(log.join('\n')).not.toContain(user.password)
})

test.each(['with a login', 'for everyone'])(
  'each build begins with what the registry has by then, %s',
  async (kind) => {
    const { t, ada } = withAda(testApp())
    const open = kind === 'for everyone' ? await startRegistry() : null
    const login = open ? { username: '', password: '' } : user
    const auth = { ...login, serveraddress: (open ?? registry).host }
    if (!open) await ada.post('/settings/registries', { host: registry.host, ...user })
    const image = await pushImage(corner, { auth, line: 'echo the first > /base' })
    const Dockerfile = `FROM ${image}\nRUN cat /base\nCMD ["sleep", "9999"]\n`
    const project = await aProject(t, ada, { Dockerfile }, { port: 0 })
    expect((await logOf(ada, await project.deploy())).join('\n')).toContain('the first')
    expect(await corner.docker.inspectImage(image)).toBeNull()

    await pushImage(corner, {
      auth,
      line: 'echo the second > /base',
      repo: image.replace(/:1$/, ''),
    })
    expect((await logOf(ada, await project.deploy())).join('\n')).toContain('the second')
    await open?.stop()
  },
)
