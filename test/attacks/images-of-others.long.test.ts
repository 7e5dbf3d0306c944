import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { losePublicNames } from '../../src/runtime/images/pull-image.ts'
import { listNamedInPublic, recordGivenImage } from '../../src/runtime/images/store.ts'
import { imageLock } from '../../src/runtime/images/lock.ts'
import { refusePrivate } from '../../src/registries/admit.ts'
import { aProject, finished, logOf } from '../deployments/apps.ts'
import { collect, sandbox } from '../docker/sandbox.ts'
import { made } from '../services/instances.ts'
import { testApp, withAda } from '../support/app.ts'
import type { TestApp } from '../support/app.ts'
import { builders } from '../support/builders.ts'
import type { TestClient } from '../support/client.ts'
import { tarContext } from '../support/images.ts'
import { pushImage } from '../support/push-image.ts'
import { startRegistry } from '../support/registry.ts'
import { until } from '../support/until.ts'
import type { ImageRegistry } from '../support/registry.ts'

const corner = sandbox()
const { docker } = corner
const user = { username: 'puller', password: 'a password that opens it' }
let registry: ImageRegistry
let auth: typeof user & { serveraddress: string }

beforeAll(async () => {
  registry = await startRegistry(user)
  auth = { ...user, serveraddress: registry.host }
})

afterAll(() => registry.stop())

const aPrivateImage = () =>
  pushImage(corner, { auth, line: `echo "private ${Bun.randomUUIDv7()}" > /base` })

const addLogin = (client: TestClient, { host } = registry) =>
  client.post('/settings/registries', { host, ...user })

const stack = (image: string) =>
  `services: {a: {image: "${image}", init: true, command: [sleep, "999"], stop_grace_period: 1s}}`

const end = 'CMD ["sleep", "999"]'

/** Ways to name an image that one would have to be an engine to follow. */
const waysTo = (image: string) => {
  const [host, rest] = [image.slice(0, image.indexOf('/')), image.slice(image.indexOf('/') + 1)]
  return [
    `FROM ${image}\n${end}`,
    `ARG A=${host}\nARG A=\${A}/${rest}\nFROM $A\n${end}`,
    `# escape=\`\nFROM \`\n${image}\n${end}`,
    `FROM ${host}\\\n/${rest}\n${end}`,
    `FROM busybox\nRUN --mount=type=bind,FROM=${image},target=/x cat /x/base\n${end}`,
    `FROM busybox\nRUN --mount=type=bind,"\\"from=${image}\\"",target=/x cat /x/base\n${end}`,
    `FROM busybox\nCOPY --from=${image} /base /base\n${end}`,
  ]
}

async function deployed(t: TestApp, client: TestClient, Dockerfile: string, name = 'site') {
  const project = await aProject(t, client, { Dockerfile }, { name, port: 0 })
  const deployment = await project.deploy()
  const log = (await logOf(client, deployment)).join('\n')
  return { project, deployment, log }
}

/** Every name by which the engine could be asked for an image of that repository. */
async function namesOn(repository: string) {
  const all = await Promise.all(
    // one of another test may be too large to be looked at
    (await docker.listImages()).map(({ id }) => docker.inspectImage(id).catch(() => null)),
  )
  const names = all.flatMap((image) => (image ? [...image.tags, ...image.digests] : []))
  return names.filter((name) => name.includes(repository.replace(/:[^:/]*$/, '')))
}

