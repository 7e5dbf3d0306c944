import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { RegistryAuth } from '../../src/docker/index.ts'
import { startRegistry } from '../support/registry.ts'
import type { ImageRegistry } from '../support/registry.ts'
import { collect, sandbox } from './sandbox.ts'

const { docker, name } = sandbox()
const user = { username: 'pusher', password: 'a pass-word? that öpens' }

let registry: ImageRegistry
let auth: RegistryAuth
beforeAll(async () => {
  registry = await startRegistry(user)
  auth = { ...user, serveraddress: registry.host }
})
afterAll(() => registry.stop())

async function named(host = registry.host) {
  const repository = `${host}/${name()}`
  await docker.tagImage('busybox', `${repository}:1`)
  return {
    repository,
    ref: `${repository}:1`,
    [Symbol.asyncDispose]: () => gone(`${repository}:1`),
  }
}
const gone = async (ref: string) => void (await docker.removeImage(ref))

test('a push resolves with the digest that a pull of it gets', async () => {
  await using image = await named()
  const { repository, ref } = image
  const digest = await docker.pushImage(ref, { auth, as: repository })
  expect(await docker.imageDigest(ref, { auth })).toBe(digest)
  expect(await docker.pushImage(ref, { auth, as: repository })).toBe(digest)
  await gone(ref)
  await collect(docker.pullImage(`${repository}@${digest}`, { auth }))
  await gone(`${repository}@${digest}`)
})

test('a refused login and a registry that is away fail with their codes, without the tag', async () => {
  await using image = await named()
  const failure = (ref: string, auth?: RegistryAuth) =>
    docker.pushImage(ref, { auth, as: 'the app' }).catch((error) => error)
  for (const wrong of [undefined, { ...auth, password: 'wrong' }])
    expect(await failure(image.ref, wrong)).toMatchObject({ code: 'registry_unauthorized' })
  await using far = await named('127.0.0.1:1')
  const away = await failure(far.ref)
  expect(away.code).toBe('registry_unreachable')
  expect(away.message).toContain('the app')
  expect(away.message).not.toContain(far.ref)
  await expect(
    docker.pushImage(`${registry.host}/nothing:1`, { auth, as: 'it' }),
  ).rejects.toMatchObject({
    code: 'push_failed',
  })
})
