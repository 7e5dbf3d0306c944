import { expect, onTestFinished, test } from 'bun:test'
import { simulatedApp, withAda } from '../support/app.ts'
import { fakeRegistry } from '../support/fake-registry.ts'
import { deployed, triggered } from './apps.ts'
import { aProject } from './image-projects.ts'

/** A project that runs the tag of a registry, and asks it now. */
async function following(tag: string) {
  const { t, ada } = withAda(simulatedApp())
  const registry = fakeRegistry()
  onTestFinished(() => registry.stop())
  const project = await aProject(ada, `${registry.image}:${tag}`)
  registry.push(tag)
  await deployed(ada, project.id)
  const check = async () => (await ada.post(`${project.path}/image/check`)).json.deployments.length
  return { t, ada, registry, check, ...project }
}

test.each(['try', 'digest'])(
  'a new image of the tag is deployed while another one (%s) waits to be pulled',
  async (named) => {
    const { t, ada, registry, check, id, list } = await following('stable')
    const other = registry.push('try')
    const wake = t.deps.jobs.wake
    t.deps.jobs.wake = () => {} // so that it waits
    const image = named === 'try' ? `${registry.image}:try` : `${registry.image}@${other}`
    await triggered(ada, id, { image })
    const newer = registry.push('stable', { version: 2 })
    expect([await check(), await check()]).toEqual([1, 0])
    t.deps.jobs.wake = wake
    t.deps.jobs.wake()
    await t.jobs.idle()
    expect((await list())[0]).toEqual(['manual', 'running', 'stable', newer])
  },
)

test('an image that is pushed while the one before it is pulled is deployed after that', async () => {
  const { t, ada, registry, check, id, list } = await following('stable')
  const one = registry.push('stable', { version: 2 })
  const { pullImage } = t.docker
  const begun = Promise.withResolvers<void>()
  const pushed = Promise.withResolvers<void>()
  onTestFinished(() => pushed.resolve())
  t.faults.pullImage = async function* (image, options) {
    begun.resolve()
    await pushed.promise
    yield* pullImage(image, options)
  }
  await triggered(ada, id)
  await begun.promise
  expect(await check()).toBe(0) // it is what is pulled
  const two = registry.push('stable', { version: 3 })
  expect(await check()).toBe(1)
  pushed.resolve()
  await t.jobs.idle()
  expect((await list()).slice(0, 2)).toEqual([
    ['manual', 'running', 'stable', two],
    ['manual', 'superseded', 'stable', one],
  ])
})