describe.each(builders)('with the builder %s', (builder) => {
  test('an image that was pulled with a login is no one else’s, however a build names it', async () => {
    const t = testApp({ DAVIT_BUILDER: builder })
    const [ada, bob] = [t.logIn('ada@example.com'), t.logIn('bob@example.com')]
    const image = await aPrivateImage()
    await addLogin(ada)
    const own = await deployed(t, ada, `FROM ${image}\nRUN cat /base\n${end}`)
    expect(own.deployment.status, own.log).toBe('running')
    expect(own.log).toContain(`Pulling ${image}`)
    expect(own.log).toContain('FROM')
    expect(own.log).not.toContain('davit.invalid')
    expect(await namesOn(image)).toEqual([])

    const { repository, deploy } = await aProject(t, bob, { Dockerfile: '' }, { port: 0 })
    for (const Dockerfile of waysTo(image)) {
      repository.commit({ Dockerfile })
      const deployment = await deploy()
      expect(deployment.status, Dockerfile).toBe('failed')
      expect(deployment.error.code, Dockerfile).toMatch(/^(base_image|image)_/)
      // nor would the engine know it, had Davit read the file in another way
      const context = tarContext({ Dockerfile })
      const build = docker.buildImage({
        context,
        dockerfile: 'Dockerfile',
        tag: corner.tag(),
        builder,
      })
      expect(await collect(build).catch(() => 'refused'), Dockerfile).toBe('refused')
    }
  })

  test('what a user built is no base for others, neither by its name nor by its id', async () => {
    const t = testApp({ DAVIT_BUILDER: builder })
    const [ada, bob] = [t.logIn('ada@example.com'), t.logIn('bob@example.com')]
    const { deployment } = await deployed(
      t,
      ada,
      `FROM busybox\nRUN echo ${Bun.randomUUIDv7()}\n${end}`,
    )
    const { id } = (await docker.inspectImage(deployment.image))!
    const guess = `davit/${deployment.projectId}:${deployment.id}`
    expect(await docker.inspectImage(guess)).toBeNull()

    const { repository, deploy } = await aProject(t, bob, { Dockerfile: '' }, { port: 0 })
    const hex = id.slice('sha256:'.length)
    const short = hex.slice(0, Math.max(8, hex.search(/[a-f]/) + 1)) // digits alone are a stage's number
    const names = [deployment.image, `docker.io/${deployment.image}`, guess, id, hex, short]
    for (const name of [...names, `sha256:${hex.slice(0, 12)}`])
      for (const Dockerfile of [
        `FROM ${name}\n${end}`,
        `FROM busybox\nCOPY --from=${name} /bin /x\n${end}`,
      ]) {
        repository.commit({ Dockerfile })
        const failed = await deploy()
        expect(failed.status, Dockerfile).toBe('failed')
        expect(failed.error.code, Dockerfile).toMatch(/^(base_image|image)_/)
      }
    repository.commit({ Dockerfile: `ARG A=${hex.slice(0, 6)}\nFROM $A\n${end}` })
    expect((await deploy()).error.code).toMatch(/^(base_image|image)_/)

    for (const image of [deployment.image, guess, id, short])
      expect((await made(t, bob, stack(image), { name: `a${image.length}` })).status).toBe('failed')

    const again = await deployed(t, ada, `FROM ${deployment.image}\n${end}`, 'on-its-own')
    expect(again.deployment.status, again.log).toBe('running')
  })

  test('what the operator pulled by hand with a login is not a member’s, and keeps its name', async () => {
    const t = testApp({ DAVIT_BUILDER: builder })
    const [bob, admin] = [t.logIn('bob@example.com'), t.logInAsAdmin()]
    const image = await aPrivateImage()
    await collect(docker.pullImage(image, { auth }))
    const Dockerfile = `FROM ${image}\n${end}`
    const refused = await deployed(t, bob, Dockerfile)
    expect(refused.deployment.error.code, refused.log).toMatch(/^(base_image|image)_/)
    expect((await made(t, bob, stack(image))).status).toBe('failed')
    expect((await deployed(t, admin, Dockerfile)).deployment.status).toBe('running')

    await addLogin(bob)
    expect((await deployed(t, bob, Dockerfile, 'with-login')).deployment.status).toBe('running')
    expect(await docker.inspectImage(image)).not.toBeNull()
    await docker.removeImage(image, { force: true })
  })

  test('images that a login opened are copied from and mounted by their owner as they are named', async () => {
    const { t, ada } = withAda(testApp({ DAVIT_BUILDER: builder }))
    await addLogin(ada)
    const [base, tool] = [await aPrivateImage(), await aPrivateImage()]
    const lines = [
      'ARG VERSION=1',
      `ARG BASE=${base.replace(/1$/, '')}$VERSION`,
      'FROM busybox AS first',
      'RUN echo first > /first',
      'FROM $BASE',
      'COPY --from=0 /first /first',
      `COPY --from=${tool} /base /tool`,
      ...(builder === 'buildkit'
        ? [`RUN --mount=type=bind,from=${tool},target=/mnt cat /mnt/base /first`]
        : ['RUN cat /first']),
      'RUN cat /base /tool \\',
      '  # a comment within',
      `  && echo "it's" 'all "here"'`,
      'COPY . /context',
      'RUN ! grep -r davit[.]invalid /context',
      end,
    ]
    const { deployment, log } = await deployed(t, ada, lines.join('\n'))
    expect(deployment.status, log).toBe('running')
    expect(log).toContain(`it's all "here"`)
    expect(log).not.toContain('davit.invalid')
  })
})

