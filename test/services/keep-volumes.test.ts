import { expect, test } from 'bun:test'
import { openComponents } from '../../src/runtime/component.ts'
import { getLiveRelease } from '../../src/runtime/store.ts'
import { aService } from '../backups/scene.ts'
import { anApp, aProject } from '../deployments/apps.ts'
import { simulatedApp, withAda } from '../support/app.ts'
import type { TestApp } from '../support/app.ts'
import { idle, made, settled } from './instances.ts'

/** What the live version of a workload mounts at its paths, without the part that all names begin with. */
function mountsOf({ db, secrets }: TestApp, id: string) {
  const live = openComponents(secrets, getLiveRelease(db, id))!
  const volumes = live.flatMap(({ options }) => options.volumes ?? [])
  return Object.fromEntries(
    volumes.map(({ name, path }) => [path, name.slice(`davit-${id}-`.length)]),
  )
}

const composeOf = (volumes: string[], web = idle) =>
  `services: {web: {${web}, volumes: ${JSON.stringify(volumes)}}}\nvolumes: {web-a-b: }\n`

/** Each returns what changes its mounts. */
const workloads = {
  async 'a service'(volumes: string[]) {
    const { t, ada } = withAda(simulatedApp())
    const service = await made(t, ada, composeOf(volumes))
    return async (volumes: string[]) => {
      await ada.put(`/services/${service.id}`, { compose: composeOf(volumes) })
      expect(await settled(t, ada, service)).toMatchObject({ status: 'running', error: null })
      return mountsOf(t, service.id)
    }
  },
  async 'an app'(volumes: string[]) {
    const { t, ada } = withAda(simulatedApp())
    const compose = (volumes: string[]) => composeOf(volumes, 'build: ., ports: ["8080"]')
    const files = { ...anApp('one'), 'compose.yaml': compose(volumes) }
    const project = await aProject(t, ada, files)
    await ada.put(`/projects/${project.id}/settings`, { composeFile: 'compose.yaml' })
    await project.deploy()
    return async (volumes: string[]) => {
      project.repository.commit({ 'compose.yaml': compose(volumes) })
      expect(await project.deploy()).toMatchObject({ status: 'running' })
      await t.jobs.idle()
      return mountsOf(t, project.environmentId)
    }
  },
}

const both = ['a service', 'an app'] as const

test.each(both)('%s that had one volume for two mounts keeps it for both', async (kind) => {
  const change = await workloads[kind](['web-a-b:/a/b', 'web-a-b:/a-b'])
  expect(await change(['/a/b', '/a-b'])).toEqual({ '/a/b': 'web-a-b', '/a-b': 'web-a-b' })
})

test.each(both)('%s keeps the volume of each mount, whatever stands beside it', async (kind) => {
  const change = await workloads[kind](['/a-b'])
  const two = await change(['/a/b', '/a-b'])
  expect(two).toEqual({ '/a-b': 'web-a-b', '/a/b': expect.stringMatching(/^web-a-b-[0-9a-f]{8}$/) })
  expect(await change(['/a/b'])).toEqual({ '/a/b': two['/a/b']! })
})

/** What the services of an imported file mount, each at its path. */
async function anImport(...[first, ...others]: Record<string, string>[]) {
  const { t, ada } = withAda(simulatedApp())
  const fileOf = (mounts: Record<string, string>) =>
    `# slogan: x\nservices:\n${Object.entries(mounts)
      .map(([name, mount]) => `  ${name}: {${idle}, volumes: ["${mount}"]}\n`)
      .join('')}volumes: {data-db: }\n`
  const { id } = await made(t, ada, fileOf(first!))
  for (const mounts of others) {
    await ada.put(`/services/${id}`, { compose: fileOf(mounts) })
    expect(await settled(t, ada, { id })).toMatchObject({ status: 'running', error: null })
  }
  const live = openComponents(t.secrets, getLiveRelease(t.db, id))!
  const shown = (name: string) => name.slice(`davit-${id}-`.length).replace(/-[0-9a-f]{8}$/, '-own')
  return Object.fromEntries(
    live.map(({ name, options }) => [name, shown(options.volumes![0]!.name)]),
  )
}

const [first, second] = [{ a: './data/db:/x' }, { b: './data-db:/x' }]

test.each([
  ['of different services at one path', [{ ...first, ...second }], ['data-db', 'data-db-own']],
  ['that come later', [first, { ...second, ...first }], ['data-db', 'data-db-own']],
])('directories %s have a volume each, and keep it', async (_, files, [a, b]) => {
  const mounted = await anImport(...files, { ...files.at(-1)!, c: 'other:/c' })
  expect(mounted).toMatchObject({ a, b })
})

test('a directory keeps its volume at another path and in a service with another name', async () => {
  const both = { ...first, ...second }
  expect(await anImport(both, { b: './data-db:/y' })).toEqual({ b: 'data-db-own' })
  expect(await anImport(both, { c: './data-db:/y', a: './data/db:/y' })).toEqual({
    ...{ a: 'data-db', c: 'data-db-own' },
  })
  const shared = { a: 'data-db:/x', b: 'data-db:/y' }
  expect(await anImport(shared, { a: './data/db:/x', c: './data-db:/y' })).toEqual({
    ...{ a: 'data-db', c: 'data-db' },
  })
})

const histories = {
  'one for two mounts': [
    ['web-a-b:/a/b', 'web-a-b:/a-b'],
    ['/a/b', '/a-b'],
  ],
  'each as it came': [['/a-b'], ['/a/b', '/a-b']],
}

test.each(Object.entries(histories))(
  'a new service has the volumes of its backup: %s',
  async (_, of) => {
    const { t, ada, targetId } = await aService()
    const { id } = await made(t, ada, composeOf(of[0]!), { name: 'other' })
    for (const volumes of of.slice(1)) {
      await ada.put(`/services/${id}`, { compose: composeOf(volumes) })
      await t.jobs.idle()
    }
    const { json: backup } = await ada.post(`/services/${id}/backups`, { targetId })
    await t.jobs.idle()
    await ada.post(`/backups/${backup.id}/restore`, { into: 'new' })
    await t.jobs.idle()
    const { restore } = (await ada.get(`/backups/${backup.id}`)).json
    expect(restore).toMatchObject({ status: 'succeeded', error: null })
    expect(mountsOf(t, restore.into.id)).toEqual(mountsOf(t, id))
  },
)
