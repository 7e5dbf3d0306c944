import { afterAll, beforeAll, expect, test } from 'bun:test'
import { parseReference } from '../../src/registries/image-registry.ts'
import { imageFacts } from '../../src/registries/image-facts.ts'
import { RemoteRepository } from '../../src/registries/remote-repository.ts'
import { pushManifest } from '../support/push-manifest.ts'
import { startRegistry } from '../support/registry.ts'
import type { ImageRegistry } from '../support/registry.ts'

const user = { username: 'puller', password: 'a password that opens it' }
const machine = { os: 'linux', arch: 'amd64' }

let registry: ImageRegistry
beforeAll(async () => {
  registry = await startRegistry(user)
})
afterAll(() => registry.stop())

function repository(auth?: typeof user) {
  const reference = parseReference(`${registry.host}/team/app`)!
  const docker = { machine: async () => ({ insecureRegistries: [] }) as never }
  return new RemoteRepository(
    { config: { allowHosts: ['127.0.0.1'] }, docker },
    {
      reference,
      ownerId: 'ada',
      auth: auth && { ...auth, serveraddress: registry.host },
      signal: new AbortController().signal,
    },
  )
}

const push = (tags: string[], config: object) => pushManifest(registry.host, { user, tags, config })

test('the registry of Debian lists its tags in pages, and says digest, size and platform', async () => {
  const many = Array.from({ length: 1010 }, (_, at) => `1.${at}.0`)
  const digest = await push([...many, 'latest', '2.0.0-rc.1'], {
    os: 'linux',
    architecture: 'amd64',
  })
  const own = repository(user)
  expect(await own.newest('1.*')).toMatchObject({ tag: '1.1009.0' })
  expect(await own.newest('1.999.*')).toMatchObject({ tag: '1.999.0', etag: null }) // on the second page
  expect(await own.newest('2.*')).toMatchObject({ tag: null })
  expect(await own.digest('1.7.0')).toBe(digest)
  expect(await imageFacts(own, { tag: '1.7.0', image: 'app:1.7.0', machine })).toEqual({
    digest,
    bytes: 5000 + JSON.stringify({ os: 'linux', architecture: 'amd64' }).length,
  })

  const other = await push(['arm'], { os: 'linux', architecture: 'arm64' })
  expect(other).not.toBe(digest)
  await expect(imageFacts(own, { tag: 'arm', image: 'app:arm', machine })).rejects.toMatchObject({
    code: 'image_platform',
  })
})

test('it refuses a wrong login, none, and what it doesn’t have', async () => {
  const code = (work: Promise<unknown>) => work.catch((error) => error.code)
  expect(await code(repository().newest('1.*'))).toBe('registry_unauthorized')
  const wrong = repository({ ...user, password: 'wrong' })
  expect(await code(wrong.digest('latest'))).toBe('registry_unauthorized')
  expect(await code(repository(user).digest('missing'))).toBe('image_not_found')
})
