import { expect, onTestFinished, spyOn, test } from 'bun:test'
import { journal } from '../../src/platform/journal.ts'
import { removeTags } from '../../src/runtime/images/remove-tags.ts'
import { simulatedApp } from '../support/app.ts'
import { pushManifest } from '../support/push-manifest.ts'
import { startRegistry } from '../support/registry.ts'

const user = { username: 'pusher', password: 'a password that opens it' }
const projectId = Bun.randomUUIDv7()
const tagOf = () => `${Bun.randomUUIDv7()}-${'s'.repeat(32)}`

/** An installation with the registry’s login, and three images of a project there. */
async function withImages({ keepsImages = false } = {}) {
  const registry = await startRegistry(user, { keepsImages })
  onTestFinished(registry.stop)
  const t = simulatedApp({ DAVIT_REGISTRY: `${registry.host}/davit` })
  t.faults.machine = async () => ({ insecureRegistries: [] }) as never
  await t.logInAsAdmin().post('/settings/registries', { host: registry.host, ...user })
  const [old, kept] = [tagOf(), tagOf()]
  const repository = `davit/${projectId}`
  for (const [at, tag] of [old, kept, `${old}.worker`, 'mine'].entries())
    await pushManifest(registry.host, { user, repository, tags: [tag], config: { at } })
  const headers = { Authorization: `Basic ${btoa(`${user.username}:${user.password}`)}` }
  return {
    ...{ t, old, kept, registry },
    remove: () =>
      removeTags(t.deps, { projectId, isKept: (image) => image === `davit/${projectId}:${kept}` }),
    async tags() {
      const url = `http://${registry.host}/v2/${repository}/tags/list`
      const { tags } = (await (await fetch(url, { headers })).json()) as { tags: string[] | null }
      return (tags ?? []).toSorted()
    },
  }
}

test('the registry loses the images that no deployment needs, and no others', async () => {
  const s = await withImages()
  await s.remove()
  expect(await s.tags()).toEqual([s.kept, 'mine'].toSorted())
})

test('a registry that allows no deletion, or is away, changes nothing, and the first is said once', async () => {
  const s = await withImages({ keepsImages: true })
  const before = await s.tags()
  using warn = spyOn(journal, 'warn').mockImplementation(() => {})
  await s.remove()
  await s.remove()
  expect(await s.tags()).toEqual(before)
  expect(warn.mock.calls).toHaveLength(1)
  await s.registry.stop()
  await s.remove()
  expect(warn.mock.calls).toHaveLength(2)
})