test('a service runs what a login opened, and no one else’s does', async () => {
  const t = testApp()
  const [ada, bob] = [t.logIn('ada@example.com'), t.logIn('bob@example.com')]
  const own = await startRegistry(user)
  const image = await pushImage(corner, {
    auth: { ...user, serveraddress: own.host },
    line: `echo ${Bun.randomUUIDv7()} > /base`,
  })
  await addLogin(ada, own)
  const service = await made(t, ada, stack(image))
  expect(service.status).toBe('running')
  expect(service.containers[0].image).toBe(image)
  expect(await namesOn(image)).toEqual([])

  const refused = await made(t, bob, stack(image))
  expect(refused).toMatchObject({ status: 'failed', error: { step: 'pulling' } })
  expect(refused.error.message).toContain(image)

  // with the registry away, what was given to ada is hers still
  await own.stop()
  expect((await made(t, ada, stack(image), { name: 'again' })).status).toBe('running')
})

test('a pull with a login waits for builds of others, and they wait for it', async () => {
  const t = testApp()
  const [ada, bob] = [t.logIn('ada@example.com'), t.logIn('bob@example.com')]
  const { signal } = new AbortController()
  const image = await aPrivateImage()
  await addLogin(ada)

  const build = Promise.withResolvers<void>()
  const building = imageLock.share(bob.user.id, signal, () => build.promise)
  const service = made(t, ada, stack(image))
  await until(() => imageLock.waiting === 1)
  expect(listNamedInPublic(t.db, t.docker)).toEqual([])
  build.resolve()
  await building
  expect((await service).status).toBe('running')

  const pull = Promise.withResolvers<void>()
  const pulling = imageLock.alone(ada.user.id, signal, () => pull.promise)
  const marker = Bun.randomUUIDv7()
  const project = await aProject(
    t,
    bob,
    { Dockerfile: `FROM busybox\nRUN echo ${marker}\n${end}` },
    { port: 0 },
  )
  const deployment = await project.trigger()
  await until(() => imageLock.waiting === 1)
  expect((await logOf(bob, deployment)).join('\n')).not.toContain(marker)
  pull.resolve()
  await pulling
  expect((await finished(bob, deployment)).status).toBe('running')
})

test('what everyone may pull is everyone’s, and stays so while its registry is away', async () => {
  const t = testApp()
  const bob = t.logIn('bob@example.com')
  const open = await startRegistry()
  const image = await pushImage(corner, {
    auth: { username: '', password: '', serveraddress: open.host },
    line: `echo ${Bun.randomUUIDv7()} > /base`,
  })
  await collect(docker.pullImage(image))
  const first = await deployed(t, bob, `FROM ${image}\n${end}`)
  expect(first.deployment.status, first.log).toBe('running')
  await open.stop()
  const second = await deployed(t, bob, `FROM ${image}\n${end}`, 'again')
  expect(second.deployment.status, second.log).toBe('running')
  await docker.removeImage(image, { force: true })
})

test('a pull that Davit was killed in leaves no public name', async () => {
  const { t, ada } = withAda(testApp())
  const image = await aPrivateImage()
  const digest = await docker.imageDigest(image, { auth })
  const publicName = `${image.replace(/:1$/, '')}@${digest}`
  await collect(docker.pullImage(publicName, { auth }))
  const name = `davit.invalid/${'0'.repeat(32)}/x:1`
  const given = { ownerId: ada.user.id, reference: image, digest, name, publicName }
  recordGivenImage(t.db, given)
  await losePublicNames(t.deps)
  expect(await namesOn(image)).toEqual([])
})

test('a registry whose name leads to a private address is refused, as is the address', async () => {
  const { signal } = new AbortController()
  const ask = (registry: string, addresses: string[], allowHosts: string[] = []) =>
    refusePrivate({ config: { allowHosts }, lookup: async () => addresses }, { registry, signal })
      .then(() => 'admitted')
      .catch(({ code }) => code)
  expect(await ask('evil.example.com:5000', ['10.0.0.5'])).toBe('host_refused')
  expect(await ask('evil.example.com', ['8.8.8.8', '127.0.0.1'])).toBe('host_refused')
  expect(await ask('169.254.169.254', [])).toBe('host_refused')
  expect(await ask('registry.lan:5000', ['10.0.0.5'], ['10.0.0.0/8'])).toBe('admitted')
  expect(await ask('registry.example.com', ['8.8.8.8'])).toBe('admitted')
  expect(await ask('docker.io', ['10.0.0.5'])).toBe('admitted')
  expect(await ask('nowhere.invalid', [])).toBe('admitted') // the engine may know it
})
